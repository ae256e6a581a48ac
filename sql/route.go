package sql

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/evq-project/evq/engine"
	"github.com/evq-project/evq/exprs"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/parquet"
	"github.com/evq-project/evq/sql/duck"
	"github.com/evq-project/evq/udf"
	"github.com/evq-project/evq/udf/builtins"
)

// A Route says who runs a query: the engine, where it is known to give the very rows that DuckDB would, or DuckDB.
type Route struct {
	Native bool
	Why    string // in words, such as "windows of 50ms, stacked_histogram(bins=10, cutoff=10)"
	Plan   string // of the engine: as written, the rules that fired, the operators; "" where DuckDB runs
}

// String is native or duckdb, and why.
func (r Route) String() string {
	if r.Native {
		return "native: " + r.Why
	}
	return "duckdb: " + r.Why
}

// routable are the representations whose block depends on the events of a window alone, not on where the window
// lies, so that a group of DuckDB's and a window of the engine's give the same.
var routable = []string{"stacked_histogram", "rvt", "mixed_density", "voxel_grid", "event_frame", "event_count", "bina_rep"}

// A shape is a query that the engine can run: [keys, counts and blocks] of one recording, by windows of equal length or
// of all of it, with a condition on single events.
type shape struct {
	path     string
	where    exprs.Expr // nil where there is none
	window   int64      // microseconds; 0 where the whole recording is one group
	items    []item
	reps     []udf.Representation
	names    []string       // of the functions that make them
	geometry event.Geometry // that the blocks are made for
	sorted   bool
	limit    int64 // -1 where there is none
}

// An item is a column of the result.
type item struct {
	kind itemKind
	rep  int // of a block: its place in shape.reps
}

type itemKind uint8

const (
	isKey itemKind = iota
	isCount
	isBlock
)

// shapeError says why a query is none that the engine runs.
type shapeError string

func (e shapeError) Error() string { return string(e) }

func notThat(format string, args ...any) error { return shapeError(fmt.Sprintf(format, args...)) }

// recognise reads a syntax tree. Its error says what keeps the query from being run by the engine.
func (s *Session) recognise(tree []byte) (*shape, error) {
	q, err := parseTree(tree)
	if err != nil {
		return nil, shapeError(err.Error())
	}
	out := &shape{limit: -1}
	table := q.From.Alias
	if out.path, err = recordingOf(q.From); err != nil {
		return nil, err
	}
	if table == "" {
		table = stem(out.path)
	}
	if q.Where != nil {
		if out.where, err = predicate(q.Where, table); err != nil {
			return nil, shapeError(err.Error())
		}
	}
	key := -1
	for i := range q.Select {
		it, window, err := s.item(&q.Select[i], table, out)
		if err != nil {
			return nil, err
		}
		if it.kind == isKey {
			if key >= 0 {
				return nil, notThat("it has more than one key")
			}
			key, out.window = i, window
		}
		out.items = append(out.items, it)
	}
	if len(out.items) == 0 || key >= 0 && len(out.items) == 1 {
		return nil, notThat("it counts nothing")
	}
	if err := grouped(q, key, table, out); err != nil {
		return nil, err
	}
	if len(out.reps) == 0 && out.window == 0 && q.From.Type == "BASE_TABLE" && s.readerOf(out.path) == storeReader {
		return nil, notThat("DuckDB counts a store itself, skipping what the condition leaves out")
	}
	return out, modified(q, key, out)
}

// recordingOf returns the file that is read: FROM 'file' or FROM events('file').
func recordingOf(from fromNode) (string, error) {
	path := from.Table
	if from.Type == "TABLE_FUNCTION" && from.Function != nil {
		f := from.Function
		if from.Ordinality != "WITHOUT_ORDINALITY" || !strings.EqualFold(f.Function, "events") || !f.plain() || f.Schema != "" || len(f.Children) != 1 {
			return "", notThat("it does not read one recording")
		}
		v, _ := f.Children[0].constant()
		path, _ = v.(string)
	} else if from.Type != "BASE_TABLE" {
		return "", notThat("it does not read one recording")
	}
	if st, err := os.Stat(path); path == "" || err != nil || !st.Mode().IsRegular() {
		return "", notThat("%q is not one recording", path)
	}
	return path, nil
}

