//go:build duckdb

package sql

import (
	"context"
	dbsql "database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"

	"github.com/duckdb/duckdb-go/v2"
	"github.com/duckdb/duckdb-go/v2/mapping"

	"github.com/evq-project/evq/engine"
	"github.com/evq-project/evq/sql/duck"
)

// Built reports whether this program has DuckDB.
const Built = true

// guarded reports whether aggregates are kept from crashing by more than the text of a query.
func guarded() bool { return duck.Guarded() }

// leastMemory is below what DuckDB runs with at all.
const leastMemory = 64 << 20

// Open opens a session. No extension is ever loaded or installed by itself, so that no query reaches the network.
func Open(ctx context.Context, o Options) (s *Session, err error) {
	s = &Session{options: o}
	if s.allow, err = newAllowed(o.Allow); err != nil {
		return nil, err
	}
	if o.Memory != 0 && o.Memory < leastMemory {
		return nil, fmt.Errorf("sql: %d bytes of memory are too few; 64 MiB are the least", o.Memory)
	}
	connector, err := duckdb.NewConnector("?"+s.settings().Encode(), nil)
	if err != nil {
		return nil, fmt.Errorf("sql: %w", err)
	}
	s.inner = dbsql.OpenDB(connector) // closes the connector with itself
	s.closing = append(s.closing, s.inner.Close)
	if err := s.prepare(ctx, connector); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// settings are those that hold from the start.
func (s *Session) settings() url.Values {
	v := url.Values{}
	v.Set("autoinstall_known_extensions", "false")
	v.Set("autoload_known_extensions", "false")
	v.Set("allow_community_extensions", "false")
	if s.options.Threads > 0 {
		v.Set("threads", strconv.Itoa(s.options.Threads))
	}
	if s.options.TempDir == "" { // DuckDB makes it when it spills
		dir := filepath.Join(os.TempDir(), fmt.Sprintf("evq-sql-%d-%08x", os.Getpid(), rand.Uint32()))
		s.options.TempDir = dir
		s.closing = append(s.closing, func() error { return os.RemoveAll(dir) })
	}
	v.Set("temp_directory", s.options.TempDir)
	return v
}

// prepare registers the functions, opens the gate, and locks what is to stay as it is.
func (s *Session) prepare(ctx context.Context, connector *duckdb.Connector) error {
	con, err := s.inner.Conn(ctx)
	if err != nil {
		return fmt.Errorf("sql: %w", err)
	}
	defer func() { _ = con.Close() }()
	if err := s.memory(ctx, con); err != nil {
		return err
	}
	if s.catalog, err = s.newCatalog(); err != nil {
		return err
	}
	s.guarded, s.positions = s.catalog.guarded(), s.catalog.positions()
	contexts := &duck.Contexts{}
	budget := duck.NewBudget(s.shares.groups)
	s.held = budget.Used
	if err := con.Raw(func(c any) error { return s.register(c, contexts, budget) }); err != nil {
		return err
	}
	for _, h := range helpers {
		if err := s.registerHelper(con, h); err != nil {
			return err
		}
	}
	duckdb.RegisterReplacementScan(connector, s.replace)
	statements := s.locks()
	for _, m := range macros {
		statements = append([]string{m.create}, statements...)
	}
	for _, text := range statements {
		if _, err := con.ExecContext(ctx, text); err != nil {
			return fmt.Errorf("sql: %s: %w", text, err)
		}
	}
	s.outer = dbsql.OpenDB(&gate{connector, s.admit, connectionID, contexts, running{reclaim: budget.Reclaim}})
	s.closing = append([]func() error{s.outer.Close}, append(s.closing, budget.Free)...)
	return nil
}

// memory halves what there is between DuckDB and evq's functions.
func (s *Session) memory(ctx context.Context, con *dbsql.Conn) error {
	half := s.options.Memory / 2
	s.shares = shares{half, half, half}
	if half == 0 {
		all, err := ownLimit(ctx, con)
		if err != nil {
			return err
		}
		half = max(all, leastMemory) / 2
		s.shares = shares{half, half, min(half, engine.DefaultMemory)}
	}
	_, err := con.ExecContext(ctx, fmt.Sprintf("SET memory_limit = '%dB'", s.shares.duck))
	if err != nil {
		return fmt.Errorf("sql: %w", err)
	}
	return nil
}

// ownLimit is what DuckDB would take by itself: four fifths of the memory that the process may have.
func ownLimit(ctx context.Context, con *dbsql.Conn) (int64, error) {
	var text string
	if err := con.QueryRowContext(ctx, "SELECT current_setting('memory_limit')").Scan(&text); err != nil {
		return 0, fmt.Errorf("sql: %w", err)
	}
	n, unit, _ := strings.Cut(text, " ")
	v, err := strconv.ParseFloat(n, 64)
	scale, ok := map[string]float64{"bytes": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}[unit]
	if err != nil || !ok {
		return 0, fmt.Errorf("sql: DuckDB's memory limit %q is no amount of memory; give one", text)
	}
	return int64(v * scale), nil
}

// locks are the statements that take rights away.
func (s *Session) locks() []string {
	var out []string
	if s.allow != nil {
		folders, files := s.allow.split()
		out = append(out, "SET allowed_directories = "+list(folders), "SET allowed_paths = "+list(files), "SET enable_external_access = false")
	}
	if s.allow != nil || s.options.ReadOnly {
		out = append(out, "SET lock_configuration = true")
	}
	return out
}

func list(texts []string) string {
	parts := make([]string, len(texts))
	for i, t := range texts {
		parts[i] = literal(t)
	}
	return "[" + strings.Join(parts, ", ") + "]::VARCHAR[]"
}

// register hands the functions to DuckDB through its C API.
func (s *Session) register(c any, contexts *duck.Contexts, budget *duck.Budget) error {
	con, err := raw(c)
	if err != nil {
		return err
	}
	for _, t := range s.catalog.tables {
		if err := duck.RegisterTable(con, t, contexts); err != nil {
			return err
		}
	}
	for _, a := range s.catalog.aggregates {
		if err := duck.RegisterAggregate(con, a, budget); err != nil {
			return err
		}
	}
	return nil
}

// raw returns DuckDB's own connection, which the driver keeps to itself: it has no call for aggregates. It is only read.
func raw(c any) (mapping.Connection, error) {
	v := reflect.ValueOf(c)
	if v.Kind() == reflect.Pointer {
		if f := v.Elem().FieldByName("conn"); f.IsValid() && f.Type() == reflect.TypeFor[mapping.Connection]() {
			return mapping.Connection{Ptr: f.FieldByName("Ptr").UnsafePointer()}, nil
		}
	}
	return mapping.Connection{}, errors.New("sql: the driver of DuckDB is of another version than evq was written for")
}

// connectionID returns the number by which functions know a connection.
func connectionID(c driver.Conn) (uint64, error) {
	con, err := raw(c)
	if err != nil {
		return 0, err
	}
	var client mapping.ClientContext
	mapping.ConnectionGetClientContext(con, &client)
	defer mapping.DestroyClientContext(&client)
	return uint64(mapping.ClientContextGetConnectionId(client)), nil
}
