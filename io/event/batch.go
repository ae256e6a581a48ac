// Package event defines what flows through evq: batches of camera events in time order.
//
// It is the bottom room. It knows Arrow and nothing of evq: not files, not plans, not devices.
package event

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// Schema is the canonical event schema: t in microseconds, x and y in pixels, p in {0, 1}.
var Schema = arrow.NewSchema([]arrow.Field{
	{Name: "t", Type: arrow.PrimitiveTypes.Int64},
	{Name: "x", Type: arrow.PrimitiveTypes.Uint16},
	{Name: "y", Type: arrow.PrimitiveTypes.Uint16},
	{Name: "p", Type: arrow.PrimitiveTypes.Int8},
}, nil)

// A Batch is a run of events in time order. It is immutable.
//
// A batch may lack x, y or p where its reader asked for other columns only; it always has t. Batches are
// garbage-collected; the one who reads a batch from a stream may hand its memory back early with Release.
type Batch struct {
	t    []int64
	x, y []uint16
	p    []int8
	buf  *Buffer
}

// New makes a batch over the given columns without copying them. x, y and p must be as long as t, or nil.
func New(t []int64, x, y []uint16, p []int8) Batch {
	for _, n := range []int{len(x), len(y), len(p)} {
		if n != len(t) && n != 0 {
			panic(fmt.Sprintf("event: columns of unequal length: t %d, x %d, y %d, p %d", len(t), len(x), len(y), len(p)))
		}
	}
	return Batch{t: t, x: x, y: y, p: p}
}

// Len returns the number of events.
func (b Batch) Len() int { return len(b.t) }

// T returns the times in microseconds. The caller must not modify them.
func (b Batch) T() []int64 { return b.t }

// X returns the columns of the pixels, or nil where they were not asked for. The caller must not modify them.
func (b Batch) X() []uint16 { return b.x }

// Y returns the rows of the pixels, or nil where they were not asked for. The caller must not modify them.
func (b Batch) Y() []uint16 { return b.y }

// P returns the polarities, 0 = OFF and 1 = ON, or nil where they were not asked for. The caller must not
// modify them.
func (b Batch) P() []int8 { return b.p }

// Slice returns events [i, j) without copying. The slice shares the memory of b and must not be used after
// b.Release.
func (b Batch) Slice(i, j int) Batch {
	out := Batch{t: b.t[i:j]}
	if len(b.x) > 0 {
		out.x = b.x[i:j]
	}
	if len(b.y) > 0 {
		out.y = b.y[i:j]
	}
	if len(b.p) > 0 {
		out.p = b.p[i:j]
	}
	return out
}

// Release hands the memory of a batch back to the pool it came from, if any. Only the reader that got the
// batch from a stream may call it, once, and nobody may use the batch or a slice of it afterwards. Calling
// it is never needed: a batch that is not released is garbage-collected.
func (b Batch) Release() {
	if b.buf != nil {
		b.buf.Release()
	}
}

// Record returns the batch as an Arrow record over the same memory. Columns the batch lacks are left out.
func (b Batch) Record() arrow.RecordBatch {
	var fields []arrow.Field
	var cols []arrow.Array
	add := func(i int, raw []byte) {
		f := Schema.Field(i)
		fields = append(fields, f)
		cols = append(cols, array.MakeFromData(array.NewData(f.Type, b.Len(), []*memory.Buffer{nil, memory.NewBufferBytes(raw)}, nil, 0, 0)))
	}
	add(0, arrow.Int64Traits.CastToBytes(b.t))
	if len(b.x) == len(b.t) {
		add(1, arrow.Uint16Traits.CastToBytes(b.x))
	}
	if len(b.y) == len(b.t) {
		add(2, arrow.Uint16Traits.CastToBytes(b.y))
	}
	if len(b.p) == len(b.t) {
		add(3, arrow.Int8Traits.CastToBytes(b.p))
	}
	return array.NewRecordBatch(arrow.NewSchema(fields, nil), cols, int64(b.Len()))
}

// FromRecord views an Arrow record in the canonical schema as a batch without copying. The record must
// outlive the batch.
func FromRecord(r arrow.RecordBatch) (Batch, error) {
	if !r.Schema().Equal(Schema) {
		return Batch{}, fmt.Errorf("event: schema %v is not the event schema %v", r.Schema(), Schema)
	}
	return New(r.Column(0).(*array.Int64).Int64Values(), r.Column(1).(*array.Uint16).Uint16Values(),
		r.Column(2).(*array.Uint16).Uint16Values(), r.Column(3).(*array.Int8).Int8Values()), nil
}
