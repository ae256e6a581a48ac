// Package arrowtensor keeps blocks in Arrow's IPC formats, the file (.arrow, also Feather version 2) and the stream
// (.arrows).
//
// It knows the container; it refuses to know what a block means.
//
// Sources: arrow.apache.org, "Arrow Columnar Format" and "Canonical Extension Types" (arrow.fixed_shape_tensor).
package arrowtensor

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/evq-project/evq/io/atomicfile"
	"github.com/evq-project/evq/io/tensor"
)

// Create names an output of blocks. Every window is a record batch of one row with the columns
//
//	window         int64, its number from 0
//	window_start   int64, µs
//	window_end     int64, µs
//	window_events  int64
//	data           fixed-size list of the block's elements in C order
//
// Of several representations each has a column under its layout's name instead of data (tensor.Names). These columns
// are of the extension type arrow.fixed_shape_tensor. The metadata of the field has the representation, the shape as
// JSON and NumPy's name of the type as well, for readers that see no more than a list. Of a column c, an array of shape
// (N, block...) is
//
//	c.combine_chunks().to_numpy_ndarray()             in pyarrow
//	c.ext.storage().to_numpy().reshape(-1, *shape)    in Polars
//
// A name that ends in .arrows is written as a stream, any other as a file. Memory does not grow with the windows but
// for 24 bytes each in the file form, whose footer says where they are.
func Create(path string, options ...Option) tensor.Output {
	o := output{path: path}
	for _, option := range options {
		option(&o)
	}
	return o
}

// An Option changes how an output is written.
type Option func(*output)

// Force overwrites a file that exists.
func Force() Option { return func(o *output) { o.force = true } }

// Compression sets how batches are compressed, one of Compressions. "" is lz4.
func Compression(name string) Option { return func(o *output) { o.compression = name } }

// Compressions lists the names that Compression takes, the default first. Without compression readers can map the
// file into memory.
var Compressions = []string{"lz4", "zstd", "none"}

type output struct {
	path        string
	force       bool
	compression string
}

// String returns the path.
func (o output) String() string { return o.path }

// packing returns the library's option.
func (o output) packing() ([]ipc.Option, error) {
	switch o.compression {
	case "", "lz4":
		return []ipc.Option{ipc.WithLZ4()}, nil
	case "zstd":
		return []ipc.Option{ipc.WithZstd()}, nil
	case "none":
		return nil, nil
	}
	return nil, fmt.Errorf("arrow: compression %q is none of %s", o.compression, strings.Join(Compressions, ", "))
}

// A writer is one of the library's, for the file or for the stream.
type writer interface {
	Write(arrow.RecordBatch) error
	Close() error
}

// Open starts the file under a temporary name.
func (o output) Open(layouts ...tensor.Layout) (tensor.Sink, error) {
	windows, err := tensor.NewWindows(layouts)
	if err != nil {
		return nil, fmt.Errorf("arrow: %s: %w", o.path, err)
	}
	options, err := o.packing()
	if err != nil {
		return nil, err
	}
	schema, err := schemaOf(layouts)
	if err != nil {
		return nil, fmt.Errorf("arrow: %s: %w", o.path, err)
	}
	f, err := atomicfile.Create(o.path, o.force)
	if err != nil {
		return nil, err
	}
	s := &sink{path: o.path, file: f, buf: bufio.NewWriterSize(f, 1<<18), schema: schema, windows: windows, parts: len(layouts)}
	options = append(options, ipc.WithSchema(schema), ipc.WithAllocator(&recycler{}))
	if strings.EqualFold(filepath.Ext(o.path), ".arrows") {
		s.out = ipc.NewWriter(s.buf, options...)
	} else if s.out, err = ipc.NewFileWriter(s.buf, options...); err != nil {
		return nil, errors.Join(fmt.Errorf("arrow: %w", err), f.Abort())
	}
	return s, nil
}

// sink collects the blocks of a window and writes them as one batch.
type sink struct {
	path    string
	file    *atomicfile.File
	buf     *bufio.Writer
	out     writer
	schema  *arrow.Schema
	windows *tensor.Windows
	parts   int
	blocks  []tensor.Block // of the window that is not yet whole
	closed  bool
	failed  error
}

// Write implements tensor.Sink. After an error of the file nothing more is taken.
func (s *sink) Write(ctx context.Context, b tensor.Block) error {
	if err := s.admit(ctx, b); err != nil {
		b.Release()
		return err
	}
	s.blocks = append(s.blocks, b)
	if len(s.blocks) < s.parts {
		return nil
	}
	defer s.release()
	if err := s.out.Write(s.record()); err != nil {
		s.failed = fmt.Errorf("arrow: writing window %d: %w", b.Index, err)
	}
	return s.failed
}

// admit checks a block.
func (s *sink) admit(ctx context.Context, b tensor.Block) error {
	switch {
	case s.closed:
		return fmt.Errorf("arrow: %s: a block after the end", s.path)
	case s.failed != nil:
		return s.failed
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := s.windows.Add(b); err != nil {
		return fmt.Errorf("arrow: %w", err)
	}
	return nil
}

// release hands the blocks back.
func (s *sink) release() {
	for _, b := range s.blocks {
		b.Release()
	}
	s.blocks = s.blocks[:0]
}

// Close completes the file and gives it its name. After a failed Write, and where the last window lacks a block, it
// drops the file.
func (s *sink) Close() error {
	if s.closed {
		return nil
	}
	if s.failed == nil {
		s.failed = s.complete()
	}
	if s.failed != nil {
		return errors.Join(s.failed, s.Abort())
	}
	s.closed = true
	return s.file.Commit()
}

func (s *sink) complete() error {
	err := s.windows.Whole()
	if err == nil {
		err = errors.Join(s.out.Close(), s.buf.Flush())
	}
	if err != nil {
		return fmt.Errorf("arrow: completing %s: %w", s.path, err)
	}
	return nil
}

// Abort implements tensor.Sink.
func (s *sink) Abort() error {
	s.closed = true
	s.release()
	return s.file.Abort()
}
