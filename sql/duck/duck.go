// Package duck is what evq needs of DuckDB's C API beyond its Go driver: table functions that take named arguments
// and are told when a scan ends, and aggregates over events.
//
// It knows vectors and events; it refuses to know recordings, plans and the text of queries. It is built with the
// tag duckdb; without it there are only the types.
package duck

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"unsafe"

	"github.com/evq-project/evq/io/event"
)

// A Type is the type of a column.
type Type uint8

// The types of columns.
const (
	Bigint Type = iota
	Integer
	Boolean
	Double
	Varchar
	Blob
)

// A Column is a column that a table function yields.
type Column struct {
	Name string
	Type Type
}

// Args are the arguments of a call: nil for NULL, bool, int64, float64, string, []any or Struct.
type Args struct {
	Positional []any
	Named      map[string]any // those that were given
}

// A Struct is a value with named fields, in order.
type Struct []Field

// A Field is a field of a Struct.
type Field struct {
	Name  string
	Value any
}

// A TableFunction is a function that is queried like a table.
type TableFunction struct {
	Name  string
	Most  int      // positional arguments, of any type, that can be given, one at least; Bind says which must be
	Named []string // named arguments, of any type
	// Bind checks the arguments and says which columns there will be. ctx is that of the query.
	Bind func(ctx context.Context, a Args) (Table, error)
}

// Positional is what the positional argument i, from 1 on, is called to DuckDB.
func Positional(i int) string { return fmt.Sprintf("argument_%d", i+1) }

// A Table is a call of a table function.
type Table interface {
	Columns() []Column
	// Open starts a scan under the context of the query that runs; wanted says which columns it reads.
	Open(ctx context.Context, wanted []bool) (Rows, error)
	// Close ends the call. A table that was bound is closed once, after its scans.
	Close() error
}

// Rows is a scan of a table. It serves one goroutine at a time.
type Rows interface {
	// Next sets up to c.Cap rows of the wanted columns and c.N; c.N is 0 after the last row.
	Next(c *Chunk) error
	Close() error
}

// A Chunk is rows to be set.
type Chunk struct {
	Cap, N  int
	Vectors []Vector // one for each column of the table
}

// A Vector is a column of a chunk.
type Vector struct {
	Wanted bool
	data   unsafe.Pointer
	cap    int
	bytes  func(i int, b []byte) bool
	null   func(i int)
}

// Int64s returns the memory of a Bigint column.
func (v *Vector) Int64s() []int64 { return unsafe.Slice((*int64)(v.data), v.cap) }

// Int32s returns the memory of an Integer column.
func (v *Vector) Int32s() []int32 { return unsafe.Slice((*int32)(v.data), v.cap) }

// Float64s returns the memory of a Double column.
func (v *Vector) Float64s() []float64 { return unsafe.Slice((*float64)(v.data), v.cap) }

// Bools returns the memory of a Boolean column.
func (v *Vector) Bools() []bool { return unsafe.Slice((*bool)(v.data), v.cap) }

// SetBytes sets row i of a Varchar or Blob column to a copy of b. It is ErrFull where DuckDB has no memory for it.
func (v *Vector) SetBytes(i int, b []byte) error {
	if !v.bytes(i, b) {
		return ErrFull
	}
	return nil
}

// SetNull makes row i NULL.
func (v *Vector) SetNull(i int) { v.null(i) }

// Set sets row i to a value of the column's type: int64, int32, float64, bool, string, or nil for NULL.
func (v *Vector) Set(i int, value any) error {
	switch x := value.(type) {
	case int64:
		v.Int64s()[i] = x
	case int32:
		v.Int32s()[i] = x
	case float64:
		v.Float64s()[i] = x
	case bool:
		v.Bools()[i] = x
	case string:
		return v.SetBytes(i, []byte(x))
	default:
		v.SetNull(i)
	}
	return nil
}

// An Aggregate makes one BLOB of the events of a group. Its first arguments are t BIGINT, x INTEGER, y INTEGER and p
// of any integer type or BOOLEAN; rows with a NULL among them are skipped, and a group without rows is NULL.
type Aggregate struct {
	Name string
	// Least and Most are how few and how many arguments of any type follow the events'.
	Least, Most int
	// Params makes what Open is told of the arguments that follow, of the first row of each group. It is called once
	// for arguments that are the same.
	Params func(args []any) (any, error)
	// Open readies an encoder for groups of the same parameters. It serves one goroutine.
	Open func(params any) (Encoder, error)
}

// An Encoder makes a block of the events of a group, which are in time order and whose memory must not be kept. The
// block is valid until the next one is made.
type Encoder interface {
	Encode(b event.Batch) ([]byte, error)
	Close() error
}

// ErrMemory reports that functions hold more events than their budget.
var ErrMemory = errors.New("the events of the groups of this query need more memory than is allowed")

// ErrBlocks reports that the blocks of all groups, which DuckDB holds at once, are more than its memory limit.
var ErrBlocks = errors.New("the blocks of this query need more memory than is allowed")

// ErrFull reports that DuckDB's own memory limit is reached.
var ErrFull = errors.New("DuckDB's memory limit is reached; raise the memory limit, or ask for fewer blocks at once")

// guard turns a panic of a callback into an error.
func guard(name string, err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("%s: %v (a defect of the function, not of the query)\n%s", name, r, debug.Stack())
	}
}
