package sql

import (
	"context"
	dbsql "database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// A Runner runs statements one after the other on one connection of a session, so that what one of them sets or
// creates is there for the next. Queries that the engine answers faster with the very same rows are run by it; SET
// evq_route = 'off' leaves all to DuckDB. A Runner serves one goroutine at a time.
type Runner struct {
	session *Session
	conn    *dbsql.Conn
	off     bool
}

// Runner opens a connection. The caller closes it before the session.
func (s *Session) Runner(ctx context.Context) (*Runner, error) {
	c, err := s.outer.Conn(ctx)
	if err != nil {
		return nil, err
	}
	return &Runner{session: s, conn: c}, nil
}

// Close closes the connection.
func (r *Runner) Close() error { return r.conn.Close() }

// A Result is what a statement yields. It is closed by its user; the next statement runs after that.
type Result struct {
	route  Route
	schema *arrow.Schema
	native *native
	rows   *dbsql.Rows
	given  arrow.RecordBatch // rows that were made already
	before arrow.RecordBatch // rows that stand before those of rows
}

// Schema returns the columns. Integers of up to 32 bits are int32, HUGEINT and DECIMAL are decimals, lists, structs and
// maps JSON, BLOBs binary, and what Arrow has no type for is text.
func (q *Result) Schema() *arrow.Schema { return q.schema }

// Route says who runs the statement.
func (q *Result) Route() Route { return q.route }

// Each calls do with the rows as records, each valid until do returns, or longer where do retains it. It is called
// once.
func (q *Result) Each(ctx context.Context, do func(arrow.RecordBatch) error) error {
	return q.each(ctx, do, false)
}

// Pass is Each for who does not retain records: their memory is used again, and large blocks are not copied.
func (q *Result) Pass(ctx context.Context, do func(arrow.RecordBatch) error) error {
	return q.each(ctx, do, true)
}

func (q *Result) each(ctx context.Context, do func(arrow.RecordBatch) error, passing bool) error {
	for _, r := range []arrow.RecordBatch{q.given, q.before} {
		if r != nil && r.NumRows() > 0 {
			if err := do(r); err != nil {
				return err
			}
		}
	}
	switch {
	case q.native != nil:
		return q.native.each(ctx, do, passing)
	case q.rows != nil:
		return records(ctx, q.rows, q.schema, do)
	}
	return nil
}

// Close ends the statement.
func (q *Result) Close() error {
	switch {
	case q.native != nil:
		return q.native.close()
	case q.rows != nil:
		return q.rows.Close()
	}
	return nil
}

// Statements cuts text at the semicolons between statements. Parts without a statement are left out; complete says
// that the last one ends with a semicolon.
func Statements(text string) (all []string, complete bool) {
	tokens := lex(text)
	for _, s := range statements(tokens) {
		all = append(all, text[s[0].at:s[len(s)-1].to])
	}
	return all, len(tokens) == 0 || tokens[len(tokens)-1].sign(";")
}

// yielding are the statements whose rows are what they are for.
var yielding = []string{
	"select", "from", "with", "values", "table", "describe", "desc", "show", "summarize", "explain", "pivot", "unpivot", "pragma", "call",
}

// Yields reports whether rows are what a statement is for, rather than that something is done.
func Yields(text string) bool {
	tokens := lex(text)
	for _, t := range tokens {
		if t.sign("(") {
			continue
		}
		if t.is(yielding...) {
			return true
		}
		break
	}
	for _, t := range tokens {
		if t.is("returning") {
			return true
		}
	}
	return false
}

// Run starts one statement.
func (r *Runner) Run(ctx context.Context, text string) (*Result, error) {
	tokens := lex(text)
	if on, ok, err := routing(tokens); ok {
		if err == nil {
			r.off = !on
		}
		return &Result{route: Route{Why: "a setting"}, schema: arrow.NewSchema(nil, nil)}, err
	}
	if len(tokens) > 1 && tokens[0].is("explain") && !tokens[1].is("analyze") && !tokens[1].sign("(") {
		return r.explain(ctx, text, text[tokens[1].at:])
	}
	route, n, err := r.route(ctx, text)
	if err != nil {
		return nil, err
	}
	if n != nil {
		return &Result{route: route, schema: n.schema, native: n}, nil
	}
	return r.duck(ctx, text, route)
}

// duck runs a statement in DuckDB.
func (r *Runner) duck(ctx context.Context, text string, route Route) (*Result, error) {
	rows, err := r.conn.QueryContext(ctx, text)
	if err != nil {
		return nil, err
	}
	schema, err := schemaOf(rows)
	if err != nil {
		return nil, errors.Join(err, rows.Close())
	}
	return &Result{route: route, schema: schema, rows: rows}, nil
}

// explain is EXPLAIN, whose first row says who would run the query.
func (r *Runner) explain(ctx context.Context, text, query string) (*Result, error) {
	route, n, err := r.route(ctx, query)
	if err != nil {
		return nil, err
	}
	if n != nil {
		defer func() { _ = n.close() }() // it was read for its header at most
		if route.Plan, err = n.plan(); err != nil {
			return nil, err
		}
		given := explained("evq_route", route.String(), "evq_plan", route.Plan)
		return &Result{route: route, schema: given.Schema(), given: given}, nil
	}
	q, err := r.duck(ctx, text, route)
	if err == nil && arrow.TypeEqual(arrow.StructOf(q.schema.Fields()...), arrow.StructOf(explainSchema.Fields()...)) {
		q.before = explained("evq_route", route.String())
	}
	return q, err
}

// explainSchema are DuckDB's own columns.
var explainSchema = arrow.NewSchema([]arrow.Field{
	{Name: "explain_key", Type: arrow.BinaryTypes.String, Nullable: true}, {Name: "explain_value", Type: arrow.BinaryTypes.String, Nullable: true},
}, nil)

func explained(pairs ...string) arrow.RecordBatch {
	b := array.NewRecordBuilder(memory.DefaultAllocator, explainSchema)
	defer b.Release()
	for i, text := range pairs {
		b.Field(i % 2).(*array.StringBuilder).Append(text)
	}
	return b.NewRecordBatch()
}

// routing reads SET evq_route = 'on' or 'off'; ok says that a statement is that.
func routing(tokens []token) (on, ok bool, err error) {
	if len(tokens) < 2 || !tokens[0].is("set", "reset") {
		return false, false, nil
	}
	rest := tokens[1:]
	if len(rest) > 1 && rest[0].is("session", "global", "local") {
		rest = rest[1:]
	}
	if !strings.EqualFold(rest[0].text, "evq_route") {
		return false, false, nil
	}
	if tokens[0].is("reset") && len(rest) == 1 {
		return true, true, nil
	}
	if len(rest) == 3 && (rest[1].sign("=") || rest[1].is("to")) {
		switch strings.ToLower(rest[2].text) {
		case "on", "true":
			return true, true, nil
		case "off", "false":
			return false, true, nil
		}
	}
	return false, true, errors.New("evq_route is 'on' or 'off'; write SET evq_route = 'off'")
}

// route decides who runs a query; the engine where the result is not nil. Errors of the query are left to DuckDB to
// tell, which says where they stand.
func (r *Runner) route(ctx context.Context, text string) (Route, *native, error) {
	n, err := r.routed(ctx, text)
	var why shapeError
	switch {
	case err == nil:
		return Route{Native: true, Why: n.shape.why()}, n, nil
	case errors.As(err, &why):
		return Route{Why: string(why)}, nil, nil
	}
	return Route{}, nil, err
}

func (r *Runner) routed(ctx context.Context, text string) (*native, error) {
	s := r.session
	if r.off {
		return nil, notThat("evq_route is off")
	}
	tree, err := s.AST(ctx, text)
	switch {
	case errors.Is(err, ErrNoSelect):
		return nil, notThat("it is not a SELECT")
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, notThat("its syntax is wrong")
	}
	shape, err := s.recognise(tree)
	if err != nil {
		return nil, err
	}
	if err := r.hidden(ctx, shape); err != nil {
		return nil, err
	}
	schema, err := r.described(ctx, text)
	if err != nil {
		return nil, err
	}
	if !shape.fits(schema) {
		return nil, notThat("its columns have other types than the engine's")
	}
	return s.native(ctx, shape, schema)
}

// hidden reports what in the database makes the same text mean something else: a table of the file's name, a macro of
// a function's, or another default order.
func (r *Runner) hidden(ctx context.Context, q *shape) error {
	const ask = `SELECT (SELECT count(*) FROM duckdb_tables() WHERE table_name = $1) + (SELECT count(*) FROM duckdb_views() WHERE view_name = $1) +
		(SELECT count(*) FROM duckdb_functions() WHERE function_type = 'macro' AND NOT internal AND function_name IN ('count', 'count_star', $2)),
		current_setting('default_order')`
	name := ""
	if len(q.names) > 0 {
		name = q.names[0]
	}
	var n int64
	var order string
	if err := r.conn.QueryRowContext(ctx, ask, q.path, name).Scan(&n, &order); err != nil {
		return notThat("the database did not tell what it holds: %v", err)
	}
	if n > 0 {
		return notThat("a table or a macro has the name of the file or the function")
	}
	if q.sorted && !strings.HasPrefix(strings.ToUpper(order), "ASC") {
		return notThat("default_order is %s", order)
	}
	return nil
}

// described returns the columns that DuckDB gives a query, which it checks on the way.
func (r *Runner) described(ctx context.Context, text string) (*arrow.Schema, error) {
	rows, err := r.conn.QueryContext(ctx, "SELECT column_name, column_type FROM (DESCRIBE "+text+")")
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, notThat("DuckDB refuses it")
	}
	defer func() { _ = rows.Close() }() // Err says it
	var fields []arrow.Field
	for rows.Next() {
		var name, kind string
		if err := rows.Scan(&name, &kind); err != nil {
			return nil, err
		}
		t, err := arrowType(kind)
		if err != nil {
			return nil, err
		}
		fields = append(fields, arrow.Field{Name: name, Type: t, Nullable: true})
	}
	return arrow.NewSchema(fields, nil), rows.Err()
}

func micros(us int64) time.Duration { return time.Duration(us) * time.Microsecond }

// Exec runs all statements of a text and drops their rows.
func (r *Runner) Exec(ctx context.Context, text string) error {
	all, _ := Statements(text)
	for _, one := range all {
		q, err := r.Run(ctx, one)
		if err != nil {
			return err
		}
		err = q.Each(ctx, func(arrow.RecordBatch) error { return nil })
		if err = errors.Join(err, q.Close()); err != nil {
			return fmt.Errorf("%w, in: %s", err, strings.TrimSpace(one))
		}
	}
	return nil
}
