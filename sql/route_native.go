package sql

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/evq-project/evq/engine"
	"github.com/evq-project/evq/io/tensor"
	"github.com/evq-project/evq/sql/duck"
)

// A native is a query that the engine runs in DuckDB's place.
type native struct {
	shape  *shape
	rec    *engine.Recording
	opts   []engine.Option
	blocks engine.Tensors // where the shape has blocks
	counts engine.Table   // where it has none
	schema *arrow.Schema  // with DuckDB's own names
	losses *losses        // of the session
}

// native opens the recording of a shape and plans the query. Errors of type shapeError leave it to DuckDB.
func (s *Session) native(ctx context.Context, q *shape, schema *arrow.Schema) (*native, error) {
	a, err := newArguments("events", duck.Args{Positional: []any{q.path}}, "recording")
	if err != nil {
		return nil, err
	}
	a.text("recording")
	n := &native{shape: q, schema: schema, losses: &s.losses}
	if n.opts, err = s.reading(a, nil); err != nil {
		return nil, err
	}
	var f engine.Frame
	if n.rec, f, err = s.frame(ctx, q, n.opts); err != nil {
		return nil, err
	}
	by := engine.WholeRecording()
	if q.window > 0 {
		by = engine.Every(micros(q.window))
	}
	w := f.Window(by)
	if len(q.reps) == 0 {
		n.counts = w.Group().Table
		return n, nil
	}
	n.blocks = w.Represent(q.reps...)
	return n, nil
}

func (n *native) close() error { return n.rec.Close() }

// plan is what EXPLAIN shows.
func (n *native) plan() (string, error) {
	if len(n.shape.reps) > 0 {
		return n.blocks.Explain(n.opts...)
	}
	return n.counts.Explain(n.opts...)
}

// enough ends a run that has yielded its LIMIT.
var errEnough = errors.New("enough rows")

// each runs the query; passing says that do retains nothing.
func (n *native) each(ctx context.Context, do func(arrow.RecordBatch) error, passing bool) error {
	rows := &nativeRows{native: n, do: do, passing: passing, columns: make([]nativeColumn, len(n.shape.items)), left: n.shape.limit}
	for i := range rows.columns {
		rows.columns[i].reset()
	}
	if rows.left == 0 {
		return nil
	}
	var err error
	if len(n.shape.reps) > 0 {
		var met engine.Stats
		err = n.blocks.Each(ctx, rows.block, append(slices.Clip(n.opts), engine.Collected(&met))...)
		n.losses.dropped(n.shape.path, met.OffSensor, false)
	} else {
		err = n.counts.Each(ctx, rows.counted, n.opts...)
	}
	if err == nil && n.shape.window == 0 && !rows.some {
		err = rows.empty()
	}
	if err != nil && !errors.Is(err, errEnough) {
		return err
	}
	return rows.flush()
}

// nativeRows gathers the rows of a query.
type nativeRows struct {
	*native
	do      func(arrow.RecordBatch) error
	passing bool           // the memory of a record is used again for the next one
	columns []nativeColumn // one for each of shape.items
	given   int            // blocks of the window so far
	rows    int
	bytes   int
	left    int64 // rows until LIMIT, negative without
	some    bool  // a row was added
}

// A nativeColumn is a column of numbers, or of blocks. Only the one row of a group without events has no block.
type nativeColumn struct {
	numbers []int64
	data    []byte
	ends    []int32 // where the blocks end in data, after a leading 0
	none    bool
}

// block takes one block of a window; the last of its blocks completes the row. A window without events is no group.
func (r *nativeRows) block(b tensor.Block) error {
	if b.Events == 0 {
		return nil
	}
	if len(b.Data) > math.MaxInt32-bytesAtOnce {
		return fmt.Errorf("%v: a block of %d bytes is more than a row holds; give a smaller height and width", r.shape.reps[r.given], len(b.Data))
	}
	if r.passing && len(r.shape.reps) == 1 && r.rows == 0 && len(b.Data) >= bytesAtOnce { // a record of its own needs no copy
		kept := make([][]byte, len(r.columns))
		for i := range r.columns {
			if r.shape.items[i].kind == isBlock {
				kept[i], r.columns[i].data, r.columns[i].ends = r.columns[i].data, b.Data, append(r.columns[i].ends[:0], 0, int32(len(b.Data)))
			}
		}
		r.bytes += len(b.Data)
		err := r.add(b.Start, b.Events)
		for i := range kept {
			r.columns[i].data = kept[i]
		}
		return err
	}
	for i, it := range r.shape.items {
		if it.kind == isBlock && it.rep == r.given {
			c := &r.columns[i]
			c.data = append(c.data, b.Data...)
			c.ends = append(c.ends, int32(len(c.data)))
			r.bytes += len(b.Data)
		}
	}
	if r.given++; r.given < len(r.shape.reps) {
		return nil
	}
	r.given = 0
	return r.add(b.Start, b.Events)
}