// item reads a column of the result.
func (s *Session) item(e *syntax, table string, out *shape) (item, int64, error) {
	if !e.plain() {
		return item{}, 0, notThat("it has a column that is neither t // N, count(*) nor a representation")
	}
	name := strings.ToLower(e.Function)
	switch {
	case name == "//" && e.IsOperator && len(e.Children) == 2:
		n, ok := e.Children[1].integer()
		if e.Children[0].column(table) != "t" || !ok || n < 1 {
			return item{}, 0, notThat("its key is not t // N")
		}
		if n > math.MaxInt64/1000 {
			return item{}, 0, notThat("its windows are longer than durations reach")
		}
		return item{kind: isKey}, n, nil
	case e.IsOperator || e.Schema != "":
	case name == "count_star" || name == "count" && len(e.Children) == 1 && e.Children[0].column(table) != "":
		return item{kind: isCount}, 0, nil
	case slices.Contains(routable, name):
		return s.block(e, name, table, out)
	}
	return item{}, 0, notThat("it has a column that is neither t // N, count(*) nor a representation of a group alone")
}

// block reads a call of an aggregate that makes a block.
func (s *Session) block(e *syntax, name, table string, out *shape) (item, int64, error) {
	if len(e.Children) < 4 {
		return item{}, 0, notThat("%s is not given t, x, y, p", name)
	}
	for i, want := range []string{"t", "x", "y", "p"} {
		if e.Children[i].column(table) != want {
			return item{}, 0, notThat("%s is not given t, x, y, p", name)
		}
	}
	args := make([]any, len(e.Children)-4)
	for i := range args {
		v, ok := argument(&e.Children[i+4])
		if !ok {
			return item{}, 0, notThat("%s has an argument that is no constant", name)
		}
		args[i] = v
	}
	entry, ok := builtins.Lookup(name)
	if !ok || len(args) == 0 {
		return item{}, 0, notThat("%s lacks arguments", name)
	}
	params, err := s.groupParams(entry, args)
	if err != nil {
		return item{}, 0, notThat("%v", err) // DuckDB says it again, with where it stands
	}
	rep, g := params.rep, params.geometry
	if strings.Contains(rep.String(), "timebase=window") || strings.Contains(rep.String(), "rvt-flat") {
		return item{}, 0, notThat("%s depends on more than the events of a group", rep)
	}
	if len(out.reps) > 0 && out.geometry != g {
		return item{}, 0, notThat("its blocks are for sensors of two sizes")
	}
	out.reps, out.names, out.geometry = append(out.reps, rep), append(out.names, name), g
	return item{isBlock, len(out.reps) - 1}, 0, nil
}

// grouped checks that the key, and nothing else, is what rows are grouped by.
func grouped(q *selectNode, key int, table string, out *shape) error {
	all := q.Aggregates == "FORCE_AGGREGATES" // GROUP BY ALL
	switch {
	case !all && q.Aggregates != "STANDARD_HANDLING":
		return notThat("it is grouped in another way")
	case key < 0 && len(q.GroupBy) == 0 && len(q.GroupSets) == 0:
		return nil
	case key < 0:
		return notThat("it is grouped by what it does not select")
	case all && len(q.GroupBy) == 0:
		return nil
	case all || len(q.GroupBy) != 1 || len(q.GroupSets) != 1 || len(q.GroupSets[0]) != 1:
		return notThat("it is grouped by other than t // N")
	}
	if !refersTo(&q.GroupBy[0], &q.Select[key], key, table) {
		return notThat("it is grouped by other than t // N")
	}
	return nil
}

// refersTo reports whether an expression means the column of the result at place key: by its place, its alias, or what
// it is.
func refersTo(e, column *syntax, key int, table string) bool {
	if n, ok := e.integer(); ok {
		return n == int64(key)+1
	}
	// A column of the recording wins over an alias of its name.
	return e.column(table) == "" && e.named(column.Alias) || same(e, column)
}

