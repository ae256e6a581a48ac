package engine

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/evq-project/evq/exprs"
	"github.com/evq-project/evq/io/formats"
	"github.com/evq-project/evq/udf"
	"github.com/evq-project/evq/udf/builtins"
)

// WithRepresentation lets a program's own representation be named, beside those of evq.
func WithRepresentation(e udf.Entry) Option {
	return func(s *settings) { s.representations = append(slices.Clip(s.representations), e) }
}

// WithFilter lets a program's own filter with memory be named.
func WithFilter(e udf.FilterEntry) Option {
	return func(s *settings) { s.filters = append(slices.Clip(s.filters), e) }
}

// WithAggregate lets a program's own aggregate be named.
func WithAggregate(e udf.AggregateEntry) Option {
	return func(s *settings) { s.aggregates = append(slices.Clip(s.aggregates), e) }
}

// WithFunc lets a program's own predicate or integer function of one event be named.
func WithFunc(f exprs.Func) Option {
	return func(s *settings) { s.funcs = append(slices.Clip(s.funcs), f) }
}

// ErrUnknown reports a name that no function has.
var ErrUnknown = errors.New("unknown")

// An UnknownError reports a name that no function of its kind has.
type UnknownError struct {
	Kind, Name string
	Known      []string
}

func (e *UnknownError) Error() string {
	s := fmt.Sprintf("unknown %s %q", e.Kind, e.Name)
	if n := formats.Nearest(e.Name, e.Known); n != "" {
		return s + fmt.Sprintf("; did you mean %s?", n)
	}
	return s + "; there are " + strings.Join(e.Known, ", ")
}

// Is makes it ErrUnknown.
func (e *UnknownError) Is(target error) bool { return target == ErrUnknown }

// Represent makes the representation that text names, such as voxel_grid:bins=5. Options: WithRepresentation.
func Represent(text string, opts ...Option) (udf.Representation, error) {
	r, _, err := call("representation", settingsOf(opts).representations, text)
	return r, err
}

// RepresentationEntry returns the entry of the representation that text names: its policies say how a recording is
// to be read for it.
func RepresentationEntry(text string, opts ...Option) (udf.Entry, error) {
	_, e, err := call("representation", settingsOf(opts).representations, text)
	return e, err
}

// Filter makes the filter with memory that text names, such as refractory:period=2ms. Options: WithFilter.
func Filter(text string, opts ...Option) (udf.Filter, error) {
	f, _, err := call("filter", settingsOf(opts).filters, text)
	return f, err
}

// call makes what text names of one of the entries.
func call[F any](kind string, entries []udf.EntryOf[F], text string) (made F, e udf.EntryOf[F], err error) {
	name, args, err := udf.ParseCall(text)
	if err != nil {
		return made, e, err
	}
	e, err = entryOf(kind, entries, name)
	if err != nil {
		return made, e, err
	}
	if made, err = e.Make(args); err != nil {
		err = fmt.Errorf("%w%s", err, hint(e.Params, args))
	}
	return made, e, err
}

func entryOf[F any](kind string, entries []udf.EntryOf[F], name string) (udf.EntryOf[F], error) {
	var known []string
	for _, e := range entries {
		if e.Name == name {
			return e, nil
		}
		known = append(known, e.Name)
	}
	return udf.EntryOf[F]{}, &UnknownError{kind, name, known}
}

// hint offers the nearest parameter for one that does not exist.
func hint(params []udf.Param, args udf.Args) string {
	var names []string
	for _, p := range params {
		names = append(names, p.Name)
	}
	for _, k := range slices.Sorted(maps.Keys(args)) {
		if n := formats.Nearest(k, names); !slices.Contains(names, k) && n != "" {
			return fmt.Sprintf("; did you mean %s?", n)
		}
	}
	return ""
}

// Predicate reads a predicate over one event, such as x < 640 and p = on. Options: WithFunc.
func Predicate(text string, opts ...Option) (exprs.Expr, error) {
	return exprs.Parse(text, settingsOf(opts).parsing()...)
}

// Keys reads group keys, such as p, y // 16 as row, or tile(16). Options: WithFunc.
func Keys(text string, opts ...Option) ([]exprs.Key, error) {
	return exprs.ParseKeys(text, settingsOf(opts).parsing()...)
}

func (s settings) parsing() []exprs.Option {
	return []exprs.Option{exprs.WithFuncs(s.funcs...), exprs.WithMasks(loadMask)}
}

// named are the functions that can be named where a program adds none.
func (s *settings) named() {
	s.representations, s.filters, s.aggregates = builtins.All, builtins.Filters, builtins.Aggregates
}