// counted takes the counts of windows, which are the last column; of the whole recording there is no other.
func (r *nativeRows) counted(rec arrow.RecordBatch) error {
	counts, starts := rec.Column(int(rec.NumCols())-1).(*array.Int64), (*array.Int64)(nil)
	if r.shape.window > 0 {
		starts = rec.Column(rec.Schema().FieldIndices("window_start")[0]).(*array.Int64)
	}
	for i := range int(rec.NumRows()) {
		start := int64(0)
		if counts.Value(i) == 0 {
			continue
		}
		if starts != nil {
			start = starts.Value(i)
		}
		if err := r.add(start, counts.Value(i)); err != nil {
			return err
		}
	}
	return nil
}

// empty adds the row of a group that is there though no event is.
func (r *nativeRows) empty() error {
	for i := range r.columns {
		r.columns[i].none = true
		r.columns[i].ends = append(r.columns[i].ends, 0)
	}
	return r.add(0, 0)
}

// atOnce bounds the blocks, in bytes, and the rows of a record.
const (
	bytesAtOnce = 8 << 20
	rowsAtOnce  = 1 << 14
)

// add completes a row, whose blocks are there.
func (r *nativeRows) add(start, events int64) error {
	for i, it := range r.shape.items {
		switch c := &r.columns[i]; it.kind {
		case isKey:
			c.numbers = append(c.numbers, start/r.shape.window) // times are not negative: see provable
		case isCount:
			c.numbers = append(c.numbers, events)
		}
	}
	r.some = true
	r.rows++
	if r.left--; r.left == 0 {
		if err := r.flush(); err != nil {
			return err
		}
		return errEnough
	}
	if r.rows < rowsAtOnce && r.bytes < bytesAtOnce {
		return nil
	}
	return r.flush()
}

// flush hands the rows on.
func (r *nativeRows) flush() error {
	if r.rows == 0 {
		return nil
	}
	arrays := make([]arrow.Array, len(r.columns))
	for i := range r.columns {
		arrays[i] = r.columns[i].array(r.shape.items[i].kind, r.rows)
		defer arrays[i].Release()
	}
	rec := array.NewRecordBatch(r.schema, arrays, int64(r.rows))
	defer rec.Release()
	err := r.do(rec)
	for i := range r.columns {
		if !r.passing {
			r.columns[i] = nativeColumn{}
		}
		r.columns[i].reset()
	}
	r.rows, r.bytes = 0, 0
	return err
}

func (c *nativeColumn) reset() {
	c.numbers, c.data, c.ends = c.numbers[:0], c.data[:0], append(c.ends[:0], 0)
}

// array views a column as one of Arrow's.
func (c *nativeColumn) array(kind itemKind, rows int) arrow.Array {
	buffers := []*memory.Buffer{nil, memory.NewBufferBytes(arrow.Int64Traits.CastToBytes(c.numbers))}
	of := arrow.PrimitiveTypes.Int64
	nulls := 0
	if kind == isBlock {
		of = arrow.BinaryTypes.Binary
		buffers = []*memory.Buffer{nil, memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(c.ends)), memory.NewBufferBytes(c.data)}
		if c.none {
			buffers[0], nulls = memory.NewBufferBytes([]byte{0}), rows
		}
	}
	data := array.NewData(of, rows, buffers, nil, nulls, 0)
	defer data.Release()
	return array.MakeFromData(data)
}

// why says in words what the engine runs.
func (q *shape) why() string {
	s := "the whole recording"
	if q.window > 0 {
		s = fmt.Sprintf("windows of %v", micros(q.window))
	}
	if len(q.reps) == 0 {
		return s + ", counted"
	}
	for _, r := range q.reps {
		s += ", " + r.String()
	}
	return s
}

// fits reports whether DuckDB gives the result the types that the engine does.
func (q *shape) fits(schema *arrow.Schema) bool {
	if len(schema.Fields()) != len(q.items) {
		return false
	}
	for i, f := range schema.Fields() {
		want := arrow.PrimitiveTypes.Int64
		if q.items[i].kind == isBlock {
			want = arrow.BinaryTypes.Binary
		}
		if !arrow.TypeEqual(f.Type, want) {
			return false
		}
	}
	return true
}