// modified reads ORDER BY and LIMIT.
func modified(q *selectNode, key int, out *shape) error {
	for _, m := range q.Modifiers {
		switch {
		case m.Type == "ORDER_MODIFIER" && key >= 0 && len(m.Orders) == 1 && m.Limit == nil:
			o := m.Orders[0]
			if o.Type != "ORDER_DEFAULT" && o.Type != "ASCENDING" || !refersTo(&o.By, &q.Select[key], key, "") {
				return notThat("it is not in the order of its windows")
			}
			out.sorted = o.Type == "ORDER_DEFAULT" // which a setting may turn around
		case m.Type == "LIMIT_MODIFIER" && len(m.Orders) == 0:
			n, ok := m.Limit.integer()
			if !ok || n < 0 {
				return notThat("its LIMIT is no number")
			}
			out.limit = n
		default:
			return notThat("it has a %s", strings.ToLower(strings.ReplaceAll(m.Type, "_", " ")))
		}
	}
	return nil
}

// argument returns an argument of a call that is a constant, or a list or a struct of them.
func argument(e *syntax) (any, bool) {
	if v, ok := e.constant(); ok {
		return v, true
	}
	if !e.plain() {
		return nil, false
	}
	values := make([]any, len(e.Children))
	fields := make(duck.Struct, len(e.Children))
	for i := range e.Children {
		v, ok := e.Children[i].constant()
		if !ok {
			return nil, false
		}
		values[i], fields[i] = v, duck.Field{Name: e.Children[i].Alias, Value: v}
	}
	switch e.Function {
	case "list_value":
		return values, true
	case "struct_pack":
		return fields, true
	}
	return nil, false
}

// errNegative keeps a query from being run by the engine, whose windows floor times, while DuckDB cuts towards zero.
const errNegative = shapeError("its first event lies before time 0, where t // N cuts towards zero and windows do not; use the table functions for windows that floor")

// frame opens the recording of a shape and makes the frame that the engine runs. The caller closes the recording.
func (s *Session) frame(ctx context.Context, q *shape, opts []engine.Option) (*engine.Recording, engine.Frame, error) {
	if err := s.allow.check(q.path); err != nil {
		return nil, engine.Frame{}, err
	}
	rec, err := s.open(q.path, opts)
	if err != nil {
		return nil, engine.Frame{}, err
	}
	src := rec.Source
	if q.geometry.Known() {
		src = sized{src, q.geometry}
	}
	f := engine.Scan(src)
	if q.where != nil {
		f = f.Filter(q.where)
	}
	if err := s.provable(ctx, rec, f, q, opts); err != nil {
		return nil, f, errors.Join(err, rec.Close())
	}
	return rec, f, nil
}

// provable reports what keeps the engine from giving DuckDB's rows of this very recording.
func (s *Session) provable(ctx context.Context, rec *engine.Recording, f engine.Frame, q *shape, opts []engine.Option) error {
	info := rec.Info()
	if info.Format == parquet.Format.Name && info.Version == "" {
		return notThat("%s is a Parquet file of another program", q.path)
	}
	switch {
	case q.window == 0, q.where != nil && q.where.Box().T0 >= 0, info.Stats && (info.Events == 0 || info.Extent.T0 >= 0):
		return nil
	}
	first, err := f.Limit(1).Collect(ctx, opts...) // events come in order of time
	if err == nil && first.Len() > 0 && first.T()[0] < 0 {
		err = errNegative
	}
	return err
}

// sized is a source whose sensor a query says the size of. What lies off it is read all the same, as DuckDB does: the
// first and the last event of a window may be among it.
type sized struct {
	event.Source
	geometry event.Geometry
}

func (s sized) Geometry() event.Geometry { return s.geometry }

func (s sized) Info() event.Info {
	info := s.Source.Info()
	info.Geometry = s.geometry
	return info
}
