// Package npy keeps blocks in NumPy's files, .npy and .npz, and reads arrays of integers from them.
//
// It knows the two containers; it refuses to know what a block means.
//
// Sources: numpy.lib.format (the .npy header), PKWARE's APPNOTE 6.3.10 (.zip), RFC 1951 (deflate).
package npy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/evq-project/evq/io/atomicfile"
	"github.com/evq-project/evq/io/tensor"
)

// Create names an output of blocks. A .npy holds one array of shape (N, block...). A .npz holds such an array for each
// representation, called data where there is one and else by its layout's name (tensor.Names), beside window_start and
// window_end in microseconds and window_events, all int64 of shape (N,). N is known only at the end, so blocks are
// streamed and the headers completed then: memory does not grow with them. The arrays of a .npz after the first wait,
// compressed, in files beside it.
func Create(path string, options ...Option) tensor.Output {
	o := output{path: path, level: 1}
	for _, option := range options {
		option(&o)
	}
	return o
}

// An Option changes how an output is written.
type Option func(*output)

// Force overwrites a file that exists.
func Force() Option { return func(o *output) { o.force = true } }

// Level sets how hard data is compressed in a .npz: 0 stores it as it is, 1, the default, to 9 deflate it. A
// .npy is never compressed.
func Level(n int) Option { return func(o *output) { o.level = n } }

type output struct {
	path  string
	force bool
	level int
}

// String returns the path.
func (o output) String() string { return o.path }

// Open starts the file under a temporary name.
func (o output) Open(layouts ...tensor.Layout) (tensor.Sink, error) {
	windows, err := tensor.NewWindows(layouts)
	if err != nil {
		return nil, fmt.Errorf("npy: %s: %w", o.path, err)
	}
	open := openArray
	switch ext := strings.ToLower(filepath.Ext(o.path)); {
	case ext == ".npz" && o.level >= 0 && o.level <= 9:
		open = openArchive
	case ext == ".npz":
		return nil, fmt.Errorf("npy: level %d; 0 to 9 are possible", o.level)
	case ext != ".npy":
		return nil, fmt.Errorf("npy: %s: the name must end in .npy or .npz", o.path)
	}
	b, err := open(o, layouts)
	if err != nil {
		return nil, err
	}
	return &sink{path: o.path, windows: windows, body: b}, nil
}

// A body is what differs between the containers.
type body interface {
	write(b tensor.Block) error
	// complete gives the file of n windows its name. Where it fails it drops the file.
	complete(n int) error
	// Abort drops the file. After complete it does nothing.
	Abort() error
}

// sink checks blocks and counts them.
type sink struct {
	path    string
	windows *tensor.Windows
	body    body
	closed  bool
	failed  error
}

func (s *sink) Write(ctx context.Context, b tensor.Block) error {
	defer b.Release()
	switch {
	case s.closed:
		return fmt.Errorf("npy: %s: a block after the end", s.path)
	case s.failed != nil:
		return s.failed
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := s.windows.Add(b); err != nil {
		return fmt.Errorf("npy: %w", err)
	}
	if err := s.body.write(b); err != nil {
		s.failed = fmt.Errorf("npy: writing block %d: %w", b.Index, err)
		return s.failed
	}
	return nil
}

// Close completes the file and gives it its name. After a failed Write, and where the last window lacks a block, it
// drops the file.
func (s *sink) Close() error {
	if s.closed {
		return nil
	}
	if s.failed == nil {
		s.failed = s.windows.Whole()
	}
	if s.failed != nil {
		return errors.Join(s.failed, s.Abort())
	}
	s.closed = true
	if err := s.body.complete(s.windows.Len()); err != nil {
		return fmt.Errorf("npy: completing %s: %w", s.path, err)
	}
	return nil
}

func (s *sink) Abort() error {
	s.closed = true
	return s.body.Abort()
}

// array is the body of a .npy.
type array struct {
	*atomicfile.File
	layout tensor.Layout
}

func openArray(o output, layouts []tensor.Layout) (body, error) {
	l, err := tensor.One(layouts)
	if err != nil {
		return nil, fmt.Errorf("npy: %s: %w", o.path, err)
	}
	f, err := atomicfile.Create(o.path, o.force)
	if err != nil {
		return nil, err
	}
	if _, err := f.Write(blockHeader(l, 0)); err != nil {
		return nil, errors.Join(err, f.Abort())
	}
	return array{f, l}, nil
}

// write leaves a hole for zeros: it takes no room on most systems, and reads as what it stands for.
func (a array) write(b tensor.Block) error {
	if b.Zero {
		_, err := a.Seek(int64(len(b.Data)), io.SeekCurrent)
		return err
	}
	_, err := a.Write(b.Data)
	return err
}

func (a array) complete(n int) error {
	// The last blocks may be holes.
	if err := a.Truncate(int64(len(blockHeader(a.layout, n))) + int64(n)*int64(a.layout.Bytes())); err != nil {
		return errors.Join(err, a.Abort())
	}
	if _, err := a.WriteAt(blockHeader(a.layout, n), 0); err != nil {
		return errors.Join(err, a.Abort())
	}
	return a.Commit()
}
