package arrowipc

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/evq-project/evq/io/atomicfile"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/format"
)

// batchRows is how many events a batch has: enough that its metadata weighs nothing.
const batchRows = 64 << 10

// A writer is one of the library's, for the file or for the stream.
type writer interface {
	Write(arrow.RecordBatch) error
	Close() error
}

// A sink writes batches of t, x, y and p.
type sink struct {
	file   *atomicfile.File
	buf    *bufio.Writer
	out    writer
	schema *arrow.Schema
	off    int8
	fill   *event.Buffer
	err    error // why nothing more is taken
}

// create starts a recording, as a stream where its name ends in .arrows. Times are int64 in microseconds, or durations;
// x and y are uint16 and p is int8. The sensor's size and the fields of the header are metadata of the schema.
func create(path string, h format.Header, o format.CreateOptions) (event.Sink, error) {
	schema := schemaOf(h, o)
	options := []ipc.Option{ipc.WithSchema(schema)}
	switch o.Compression {
	case "", "none":
	case "lz4":
		options = append(options, ipc.WithLZ4())
	case "zstd":
		options = append(options, ipc.WithZstd())
	default:
		return nil, fmt.Errorf("%s: there is no compression %q; use lz4, zstd or none", name, o.Compression)
	}
	f, err := atomicfile.Create(path, o.Force)
	if err != nil {
		return nil, err
	}
	s := &sink{file: f, buf: bufio.NewWriterSize(f, 1<<18), schema: schema, off: o.OffValue(), fill: event.NewBuffer(batchRows)}
	if strings.EqualFold(filepath.Ext(path), ".arrows") {
		s.out = ipc.NewWriter(s.buf, options...)
	} else if s.out, err = ipc.NewFileWriter(s.buf, options...); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", name, err), f.Abort())
	}
	return s, nil
}

// schemaOf is the schema that is written.
func schemaOf(h format.Header, o format.CreateOptions) *arrow.Schema {
	var keys, values []string
	add := func(k, v string) {
		keys, values = append(keys, strings.ToValidUTF8(k, "?")), append(values, strings.ToValidUTF8(v, "?"))
	}
	if h.Geometry.Known() {
		add(keyWidth, strconv.Itoa(h.Geometry.Width))
		add(keyHeight, strconv.Itoa(h.Geometry.Height))
	}
	for _, f := range h.Fields {
		if f.Key != keyWidth && f.Key != keyHeight {
			add(f.Key, f.Value)
		}
	}
	fields := event.Schema.Fields()
	if o.Duration() {
		fields[0].Type = arrow.FixedWidthTypes.Duration_us
	}
	meta := arrow.NewMetadata(keys, values)
	return arrow.NewSchema(fields, &meta)
}

// Write implements event.Sink. After an error the recording is dropped.
func (s *sink) Write(ctx context.Context, b event.Batch) error {
	if s.err != nil {
		return s.err
	}
	if err := ctx.Err(); err != nil {
		return s.fail(err)
	}
	if n := b.Len(); len(b.X()) != n || len(b.Y()) != n || len(b.P()) != n {
		return s.fail(errors.New("a recording needs the columns t, x, y and p"))
	}
	for b.Len() > 0 {
		n := min(b.Len(), batchRows-s.fill.Len())
		s.fill.AppendBatch(b.Slice(0, n))
		b = b.Slice(n, b.Len())
		if s.fill.Len() == batchRows {
			if err := s.flush(); err != nil {
				return s.fail(err)
			}
		}
	}
	return nil
}

// flush writes the events that are collected as one batch.
func (s *sink) flush() error {
	if s.fill.Len() == 0 {
		return nil
	}
	if s.off != 0 {
		for i, p := range s.fill.P {
			if p == 0 {
				s.fill.P[i] = s.off
			}
		}
	}
	columns := [][]byte{
		arrow.Int64Traits.CastToBytes(s.fill.T), arrow.Uint16Traits.CastToBytes(s.fill.X),
		arrow.Uint16Traits.CastToBytes(s.fill.Y), arrow.Int8Traits.CastToBytes(s.fill.P),
	}
	arrays := make([]arrow.Array, len(columns))
	for i, raw := range columns {
		arrays[i] = array.MakeFromData(array.NewData(s.schema.Field(i).Type, s.fill.Len(), []*memory.Buffer{nil, memory.NewBufferBytes(raw)}, nil, 0, 0))
	}
	err := s.out.Write(array.NewRecordBatch(s.schema, arrays, int64(s.fill.Len())))
	s.fill.Resize(0)
	return err
}

// fail drops the recording: a part of one would pass for the whole.
func (s *sink) fail(err error) error {
	s.err = errors.Join(fmt.Errorf("%s: %w", name, err), s.file.Abort())
	return s.err
}

// WriteTriggers implements event.Sink. Triggers are left out: the schema has no place for them.
func (s *sink) WriteTriggers([]event.Trigger) error { return s.err }

// Close implements event.Sink.
func (s *sink) Close() error {
	if s.err != nil {
		return s.err
	}
	if err := errors.Join(s.flush(), s.out.Close(), s.buf.Flush()); err != nil {
		return s.fail(err)
	}
	s.err = fmt.Errorf("%s: the recording is closed", name)
	return s.file.Commit()
}

// Abort implements event.Sink.
func (s *sink) Abort() error {
	if s.err == nil {
		s.err = fmt.Errorf("%s: the recording was dropped", name)
	}
	return s.file.Abort()
}
