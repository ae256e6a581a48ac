//go:build !duckdb

package sql

// plainOf makes a value of the driver one of Go's own types; without the driver there are no others.
func plainOf(v any) any { return v }
