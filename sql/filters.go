package sql

import (
	"context"
	"slices"

	"github.com/evq-project/evq/engine"
	"github.com/evq-project/evq/sql/duck"
	"github.com/evq-project/evq/udf"
)

// filterFunction is NAME_filter('recording', …): the events that a filter with memory keeps.
func (s *Session) filterFunction(e udf.FilterEntry) duck.TableFunction {
	name := filterName(e)
	var first string
	if len(e.Params) > 0 {
		first = e.Params[0].Name
	}
	named := slices.Concat(readingNames, selectingNames, paramNames(e.Params))
	return duck.TableFunction{Name: name, Most: 3, Named: withAliases(named), Bind: func(ctx context.Context, args duck.Args) (duck.Table, error) {
		positions := []string{"recording"}
		if first != "" {
			positions = append(positions, first)
		}
		a, err := newArguments(name, args, positions...)
		if err != nil {
			return nil, err
		}
		params := a.params(e.Params)
		if mask := params["mask"]; mask != "" && mask != "none" {
			if err := s.allow.check(mask); err != nil {
				return nil, err
			}
		}
		by, err := e.Make(params)
		if err != nil {
			return nil, err
		}
		t := &eventTable{session: s}
		return t, t.bind(ctx, a, func(f engine.Frame) engine.Frame { return f.Apply(by) })
	}}
}

// filterName is what a filter is called in SQL, where drop, for one, is a keyword.
func filterName(e udf.FilterEntry) string { return e.Name + "_filter" }
