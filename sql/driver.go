package sql

import (
	"context"
	"database/sql/driver"
	"errors"
	"sync"

	"github.com/evq-project/evq/sql/duck"
)

// A gate stands before DuckDB's driver: it looks at every query before DuckDB does, and remembers under which context
// each connection runs, for the functions that a query calls.
type gate struct {
	driver.Connector
	admit    func(text string) (*admitted, error)
	identify func(driver.Conn) (uint64, error)
	contexts *duck.Contexts
	running  running
}

// running counts the queries that run: what those that failed left behind is reclaimed when none does.
type running struct {
	mu      sync.Mutex
	n       int
	failed  bool
	reclaim func()
}

func (r *running) begin() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.n++
}

func (r *running) end(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed = r.failed || err != nil
	if r.n--; r.n == 0 && r.failed {
		r.reclaim()
		r.failed = false
	}
}

// Connect opens a connection.
func (g *gate) Connect(ctx context.Context) (driver.Conn, error) {
	c, err := g.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	inner, ok := c.(duckConn)
	if !ok {
		return nil, errors.Join(errors.New("sql: the driver of DuckDB is of another version than evq was written for"), c.Close())
	}
	id, err := g.identify(c)
	return &gated{inner, g, id}, err
}

// A duckConn is what evq uses of a connection of the driver.
type duckConn interface {
	driver.Conn
	driver.ConnPrepareContext
	driver.ConnBeginTx
	driver.ExecerContext
	driver.QueryerContext
	driver.NamedValueChecker
}

// A gated connection admits queries.
type gated struct {
	duckConn
	gate *gate
	id   uint64
}

// pass admits a query that runs under ctx.
func (c *gated) pass(ctx context.Context, text string) (*admitted, error) {
	c.gate.contexts.Set(ctx, c.id)
	return c.gate.admit(text)
}

func (c *gated) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	a, err := c.pass(ctx, text)
	if err != nil {
		return nil, err
	}
	c.gate.running.begin()
	rows, err := c.duckConn.QueryContext(ctx, a.text, args)
	c.gate.running.end(err)
	return rows, a.told(err)
}

func (c *gated) ExecContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Result, error) {
	a, err := c.pass(ctx, text)
	if err != nil {
		return nil, err
	}
	c.gate.running.begin()
	res, err := c.duckConn.ExecContext(ctx, a.text, args)
	c.gate.running.end(err)
	return res, a.told(err)
}

func (c *gated) PrepareContext(ctx context.Context, text string) (driver.Stmt, error) {
	a, err := c.pass(ctx, text)
	if err != nil {
		return nil, err
	}
	s, err := c.duckConn.PrepareContext(ctx, a.text)
	if err != nil {
		return nil, a.told(err)
	}
	inner, ok := s.(duckStmt)
	if !ok {
		return nil, errors.Join(errors.New("sql: the driver of DuckDB is of another version than evq was written for"), s.Close())
	}
	return &gatedStmt{inner, c, a}, nil
}

func (c *gated) Prepare(text string) (driver.Stmt, error) {
	return c.PrepareContext(context.Background(), text)
}

func (c *gated) Close() error {
	c.gate.contexts.Forget(c.id)
	return c.duckConn.Close()
}

// A duckStmt is what evq uses of a prepared statement of the driver.
type duckStmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// A gatedStmt was admitted when it was prepared.
type gatedStmt struct {
	duckStmt
	conn  *gated
	query *admitted
}

func (s *gatedStmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	s.conn.gate.contexts.Set(ctx, s.conn.id)
	s.conn.gate.running.begin()
	rows, err := s.duckStmt.QueryContext(ctx, args)
	s.conn.gate.running.end(err)
	return rows, s.query.told(err)
}

func (s *gatedStmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	s.conn.gate.contexts.Set(ctx, s.conn.id)
	s.conn.gate.running.begin()
	res, err := s.duckStmt.ExecContext(ctx, args)
	s.conn.gate.running.end(err)
	return res, s.query.told(err)
}
