//go:build duckdb

package duck

/*
#include <stdlib.h>
#include <stdint.h>
void evqTableBind(void *);
void evqTableInit(void *);
void evqTableFill(void *, void *);
void evqDelete(void *);
typedef void (*evq_one)(void *);
typedef void (*evq_two)(void *, void *);
*/
import "C"

import (
	"context"
	"errors"
	"fmt"
	"runtime/cgo"
	"unsafe"

	"github.com/duckdb/duckdb-go/v2/mapping"
)

// handle puts a Go value where C can hold it. evqDelete frees it, and closes the value where it can be closed.
func handle(v any) unsafe.Pointer {
	p := C.malloc(C.size_t(unsafe.Sizeof(cgo.Handle(0))))
	*(*cgo.Handle)(p) = cgo.NewHandle(v)
	return p
}

// held returns the Go value of a handle.
func held[T any](p unsafe.Pointer) T { return (*(*cgo.Handle)(p)).Value().(T) }

//export evqDelete
func evqDelete(p unsafe.Pointer) {
	h := *(*cgo.Handle)(p)
	v := h.Value()
	h.Delete()
	C.free(p)
	if c, ok := v.(interface{ Close() error }); ok {
		defer func() { _ = recover() }() // nobody is left to be told
		_ = c.Close()
	}
}

// A registered function is a table function of one database.
type registered struct {
	TableFunction
	contexts *Contexts
}

// RegisterTable makes a table function known to the database of a connection.
//
// The C API knows no overloads of table functions: there is one positional argument, and those that may follow are
// named arguments to DuckDB, by the names that Positional gives.
func RegisterTable(con mapping.Connection, f TableFunction, contexts *Contexts) error {
	fn := mapping.CreateTableFunction()
	defer mapping.DestroyTableFunction(&fn)
	mapping.TableFunctionSetName(fn, f.Name)
	anything := mapping.CreateLogicalType(mapping.TypeAny)
	defer mapping.DestroyLogicalType(&anything)
	mapping.TableFunctionAddParameter(fn, anything)
	for i := 1; i < f.Most; i++ {
		mapping.TableFunctionAddNamedParameter(fn, Positional(i), anything)
	}
	for _, name := range f.Named {
		mapping.TableFunctionAddNamedParameter(fn, name, anything)
	}
	mapping.TableFunctionSetExtraInfo(fn, handle(&registered{f, contexts}), unsafe.Pointer(C.evq_one(C.evqDelete)))
	mapping.TableFunctionSupportsProjectionPushdown(fn, true)
	mapping.TableFunctionSetBind(fn, unsafe.Pointer(C.evq_one(C.evqTableBind)))
	mapping.TableFunctionSetInit(fn, unsafe.Pointer(C.evq_one(C.evqTableInit)))
	mapping.TableFunctionSetFunction(fn, unsafe.Pointer(C.evq_two(C.evqTableFill)))
	if mapping.RegisterTableFunction(con, fn) == mapping.StateError {
		return fmt.Errorf("sql: the table function %s could not be registered", f.Name)
	}
	return nil
}

// A bound is a call of a table function.
type bound struct {
	name    string
	table   Table
	columns []Column
	context func() context.Context // of the query that runs: a prepared one is bound under another
}

// Close ends the call.
func (b *bound) Close() error { return b.table.Close() }

//export evqTableBind
func evqTableBind(p unsafe.Pointer) {
	info := mapping.BindInfo{Ptr: p}
	if err := bind(info); err != nil {
		mapping.BindSetError(info, err.Error())
	}
}

func bind(info mapping.BindInfo) (err error) {
	f := held[*registered](mapping.BindGetExtraInfo(info))
	defer guard(f.Name, &err)
	args, err := arguments(info, f.TableFunction)
	if err != nil {
		return fmt.Errorf("%s: %w", f.Name, err)
	}
	var client mapping.ClientContext
	mapping.TableFunctionGetClientContext(info, &client)
	id := uint64(mapping.ClientContextGetConnectionId(client))
	mapping.DestroyClientContext(&client)
	running := func() context.Context { return f.contexts.of(id) }
	table, err := f.Bind(running(), args)
	if err != nil {
		return err
	}
	b := &bound{f.Name, table, table.Columns(), running}
	for _, c := range b.columns {
		t := mapping.CreateLogicalType(typeOf[c.Type])
		mapping.BindAddResultColumn(info, c.Name, t)
		mapping.DestroyLogicalType(&t)
	}
	if sized, ok := table.(interface{ Rows() int64 }); ok {
		if n := sized.Rows(); n >= 0 {
			mapping.BindSetCardinality(info, mapping.IdxT(n), false)
		}
	}
	mapping.BindSetBindData(info, handle(b), unsafe.Pointer(C.evq_one(C.evqDelete)))
	return nil
}

