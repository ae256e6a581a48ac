package sql

import (
	"fmt"
	"slices"
	"strings"

	"github.com/evq-project/evq/sql/duck"
	"github.com/evq-project/evq/udf"
	"github.com/evq-project/evq/udf/builtins"
)

// A Function is what a session adds to DuckDB.
type Function struct {
	Name string
	Kind string // table, aggregate, scalar or macro
	Call string // how it is called
	Doc  string
}

// Listed returns what a session adds to DuckDB, by name, where a program has no functions of its own.
func Listed() ([]Function, error) {
	c, err := new(Session).newCatalog()
	return c.list(), err
}

// onlyText is said of aggregates where there are no reads of memory that fail instead of crashing.
const onlyText = "; here, calls with ORDER BY inside or with OVER, which crash DuckDB, are known by their text alone"

// A catalog is the functions of a session.
type catalog struct {
	tables     []duck.TableFunction
	aggregates []duck.Aggregate
	functions  []Function
}

// newCatalog makes the functions of the lists of package builtins and of the program's own.
func (s *Session) newCatalog() (catalog, error) {
	own := s.options.Functions
	representations := slices.Concat(builtins.All, own.Representations)
	filters := slices.Concat(builtins.Filters, own.Filters)
	c := catalog{}
	for _, t := range []struct {
		duck.TableFunction
		call, doc string
	}{
		{s.eventsFunction(), "events('recording' [, options])", "the events of a recording, or of several: t, x, y, p; time, roi, polarity, where and filter leave some out before DuckDB sees them"},
		{s.triggersFunction(), "triggers('recording')", "the edges on the external inputs of the camera: t, channel, rising"},
		{s.recordingsFunction(), "recordings('folder/*' [, full := true])", "what is known of recordings, a row each"},
		{s.windowsFunction(), "windows('recording', '50ms' [, options])", "the windows of a recording: window, window_start, window_end, window_events"},
		{s.labelsFunction(), "labels('recording_bbox.npy')", "the boxes of a label file: t, x, y, w, h, class_id, track_id, confidence"},
		{s.representFunction(), "represent('recording', 'name:key=value', '50ms' [, options])", "the blocks of a representation that is named by text, one for each window"},
	} {
		c.tables = append(c.tables, t.TableFunction)
		c.functions = append(c.functions, Function{t.Name, "table", t.call, t.doc})
	}
	note := ""
	if Built && !guarded() {
		note = onlyText
	}
	for _, e := range representations {
		c.tables = append(c.tables, s.representationFunction(e))
		c.aggregates = append(c.aggregates, s.aggregateFunction(e))
		c.functions = append(c.functions, Function{e.Name, "aggregate", aggregateCall(e), e.Doc + note},
			Function{e.Name, "table", fmt.Sprintf("%s('recording', '50ms'%s)", e.Name, defaults(e.Params)), "one for each window: " + e.Doc})
	}
	for _, e := range filters {
		c.tables = append(c.tables, s.filterFunction(e))
		c.functions = append(c.functions, Function{filterName(e), "table", fmt.Sprintf("%s('recording'%s)", filterName(e), defaults(e.Params)), e.Doc})
	}
	for _, h := range helpers {
		c.functions = append(c.functions, h.Function)
	}
	for _, m := range macros {
		c.functions = append(c.functions, m.Function)
	}
	return c, c.check()
}

// defaults writes parameters as named arguments with their defaults.
func defaults(params []udf.Param) string {
	if len(params) == 0 {
		return ""
	}
	parts := make([]string, len(params))
	for i, p := range params {
		parts[i] = p.Name + " := " + literal(p.Default)
	}
	return " [, " + strings.Join(parts, ", ") + "]"
}

// check finds names that are taken.
func (c catalog) check() error {
	seen := map[string]bool{}
	for _, t := range c.tables {
		if seen[t.Name] {
			return fmt.Errorf("sql: two functions are called %s; give the program's own another name", t.Name)
		}
		seen[t.Name] = true
	}
	return nil
}

// guarded are the names of the aggregates that must not be called with an order or a window.
func (c catalog) guarded() map[string]bool {
	out := map[string]bool{}
	for _, a := range c.aggregates {
		out[strings.ToLower(a.Name)] = true
	}
	return out
}

// positions are how many positional arguments the table functions take.
func (c catalog) positions() map[string]int {
	out := map[string]int{}
	for _, t := range c.tables {
		out[strings.ToLower(t.Name)] = t.Most
	}
	return out
}

func (c catalog) list() []Function {
	out := slices.Clone(c.functions)
	slices.SortStableFunc(out, func(a, b Function) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// A macro is a function written in SQL.
type macro struct {
	Function
	create string
}

// storeMacro reads stores through DuckDB's own reader, which skips row groups by their statistics.
const (
	storeMacro  = "evq_store"
	storeReader = "memory.main." + storeMacro
)

var macros = []macro{
	{Function{storeMacro, "macro", "evq_store('store.parquet')", "the events of a store through DuckDB's reader, as FROM 'store.parquet' reads them"},
		"CREATE MACRO evq_store(path) AS TABLE SELECT t::BIGINT AS t, x::INTEGER AS x, y::INTEGER AS y, p::INTEGER AS p FROM read_parquet(path)"},
	{Function{"rate", "macro", "rate(t)", "events per second of a group, from its first event to its last; NULL where no time passes"},
		"CREATE MACRO rate(t) AS CASE WHEN max(t) > min(t) THEN count(t) * 1e6 / (max(t) - min(t)) END"},
	{Function{"polarity_counts", "macro", "polarity_counts(p)", "how many events of a group are OFF and ON: {'off': …, 'on': …}"},
		"CREATE MACRO polarity_counts(p) AS struct_pack(\"off\" := count(*) FILTER (WHERE p::INTEGER = 0), \"on\" := count(*) FILTER (WHERE p::INTEGER = 1))"},
	{Function{"floor_div", "macro", "floor_div(t, length)", "the number of the window that a time lies in, also below 0, where // rounds towards 0"},
		"CREATE MACRO floor_div(a, b) AS a // b - (a % b <> 0 AND (a % b < 0) <> (b < 0))::INTEGER"},
}
