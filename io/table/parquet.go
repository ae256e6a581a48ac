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

func (e *parquetEncoder) finish() error {
	if err := e.flush(); err != nil {
		return err
	}
	return e.w.Close()
}
