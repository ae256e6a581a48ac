//go:build duckdb

package duck

/*
#include <stdlib.h>
#include "aggregate.h"
void evqDelete(void *);
typedef void (*evq_delete)(void *);
*/
import "C"

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/duckdb/duckdb-go/v2/mapping"

	"github.com/evq-project/evq/io/event"
)

// A Budget bounds what the groups of all queries of one database hold. DuckDB does not know of that memory.
type Budget struct {
	limit int64
	c     *C.evq_budget
}

// NewBudget returns a budget of so many bytes. Free it when the database is closed.
func NewBudget(limit int64) *Budget {
	return &Budget{limit, (*C.evq_budget)(C.calloc(1, C.sizeof_evq_budget))}
}

// Used returns the bytes that are held.
func (b *Budget) Used() int64 { return atomic.LoadInt64((*int64)(&b.c.used)) }

// Reclaim frees what stopped queries left behind, which DuckDB does not all destroy. No query may run meanwhile.
func (b *Budget) Reclaim() { C.evq_reclaim(b.c) }

// Free frees the budget. It stays where groups do: those of a connection that was not closed, or that were left behind.
func (b *Budget) Free() error {
	if b.c.first == nil {
		C.free(unsafe.Pointer(b.c))
	}
	return nil
}

// An aggregate is one of one database.
type aggregate struct {
	Aggregate
	budget *Budget

	mu     sync.Mutex
	params []any          // by number
	number map[string]int // by the arguments as text
}

// mostParams bounds how many different arguments one session may call an aggregate with.
const mostParams = 1 << 16

// RegisterAggregate makes an aggregate known to the database of a connection.
func RegisterAggregate(con mapping.Connection, f Aggregate, budget *Budget) error {
	name := C.CString(f.Name)
	defer C.free(unsafe.Pointer(name))
	set := C.duckdb_create_aggregate_function_set(name)
	defer C.duckdb_destroy_aggregate_function_set(&set) //nolint:gocritic // of what cgo writes
	shared := &aggregate{Aggregate: f, budget: budget, number: map[string]int{}}
	for more := f.Least; more <= f.Most; more++ {
		fn := C.duckdb_create_aggregate_function()
		C.duckdb_aggregate_function_set_name(fn, name)
		parameters := []mapping.Type{mapping.TypeBigInt, mapping.TypeInteger, mapping.TypeInteger, mapping.TypeAny}
		for range more {
			parameters = append(parameters, mapping.TypeAny)
		}
		for _, id := range parameters {
			t := mapping.CreateLogicalType(id)
			C.duckdb_aggregate_function_add_parameter(fn, t.Ptr)
			mapping.DestroyLogicalType(&t)
		}
		t := mapping.CreateLogicalType(mapping.TypeBlob)
		C.duckdb_aggregate_function_set_return_type(fn, t.Ptr)
		mapping.DestroyLogicalType(&t)
		C.duckdb_aggregate_function_set_extra_info(fn, handle(shared), unsafe.Pointer(C.evq_delete(C.evqDelete)))
		C.evq_setup(fn)
		failed := C.duckdb_add_aggregate_function_to_set(set, fn)
		C.duckdb_destroy_aggregate_function(&fn) //nolint:gocritic // of what cgo writes
		if failed != 0 {
			return fmt.Errorf("sql: the aggregate %s could not be made", f.Name)
		}
	}
	if C.duckdb_register_aggregate_function_set(con.Ptr, set) != 0 {
		return fmt.Errorf("sql: the aggregate %s could not be registered", f.Name)
	}
	return nil
}

// Guarded reports whether calls that would crash DuckDB are found when they run, beside being refused from their text.
func Guarded() bool { return bool(C.evq_guarded()) }

func aggregateOf(info unsafe.Pointer) *aggregate {
	return held[*aggregate](C.duckdb_aggregate_function_get_extra_info(info))
}

// report hands an error to DuckDB, which ends the query with it.
func report(info unsafe.Pointer, err error) {
	if err != nil {
		text := C.CString(err.Error())
		C.duckdb_aggregate_function_set_error(info, text)
		C.free(unsafe.Pointer(text))
	}
}

//export evqUpdate
func evqUpdate(info, chunk unsafe.Pointer, states **C.evq_slot) {
	report(info, aggregateOf(info).update(mapping.DataChunk{Ptr: chunk}, states))
}