var typeOf = [...]mapping.Type{
	Bigint: mapping.TypeBigInt, Integer: mapping.TypeInteger, Boolean: mapping.TypeBoolean,
	Double: mapping.TypeDouble, Varchar: mapping.TypeVarchar, Blob: mapping.TypeBlob,
}

// arguments reads what a call was given. A named argument that was left out has no value at all.
func arguments(info mapping.BindInfo, f TableFunction) (Args, error) {
	a := Args{Named: map[string]any{}}
	first := mapping.BindGetParameter(info, 0)
	value, err := valueOf(first)
	mapping.DestroyValue(&first)
	if err != nil {
		return a, fmt.Errorf("argument 1: %w", err)
	}
	a.Positional = append(a.Positional, value)
	for i := 1; i < f.Most && err == nil; i++ {
		var given bool
		if value, given, err = argument(info, Positional(i)); given {
			a.Positional = append(a.Positional, value)
		}
	}
	for _, name := range f.Named {
		if err != nil {
			break
		}
		var given bool
		if value, given, err = argument(info, name); given {
			a.Named[name] = value
		}
	}
	return a, err
}

func argument(info mapping.BindInfo, name string) (value any, given bool, err error) {
	v := mapping.BindGetNamedParameter(info, name)
	if v.Ptr == nil {
		return nil, false, nil
	}
	value, err = valueOf(v)
	mapping.DestroyValue(&v)
	if err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return value, true, err
}

// A scan is one pass over a bound table.
type scan struct {
	name  string
	rows  Rows
	place []int // of each column of the table: its place in DuckDB's chunk, or -1
}

// Close ends the scan, also where the query stopped early.
func (s *scan) Close() error { return s.rows.Close() }

//export evqTableInit
func evqTableInit(p unsafe.Pointer) {
	info := mapping.InitInfo{Ptr: p}
	if err := open(info); err != nil {
		mapping.InitSetError(info, err.Error())
	}
}

func open(info mapping.InitInfo) (err error) {
	b := held[*bound](mapping.InitGetBindData(info))
	defer guard(b.name, &err)
	s := &scan{name: b.name, place: make([]int, len(b.columns))}
	wanted := make([]bool, len(b.columns))
	for i := range s.place {
		s.place[i] = -1
	}
	for i := range int(mapping.InitGetColumnCount(info)) {
		// Where the query only counts, the one column is a row id, which is none of ours.
		if at := mapping.InitGetColumnIndex(info, mapping.IdxT(i)); at < mapping.IdxT(len(b.columns)) {
			s.place[at], wanted[at] = i, true
		}
	}
	if s.rows, err = b.table.Open(b.context(), wanted); err != nil {
		return err
	}
	mapping.InitSetMaxThreads(info, 1) // events and windows come in order
	mapping.InitSetInitData(info, handle(s), unsafe.Pointer(C.evq_one(C.evqDelete)))
	return nil
}

//export evqTableFill
func evqTableFill(p, out unsafe.Pointer) {
	info := mapping.FunctionInfo{Ptr: p}
	if err := fill(info, mapping.DataChunk{Ptr: out}); err != nil {
		mapping.FunctionSetError(info, err.Error())
	}
}

func fill(info mapping.FunctionInfo, out mapping.DataChunk) (err error) {
	s := held[*scan](mapping.FunctionGetInitData(info))
	defer guard(s.name, &err)
	c := Chunk{Cap: int(mapping.VectorSize()), Vectors: make([]Vector, len(s.place))}
	for i, at := range s.place {
		if at < 0 {
			continue
		}
		v := mapping.DataChunkGetVector(out, mapping.IdxT(at))
		c.Vectors[i] = Vector{Wanted: true, data: mapping.VectorGetData(v), cap: c.Cap,
			bytes: func(i int, b []byte) bool { return assign(v, i, b) },
			null: func(i int) {
				mapping.VectorEnsureValidityWritable(v)
				mapping.ValiditySetRowInvalid(mapping.VectorGetValidity(v), mapping.IdxT(i))
			},
		}
	}
	if err := s.rows.Next(&c); err != nil {
		if errors.Is(err, context.Canceled) {
			return errors.New("the query was interrupted")
		}
		return err
	}
	mapping.DataChunkSetSize(out, mapping.IdxT(c.N))
	return nil
}
