package sql

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/evq-project/evq/io/tensor"
	"github.com/evq-project/evq/sql/duck"
	"github.com/evq-project/evq/udf"
	"github.com/evq-project/evq/udf/builtins"
)

// ErrNoLayout reports a query that does not tell the shape of its blocks by itself.
var ErrNoLayout = errors.New("the query does not tell the shape of its blocks")

// Layout returns what the blocks of a SELECT are, which a BLOB does not say: from the constant arguments of the call
// that makes them. Without one, or with several that differ, it is ErrNoLayout.
func (r *Runner) Layout(ctx context.Context, text string) (tensor.Layout, error) {
	tree, err := r.session.AST(ctx, text)
	if err != nil {
		return tensor.Layout{}, err
	}
	var root any
	if err := json.Unmarshal(tree, &root); err != nil {
		return tensor.Layout{}, fmt.Errorf("sql: %w", err)
	}
	var found []tensor.Layout
	r.session.layouts(ctx, root, &found)
	if len(found) == 0 {
		return tensor.Layout{}, ErrNoLayout
	}
	for _, l := range found[1:] {
		if !l.Shape.Equal(found[0].Shape) || l.DType != found[0].DType {
			return tensor.Layout{}, fmt.Errorf("%w: it has blocks of %v and of %v", ErrNoLayout, found[0].Shape, l.Shape)
		}
	}
	return found[0], nil
}

// layouts gathers the layouts of the calls below a node of a syntax tree.
func (s *Session) layouts(ctx context.Context, node any, to *[]tensor.Layout) {
	switch n := node.(type) {
	case []any:
		for _, c := range n {
			s.layouts(ctx, c, to)
		}
	case map[string]any:
		if n["class"] == "FUNCTION" {
			if l, ok := s.callLayout(ctx, n); ok {
				*to = append(*to, l)
			}
		}
		for _, c := range n {
			s.layouts(ctx, c, to)
		}
	}
}

// callLayout returns the layout of a call with constant arguments: of an aggregate, which begins with a column, or of a
// table function, which begins with the name of a recording.
func (s *Session) callLayout(ctx context.Context, call map[string]any) (tensor.Layout, bool) {
	text, err := json.Marshal(call)
	if err != nil {
		return tensor.Layout{}, false
	}
	var e syntax
	if json.Unmarshal(text, &e) != nil || len(e.Children) == 0 {
		return tensor.Layout{}, false
	}
	if _, ok := e.Children[0].constant(); ok {
		return s.tableLayout(ctx, &e)
	}
	return s.groupLayout(&e)
}

// groupLayout is that of an aggregate. Errors of the call are left to DuckDB, which says them when the query runs.
func (s *Session) groupLayout(e *syntax) (tensor.Layout, bool) {
	if len(e.Children) < 6 {
		return tensor.Layout{}, false
	}
	args := make([]any, len(e.Children)-4)
	for i := range args {
		v, ok := argument(&e.Children[i+4])
		if !ok {
			return tensor.Layout{}, false
		}
		args[i] = v
	}
	for _, entry := range s.entries() {
		if strings.EqualFold(entry.Name, e.Function) {
			p, err := s.groupParams(entry, args)
			if err != nil {
				return tensor.Layout{}, false
			}
			return p.layout, true
		}
	}
	return tensor.Layout{}, false
}

// tableLayout is that of a table function, which opens its recording for the size of the sensor.
func (s *Session) tableLayout(ctx context.Context, e *syntax) (tensor.Layout, bool) {
	args := duck.Args{Named: map[string]any{}}
	for i := range e.Children {
		v, ok := argument(&e.Children[i])
		if !ok {
			return tensor.Layout{}, false
		}
		if name := e.Children[i].Alias; name != "" {
			args.Named[strings.ToLower(name)] = v
		} else {
			args.Positional = append(args.Positional, v)
		}
	}
	for _, f := range s.catalog.tables {
		if !strings.EqualFold(f.Name, e.Function) {
			continue
		}
		if f.Name != "represent" && !slices.ContainsFunc(s.entries(), func(e udf.Entry) bool { return e.Name == f.Name }) {
			break
		}
		t, err := f.Bind(ctx, args)
		if err != nil {
			break
		}
		defer func() { _ = t.Close() }() // it was read for its header at most
		b, ok := t.(*blockTable)
		if !ok {
			break
		}
		if l, err := b.blocks.Layouts(b.opts...); err == nil && len(l) == 1 {
			return l[0], true
		}
	}
	return tensor.Layout{}, false
}

// entries are the representations of evq and of the program.
func (s *Session) entries() []udf.Entry {
	return slices.Concat(builtins.All, s.options.Functions.Representations)
}
