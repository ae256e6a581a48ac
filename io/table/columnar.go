package table

import (
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

type arrowEncoder struct {
	w interface {
		Write(arrow.RecordBatch) error
		Close() error
	}
}

func newArrow(w io.Writer, schema *arrow.Schema) (encoder, error) {
	return arrowEncoder{ipc.NewWriter(w, ipc.WithSchema(schema))}, nil
}

func newArrowFile(w io.Writer, schema *arrow.Schema) (encoder, error) {
	f, err := ipc.NewFileWriter(w, ipc.WithSchema(schema))
	return arrowEncoder{f}, err
}

func (e arrowEncoder) write(r arrow.RecordBatch) error { return e.w.Write(r) }
func (e arrowEncoder) finish() error                   { return e.w.Close() }

// WithText returns a schema that has a column of text before the others.
func WithText(schema *arrow.Schema, name string) *arrow.Schema {
	return arrow.NewSchema(append([]arrow.Field{{Name: name, Type: arrow.BinaryTypes.String}}, schema.Fields()...), nil)
}

// AddText returns a record that has a column before the others, whose text is the same in every row. The caller
// releases it.
func AddText(r arrow.RecordBatch, name, text string) arrow.RecordBatch {
	b := array.NewStringBuilder(memory.DefaultAllocator)
	defer b.Release()
	for range r.NumRows() {
		b.Append(text)
	}
	col := b.NewArray()
	defer col.Release()
	return array.NewRecordBatch(WithText(r.Schema(), name), append([]arrow.Array{col}, r.Columns()...), r.NumRows())
}
