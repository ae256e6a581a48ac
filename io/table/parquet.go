package table

import (
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

// groupRows is how many rows a row group has at least, but for the last.
const groupRows = 1 << 17

// A parquetEncoder holds records until they fill a row group. It writes columns itself: the library's bridge from
// Arrow brings a network stack with it.
type parquetEncoder struct {
	w    *file.Writer
	held []arrow.RecordBatch
	rows int64
}

// stays hides Close of a writer, which the library would call.
type stays struct{ io.Writer }

func newParquet(w io.Writer, s *arrow.Schema) (encoder, error) {
	var fields schema.FieldList
	for _, f := range s.Fields() {
		node, err := parquetField(f)
		if err != nil {
			return nil, err
		}
		fields = append(fields, node)
	}
	root, err := schema.NewGroupNode("schema", parquet.Repetitions.Required, fields, -1)
	if err != nil {
		return nil, err
	}
	props := parquet.NewWriterProperties(parquet.WithCompression(compress.Codecs.Zstd), parquet.WithCreatedBy("evq"))
	return &parquetEncoder{w: file.NewParquetWriter(stays{w}, root, file.WithWriterProps(props))}, nil
}

func parquetField(f arrow.Field) (schema.Node, error) {
	optional := parquet.Repetitions.Optional
	switch f.Type.ID() {
	case arrow.INT64:
		return schema.NewInt64Node(f.Name, optional, -1), nil
	case arrow.FLOAT64:
		return schema.NewFloat64Node(f.Name, optional, -1), nil
	case arrow.STRING:
		return schema.NewPrimitiveNodeLogical(f.Name, optional, schema.StringLogicalType{}, parquet.Types.ByteArray, -1, -1)
	}
	return nil, fmt.Errorf("%w: column %s is of %v", ErrFormat, f.Name, f.Type)
}

func (e *parquetEncoder) write(r arrow.RecordBatch) error {
	r.Retain()
	e.held = append(e.held, r)
	if e.rows += r.NumRows(); e.rows < groupRows {
		return nil
	}
	return e.flush()
}

// flush writes a row group of what is held.
func (e *parquetEncoder) flush() error {
	if e.rows == 0 {
		return nil
	}
	group := e.w.AppendRowGroup()
	for c := range e.held[0].Columns() {
		w, err := group.NextColumn()
		if err != nil {
			return err
		}
		for _, r := range e.held {
			if err := writeColumn(w, r.Column(c)); err != nil {
				return err
			}
		}
		if err := w.Close(); err != nil {
			return err
		}
	}
	for _, r := range e.held {
		r.Release()
	}
	e.held, e.rows = e.held[:0], 0
	return group.Close()
}

// writeColumn appends the values of a column, those that are there.
func writeColumn(w file.ColumnChunkWriter, c arrow.Array) error {
	levels := make([]int16, c.Len())
	for i := range levels {
		if c.IsValid(i) {
			levels[i] = 1
		}
	}
	var err error
	switch w := w.(type) {
	case *file.Int64ColumnChunkWriter:
		_, err = w.WriteBatch(values(c, c.(*array.Int64).Value), levels, nil)
	case *file.Float64ColumnChunkWriter:
		_, err = w.WriteBatch(values(c, c.(*array.Float64).Value), levels, nil)
	case *file.ByteArrayColumnChunkWriter:
		text := c.(*array.String)
		_, err = w.WriteBatch(values(c, func(i int) parquet.ByteArray { return parquet.ByteArray(text.Value(i)) }), levels, nil)
	}
	return err
}

func values[T any](c arrow.Array, at func(int) T) []T {
	out := make([]T, 0, c.Len())
	for i := range c.Len() {
		if c.IsValid(i) {
			out = append(out, at(i))
		}
	}
	return out
}

func (e *parquetEncoder) finish() error {
	if err := e.flush(); err != nil {
		return err
	}
	return e.w.Close()
}
