package table

import (
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

// groupRows is how many rows a row group has at least, but for the last.
const groupRows = 1 << 17

// groupBytes ends a row group earlier: rows that hold blocks are large.
const groupBytes = 64 << 20

// A parquetEncoder holds records until they fill a row group. It writes columns itself: the library's bridge from
// Arrow brings a network stack with it.
type parquetEncoder struct {
	w     *file.Writer
	held  []arrow.RecordBatch
	rows  int64
	bytes int64 // that they take in memory
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

func (e *parquetEncoder) write(r arrow.RecordBatch) error {
	r.Retain()
	e.held = append(e.held, r)
	for _, c := range r.Columns() {
		for _, b := range c.Data().Buffers() {
			if b != nil {
				e.bytes += int64(b.Len())
			}
		}
	}
	if e.rows += r.NumRows(); e.rows < groupRows && e.bytes < groupBytes {
		return nil
	}
	return e.flush()
}

// flush writes a row group of what is held.
func (e *parquetEncoder) flush() error {
	if e.rows == 0 {
		return nil
	}
	group, err := e.w.AppendRowGroupChecked()
	if err != nil {
		return err
	}
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
	e.held, e.rows, e.bytes = e.held[:0], 0, 0
	return group.Close()
}

func (e *parquetEncoder) finish() error {
	if err := e.flush(); err != nil {
		return err
	}
	return e.w.Close()
}