//export evqCombine
func evqCombine(info unsafe.Pointer, source, target **C.evq_slot, n C.uint64_t) {
	report(info, aggregateOf(info).combine(unsafe.Slice(source, n), unsafe.Slice(target, n)))
}

//export evqFinalize
func evqFinalize(info unsafe.Pointer, states **C.evq_slot, result unsafe.Pointer, n, offset C.uint64_t) {
	report(info, aggregateOf(info).finalize(unsafe.Slice(states, n), mapping.Vector{Ptr: result}, int(offset)))
}

// A column is an argument of the rows of a chunk.
type column struct {
	vector mapping.Vector
	data   unsafe.Pointer
	valid  unsafe.Pointer // nil where every row is
}

func columnAt(chunk mapping.DataChunk, i int) column {
	v := mapping.DataChunkGetVector(chunk, mapping.IdxT(i))
	return column{v, mapping.VectorGetData(v), mapping.VectorGetValidity(v)}
}

func (c column) isNull(i int) bool {
	return c.valid != nil && unsafe.Slice((*uint64)(c.valid), i/64+1)[i/64]>>(i%64)&1 == 0
}

// update adds the rows of a chunk to their groups.
func (a *aggregate) update(chunk mapping.DataChunk, states **C.evq_slot) (err error) {
	defer guard(a.Name, &err)
	n := int(mapping.DataChunkGetSize(chunk))
	if n == 0 {
		return nil
	}
	cols := [4]column{}
	for i := range cols {
		cols[i] = columnAt(chunk, i)
	}
	polarities, err := a.polarities(cols[3], n)
	if err != nil {
		return err
	}
	one := bool(C.evq_one_state(states, C.uint64_t(n)))
	slots := unsafe.Slice(states, n)
	ts, xs, ys := unsafe.Slice((*int64)(cols[0].data), n), unsafe.Slice((*int32)(cols[1].data), n), unsafe.Slice((*int32)(cols[2].data), n)
	nulls := cols[0].valid != nil || cols[1].valid != nil || cols[2].valid != nil || cols[3].valid != nil
	for i, t := range ts {
		if nulls && (cols[0].isNull(i) || cols[1].isNull(i) || cols[2].isNull(i) || cols[3].isNull(i)) {
			continue
		}
		slot := slots[0]
		if !one {
			slot = slots[i]
		}
		e := slot.events
		if e == nil {
			if e, err = a.begin(chunk, i); err != nil {
				return err
			}
			slot.events = e
		}
		if e.n == e.cap {
			if err := a.grow(e, e.n+1); err != nil {
				return err
			}
		}
		k := uintptr(e.n)
		*(*int64)(unsafe.Add(unsafe.Pointer(e.t), k*8)) = t
		*(*uint16)(unsafe.Add(unsafe.Pointer(e.x), k*2)) = pixel(xs[i])
		*(*uint16)(unsafe.Add(unsafe.Pointer(e.y), k*2)) = pixel(ys[i])
		*(*int8)(unsafe.Add(unsafe.Pointer(e.p), k)) = polarities[i]
		e.n++
	}
	return nil
}

// pixel returns a coordinate as events have it; what no sensor reaches becomes one that none does.
func pixel(v int32) uint16 {
	if v < 0 || v > math.MaxUint16 {
		return math.MaxUint16
	}
	return uint16(v)
}

// polarities reads a column of any integer type, or of booleans.
func (a *aggregate) polarities(c column, n int) ([]int8, error) {
	t := mapping.VectorGetColumnType(c.vector)
	id := mapping.GetTypeId(t)
	mapping.DestroyLogicalType(&t)
	switch id {
	case mapping.TypeBoolean, mapping.TypeTinyInt, mapping.TypeUTinyInt:
		return unsafe.Slice((*int8)(c.data), n), nil // other values than 0 and 1 are found by who counts
	case mapping.TypeSmallInt, mapping.TypeUSmallInt:
		return narrow(unsafe.Slice((*int16)(c.data), n)), nil
	case mapping.TypeInteger, mapping.TypeUInteger:
		return narrow(unsafe.Slice((*int32)(c.data), n)), nil
	case mapping.TypeBigInt, mapping.TypeUBigInt:
		return narrow(unsafe.Slice((*int64)(c.data), n)), nil
	case mapping.TypeSQLNull:
		return make([]int8, n), nil // every row is NULL
	default:
		return nil, fmt.Errorf("%s: p is a whole number or a boolean; write p::INTEGER", a.Name)
	}
}

