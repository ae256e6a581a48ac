//go:build duckdb

package sql

import (
	dbsql "database/sql"
	"database/sql/driver"
	"fmt"
	"runtime/debug"

	"github.com/duckdb/duckdb-go/v2"
)

// registerHelper makes a scalar function known.
func (s *Session) registerHelper(con *dbsql.Conn, h helper) error {
	set := make([]duckdb.ScalarFunc, len(h.overloads))
	for i, o := range h.overloads {
		f, err := s.scalar(h.Name, o)
		if err != nil {
			return fmt.Errorf("sql: the function %s: %w", h.Name, err)
		}
		set[i] = f
	}
	if err := duckdb.RegisterScalarUDFSet(con, h.Name, set...); err != nil {
		return fmt.Errorf("sql: the function %s: %w", h.Name, err)
	}
	return nil
}

// A scalarFunc is a helper as the driver wants it.
type scalarFunc struct {
	config duckdb.ScalarFuncConfig
	call   duckdb.RowExecutorFn
}

func (f *scalarFunc) Config() duckdb.ScalarFuncConfig { return f.config }
func (f *scalarFunc) Executor() duckdb.ScalarFuncExecutor {
	return duckdb.ScalarFuncExecutor{RowExecutor: f.call}
}

func (s *Session) scalar(name string, o overload) (*scalarFunc, error) {
	f := &scalarFunc{}
	for i := range o.args {
		t, err := infoOf(o.args[i])
		if err != nil {
			return nil, err
		}
		f.config.InputTypeInfos = append(f.config.InputTypeInfos, t)
	}
	var err error
	f.config.ResultTypeInfo, err = infoOf(o.result)
	f.call = func(values []driver.Value) (result any, err error) {
		defer func() {
			if r := recover(); r != nil {
				err = fmt.Errorf("%s: %v (a defect of the function, not of the query)\n%s", name, r, debug.Stack())
			}
		}()
		args := make([]any, len(values))
		for i, v := range values {
			switch v := v.(type) {
			case nil:
				return nil, nil
			case []any:
				list := make([]int64, len(v))
				for k, one := range v {
					n, ok := one.(int64)
					if !ok {
						return nil, fmt.Errorf("%s: there is a NULL in a list; give integers", name)
					}
					list[k] = n
				}
				args[i] = list
			default:
				args[i] = v
			}
		}
		return o.call(s, args)
	}
	return f, err
}

// infoOf returns the type that a letter of an overload stands for.
func infoOf(letter byte) (duckdb.TypeInfo, error) {
	id := map[byte]duckdb.Type{'b': duckdb.TYPE_BLOB, 's': duckdb.TYPE_VARCHAR, 'i': duckdb.TYPE_BIGINT, 'l': duckdb.TYPE_BIGINT, 'n': duckdb.TYPE_DOUBLE, 'N': duckdb.TYPE_DOUBLE}[letter]
	t, err := duckdb.NewTypeInfo(id)
	if err == nil && (letter == 'l' || letter == 'N') {
		return duckdb.NewListInfo(t)
	}
	return t, err
}
