package sql

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/evq-project/evq/io/tensor"
	"github.com/evq-project/evq/udf"
	"github.com/evq-project/evq/udf/builtins"
)

// ErrNoLayout reports a query that does not tell the shape of its blocks by itself.
var ErrNoLayout = errors.New("the query does not tell the shape of its blocks")

// Layout returns what the blocks of a SELECT are, which a BLOB does not say: from the constant arguments of the one
// aggregate that makes them. Without one, or with several that differ, it is ErrNoLayout.
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
	r.session.layouts(root, &found)
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
func (s *Session) layouts(node any, to *[]tensor.Layout) {
	switch n := node.(type) {
	case []any:
		for _, c := range n {
			s.layouts(c, to)
		}
	case map[string]any:
		if n["class"] == "FUNCTION" {
			if l, ok := s.callLayout(n); ok {
				*to = append(*to, l)
			}
		}
		for _, c := range n {
			s.layouts(c, to)
		}
	}
}

// callLayout returns the layout of a call of an aggregate with constant arguments.
func (s *Session) callLayout(call map[string]any) (tensor.Layout, bool) {
	text, err := json.Marshal(call)
	if err != nil {
		return tensor.Layout{}, false
	}
	var e syntax
	if json.Unmarshal(text, &e) != nil || len(e.Children) < 6 {
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
				return tensor.Layout{}, false // DuckDB says why when the query runs
			}
			return p.layout, true
		}
	}
	return tensor.Layout{}, false
}

// entries are the representations of evq and of the program.
func (s *Session) entries() []udf.Entry {
	return slices.Concat(builtins.All, s.options.Functions.Representations)
}