func narrow[T int16 | int32 | int64](from []T) []int8 {
	out := make([]int8, len(from))
	for i, v := range from {
		if out[i] = int8(v); v != 0 && v != 1 {
			out[i] = -1
		}
	}
	return out
}

// begin makes the state of a group, whose first row is row i.
func (a *aggregate) begin(chunk mapping.DataChunk, i int) (*C.evq_events, error) {
	number, err := a.paramsOf(chunk, i)
	if err != nil {
		return nil, err
	}
	e := C.evq_new(a.budget.c)
	if e == nil {
		return nil, a.full()
	}
	e.params = C.int32_t(number)
	return e, nil
}

// paramsOf returns the number of the arguments that follow the events', in row i.
func (a *aggregate) paramsOf(chunk mapping.DataChunk, i int) (int, error) {
	args := make([]any, int(mapping.DataChunkGetColumnCount(chunk))-4)
	for k := range args {
		var err error
		if args[k], err = columnAt(chunk, k+4).value(i); err != nil {
			return 0, fmt.Errorf("%s: argument %d: %w", a.Name, k+5, err)
		}
	}
	key := fmt.Sprintf("%#v", args)
	a.mu.Lock()
	defer a.mu.Unlock()
	if n, ok := a.number[key]; ok {
		return n, nil
	}
	if len(a.params) == mostParams {
		return 0, fmt.Errorf("%s: more than %d different parameters; use the same ones for all groups", a.Name, mostParams)
	}
	p, err := a.Params(args)
	if err != nil {
		return 0, err
	}
	a.params = append(a.params, p)
	a.number[key] = len(a.params) - 1
	return len(a.params) - 1, nil
}

func (a *aggregate) grow(e *C.evq_events, need C.int64_t) error {
	if C.evq_grow(e, need, C.int64_t(a.budget.limit)) != 0 {
		return a.full()
	}
	return nil
}

func (a *aggregate) full() error {
	return fmt.Errorf("%s: %w (%d MiB); narrow the time range, raise the memory limit, or use the table function %s('recording', …), which holds one window at a time",
		a.Name, ErrMemory, a.budget.limit>>20, a.Name)
}

// combine adds the events of source groups to target groups.
func (a *aggregate) combine(source, target []*C.evq_slot) (err error) {
	defer guard(a.Name, &err)
	for i, from := range source {
		s, t := from.events, target[i].events
		if s == nil || s == t {
			continue
		}
		if t == nil {
			from.events, target[i].events = nil, s
			continue
		}
		if err := a.grow(t, t.n+s.n); err != nil {
			return err
		}
		copyTo(t, s)
	}
	return nil
}

func copyTo(t, s *C.evq_events) {
	at, n := int(t.n), int(s.n)
	t.n += s.n
	copy(unsafe.Slice((*int64)(t.t), t.n)[at:], unsafe.Slice((*int64)(s.t), n))
	copy(unsafe.Slice((*uint16)(t.x), t.n)[at:], unsafe.Slice((*uint16)(s.x), n))
	copy(unsafe.Slice((*uint16)(t.y), t.n)[at:], unsafe.Slice((*uint16)(s.y), n))
	copy(unsafe.Slice((*int8)(t.p), t.n)[at:], unsafe.Slice((*int8)(s.p), n))
}

// batchOf views the events of a group.
func batchOf(e *C.evq_events) event.Batch {
	n := e.n
	return event.New(unsafe.Slice((*int64)(e.t), n), unsafe.Slice((*uint16)(e.x), n), unsafe.Slice((*uint16)(e.y), n), unsafe.Slice((*int8)(e.p), n))
}

