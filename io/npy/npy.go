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
	"path/filepath"
	"strings"

	"github.com/evq-project/evq/io/atomicfile"
	"github.com/evq-project/evq/io/tensor"
)

// Create names an output of blocks. A .npy holds one array of shape (N, block...); a .npz holds it as data,
// beside window_start and window_end in microseconds and window_events, all int64 of shape (N,). N is known
// only at the end, so blocks are streamed and the headers completed then: memory does not grow with them.
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
	l, err := tensor.One(layouts)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.path, err)
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
	f, err := atomicfile.Create(o.path, o.force)
	if err != nil {
		return nil, err
	}
	b, err := open(f, l, o.level)
	if err != nil {
		return nil, errors.Join(err, f.Abort())
	}
	return &sink{file: f, layout: l, body: b}, nil
}

// A body is what differs between the containers.
type body interface {
	write(b tensor.Block) error
	// finish completes the file after n blocks.
	finish(n int) error
}

// sink checks blocks and counts them.
type sink struct {
	file   *atomicfile.File
	layout tensor.Layout
	body   body
	n      int
	closed bool
	failed error
}

func (s *sink) Write(ctx context.Context, b tensor.Block) error {
	defer b.Release()
	switch {
	case s.closed:
		return fmt.Errorf("npy: %s: a block after the end", s.file.Name())
	case s.failed != nil:
		return s.failed
	}
	if err := s.layout.Check(b); err != nil {
		return fmt.Errorf("npy: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := s.body.write(b); err != nil {
		s.failed = fmt.Errorf("npy: writing block %d: %w", b.Index, err)
		return s.failed
	}
	s.n++
	return nil
}

// Close completes the file and gives it its name. After a failed Write it drops the file.
func (s *sink) Close() error {
	if s.closed {
		return nil
	}
	if s.failed != nil {
		return errors.Join(s.failed, s.Abort())
	}
	s.closed = true
	if err := s.body.finish(s.n); err != nil {
		return errors.Join(fmt.Errorf("npy: completing %s: %w", s.file.Name(), err), s.file.Abort())
	}
	return s.file.Commit()
}

func (s *sink) Abort() error {
	s.closed = true
	return s.file.Abort()
}

// array is the body of a .npy.
type array struct {
	file   *atomicfile.File
	layout tensor.Layout
}

func openArray(f *atomicfile.File, l tensor.Layout, _ int) (body, error) {
	_, err := f.Write(blockHeader(l, 0))
	return array{f, l}, err
}

func (a array) write(b tensor.Block) error {
	_, err := a.file.Write(b.Data)
	return err
}

func (a array) finish(n int) error {
	_, err := a.file.WriteAt(blockHeader(a.layout, n), 0)
	return err
}
