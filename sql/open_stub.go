//go:build !duckdb

package sql

import "context"

// Built reports whether this program has DuckDB.
const Built = false

// Open returns ErrUnsupported: this program was built without DuckDB.
func Open(context.Context, Options) (*Session, error) { return nil, ErrUnsupported }

func guarded() bool { return false }
