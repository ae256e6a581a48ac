// Package sql is evq's second front end: DuckDB over recordings and stores, with functions made of the lists of
// packages udf/builtins.
//
// A file of any format is a table: SELECT count(*) FROM 'rec.raw'. Its columns are t BIGINT (microseconds) and x, y, p
// INTEGER on every way in. Aggregates make a block of the events of a group,
//
//	SELECT t // 50000 AS w, stacked_histogram(t, x, y, p, 10, 720, 1280, 10) FROM 'rec.parquet' GROUP BY w
//
// and table functions of the same names yield the windows of a recording one after the other, from the engine:
//
//	SELECT * FROM stacked_histogram('rec.raw', '50ms', bins := 10)
//
// Session.Functions lists them all. The package knows text and tables; it refuses to know flags and printing. It is
// built with the tag duckdb, which needs cgo; without it Open says how to get it.
package sql

import (
	"context"
	dbsql "database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/evq-project/evq/engine"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/udf"
)

// Options say how a session runs. The zero value is a session of this machine's size that may do everything.
type Options struct {
	// Functions are a program's own, beside those of evq.
	Functions Functions
	// Policy says how recordings are read where a call does not say it.
	Policy format.Policy
	// Engine are options of every query that the engine runs, such as engine.Device. Policies, memory and threads are
	// those of the other fields.
	Engine []engine.Option
	// ReadOnly allows queries and tables and views in memory, and nothing that writes a file, loads code or reaches
	// the network.
	ReadOnly bool
	// Allow, where not nil, are the folders and files that queries may touch. Links in them lead where they lead.
	Allow []string
	// Memory bounds what a session holds, in bytes. One half is DuckDB's, which spills beyond it and holds the blocks of
	// all groups; the other that of the events of groups, and of the engine. Groups beyond it are an error. 0 is four
	// fifths of the machine's memory, of which the engine takes no more than engine.DefaultMemory.
	Memory int64
	// Threads bounds the threads of a query; 0 is one per CPU.
	Threads int
	// TempDir is where DuckDB spills; "" is a folder of the session's own in the system's, which Close removes.
	TempDir string
}

// Functions are a program's own functions by name.
type Functions struct {
	Representations []udf.Entry
	Filters         []udf.FilterEntry
}

// ErrUnsupported reports that this program was built without DuckDB.
var ErrUnsupported = errors.New("sql: this program was built without DuckDB; build it with cgo and -tags duckdb, as make does")

// ErrRefused reports a query that the session does not run: one that DuckDB would crash on, or that ReadOnly or Allow
// forbid. The message says what to write instead.
var ErrRefused = errors.New("refused")

// A Session is an in-memory database with evq's functions. It may be used from several goroutines at once.
type Session struct {
	options Options
	allow   allowed
	catalog catalog
	guarded map[string]bool // the aggregates that DuckDB crashes on, called in some ways
	// positions says how many positional arguments the table functions take.
	positions map[string]int
	outer     *dbsql.DB // checks queries before DuckDB sees them
	inner     *dbsql.DB // for the session's own questions
	closing   []func() error
	losses    losses
	formats   knownFormats
	shares    shares
	held      func() int64 // bytes of the events of groups
}

// shares are who may hold how many bytes.
type shares struct{ duck, groups, engine int64 }

// DB returns the session's database. It is closed with the session.
func (s *Session) DB() *dbsql.DB { return s.outer }

// Query runs a query that returns rows. Several statements may be given, the last of which has the rows.
func (s *Session) Query(ctx context.Context, text string, args ...any) (*dbsql.Rows, error) {
	return s.outer.QueryContext(ctx, text, args...)
}

// Exec runs statements without looking at their rows.
func (s *Session) Exec(ctx context.Context, text string, args ...any) (dbsql.Result, error) {
	return s.outer.ExecContext(ctx, text, args...)
}

// ErrNoSelect reports text that is no single SELECT.
var ErrNoSelect = errors.New("it is not a SELECT")

// AST returns the syntax tree of one or more SELECT statements as DuckDB's json_serialize_sql writes it. It is
// ErrNoSelect for statements of other kinds; other errors are those of the syntax.
func (s *Session) AST(ctx context.Context, text string) ([]byte, error) {
	var tree []byte
	var failed bool
	var kind, message dbsql.NullString
	const ask = `SELECT j::VARCHAR, (j->>'error')::BOOLEAN, j->>'error_type', j->>'error_message'
		FROM (SELECT json_serialize_sql($1::VARCHAR, skip_null := true, skip_empty := true) AS j)`
	err := s.inner.QueryRowContext(ctx, ask, text).Scan(&tree, &failed, &kind, &message)
	switch {
	case err != nil:
		return nil, fmt.Errorf("sql: %w", err)
	case failed && kind.String == "not implemented":
		return nil, ErrNoSelect
	case failed:
		return nil, fmt.Errorf("sql: %s", strings.TrimSpace(message.String))
	}
	return tree, nil
}

// Functions lists what the session adds to DuckDB, by name.
func (s *Session) Functions() []Function { return s.catalog.list() }

// Close ends the session. Queries must have ended.
func (s *Session) Close() error {
	var err error
	for _, c := range s.closing {
		err = errors.Join(err, c())
	}
	s.closing = nil
	return err
}