// finalize sets a block for each group, from place offset of the result on.
func (a *aggregate) finalize(states []*C.evq_slot, result mapping.Vector, offset int) (err error) {
	defer guard(a.Name, &err)
	open := map[C.int32_t]Encoder{}
	defer func() {
		for _, e := range open {
			err = errors.Join(err, e.Close())
		}
	}()
	for i, s := range states {
		if s.events == nil {
			mapping.VectorEnsureValidityWritable(result)
			mapping.ValiditySetRowInvalid(mapping.VectorGetValidity(result), mapping.IdxT(offset+i))
			continue
		}
		e := open[s.events.params]
		if e == nil {
			if e, err = a.open(s.events.params); err != nil {
				return err
			}
			open[s.events.params] = e
		}
		block, err := e.Encode(inOrder(batchOf(s.events)))
		if err != nil {
			return err
		}
		if !assign(result, offset+i, block) {
			return fmt.Errorf("%s: %w: block %d of at least %d, of %d bytes each; narrow the time range, raise the memory limit, or use the table function %s('recording', …), which holds one window at a time",
				a.Name, ErrBlocks, i+1, len(states), len(block), a.Name)
		}
	}
	return nil
}

func (a *aggregate) open(number C.int32_t) (Encoder, error) {
	a.mu.Lock()
	params := a.params[number]
	a.mu.Unlock()
	return a.Open(params)
}

// value reads row i as an argument.
func (c column) value(i int) (any, error) {
	if c.isNull(i) {
		return nil, nil
	}
	t := mapping.VectorGetColumnType(c.vector)
	defer mapping.DestroyLogicalType(&t)
	at := func(size int) unsafe.Pointer { return unsafe.Add(c.data, i*size) }
	switch id := mapping.GetTypeId(t); id {
	case mapping.TypeSQLNull:
		return nil, nil
	case mapping.TypeBoolean:
		return *(*bool)(at(1)), nil
	case mapping.TypeTinyInt:
		return int64(*(*int8)(at(1))), nil
	case mapping.TypeUTinyInt:
		return int64(*(*uint8)(at(1))), nil
	case mapping.TypeSmallInt:
		return int64(*(*int16)(at(2))), nil
	case mapping.TypeUSmallInt:
		return int64(*(*uint16)(at(2))), nil
	case mapping.TypeInteger:
		return int64(*(*int32)(at(4))), nil
	case mapping.TypeUInteger:
		return int64(*(*uint32)(at(4))), nil
	case mapping.TypeBigInt:
		return *(*int64)(at(8)), nil
	case mapping.TypeFloat:
		return float64(*(*float32)(at(4))), nil
	case mapping.TypeDouble:
		return *(*float64)(at(8)), nil
	case mapping.TypeDecimal:
		return decimal(t, at), nil
	case mapping.TypeVarchar:
		return text(at(16)), nil
	case mapping.TypeStruct:
		return c.structAt(t, i)
	default:
		return nil, fmt.Errorf("a value of type %d cannot be a parameter; use a number, a word or a struct", id)
	}
}

// decimal reads a number such as 0.5, which is a decimal to DuckDB.
func decimal(t mapping.LogicalType, at func(int) unsafe.Pointer) float64 {
	var v float64
	switch mapping.DecimalInternalType(t) {
	case mapping.TypeSmallInt:
		v = float64(*(*int16)(at(2)))
	case mapping.TypeInteger:
		v = float64(*(*int32)(at(4)))
	case mapping.TypeBigInt:
		v = float64(*(*int64)(at(8)))
	default: // of 128 bits
		half := unsafe.Slice((*uint64)(at(16)), 2)
		v = float64(int64(half[1]))*(1<<64) + float64(half[0])
	}
	return v / math.Pow10(int(mapping.DecimalScale(t)))
}

// text reads a string: its length, then up to 12 bytes in place, or 4 of them and where all are.
func text(p unsafe.Pointer) string {
	n := *(*uint32)(p)
	if n <= 12 {
		return string(unsafe.Slice((*byte)(unsafe.Add(p, 4)), n))
	}
	return string(unsafe.Slice(*(**byte)(unsafe.Add(p, 8)), n))
}

func (c column) structAt(t mapping.LogicalType, i int) (Struct, error) {
	out := make(Struct, mapping.StructTypeChildCount(t))
	for k := range out {
		v := mapping.StructVectorGetChild(c.vector, mapping.IdxT(k))
		value, err := column{v, mapping.VectorGetData(v), mapping.VectorGetValidity(v)}.value(i)
		if err != nil {
			return nil, err
		}
		out[k] = Field{mapping.StructTypeChildName(t, mapping.IdxT(k)), value}
	}
	return out, nil
}
