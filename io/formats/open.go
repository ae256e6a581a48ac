package formats

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/format"
)

// ErrEmpty reports a file of 0 bytes, whose format cannot be recognised.
var ErrEmpty = errors.New("the file is empty; --format NAME makes an empty store of it")

// ErrFolder reports a folder where a file was expected.
var ErrFolder = errors.New("it is a folder; name a recording in it")

// Open opens the recording at path. name forces a format, "" recognises it. The source keeps the file open: its concrete
// type is an io.Closer, whose Close ends its use.
func Open(ctx context.Context, path, name string, p format.Policy) (event.Source, error) {
	file, err := openFile(path)
	if err != nil {
		return nil, err
	}
	src, err := open(ctx, file.File, name, p)
	if err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &recording{Source: src, file: file}, nil
}

func open(ctx context.Context, f format.File, name string, p format.Policy) (event.Source, error) {
	if name == "" {
		if st, err := os.Stat(f.Path); err == nil && st.Mode().IsRegular() && f.Size == 0 {
			return nil, ErrEmpty
		}
		m, err := DetectFile(f)
		if err != nil {
			return nil, err
		}
		name = m.Format
	}
	chosen, err := ByName(name)
	if err != nil {
		return nil, err
	}
	if p.OnRead != nil {
		f.ReaderAt = reader{f.ReaderAt, p.OnRead}
	}
	return chosen.Open(ctx, f, p)
}

// A reader tells how far it was read.
type reader struct {
	io.ReaderAt
	tell func(offset int64)
}

func (r reader) ReadAt(b []byte, at int64) (int, error) {
	n, err := r.ReaderAt.ReadAt(b, at)
	r.tell(at + int64(n))
	return n, err
}

// An openedFile is a recording's file.
type openedFile struct {
	format.File
	io.Closer
}

func openFile(path string) (openedFile, error) {
	st, err := os.Stat(path)
	if err != nil {
		return openedFile{}, err
	}
	if st.IsDir() {
		return openedFile{}, fmt.Errorf("%s: %w", path, ErrFolder)
	}
	if !st.Mode().IsRegular() {
		return openedFile{}, fmt.Errorf("%s is no file but a device or a pipe; copy it to a file first", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return openedFile{}, err
	}
	return openedFile{format.File{ReaderAt: f, Size: st.Size(), Path: path}, f}, nil
}

// A recording is a source and the file it reads.
type recording struct {
	event.Source
	file openedFile
}

// Unwrap returns the format's own source.
func (r *recording) Unwrap() event.Source { return r.Source }

// Close closes the source where it can be closed, and the file. Scans of the source fail afterwards.
func (r *recording) Close() error {
	var err error
	if c, ok := r.Source.(io.Closer); ok {
		err = c.Close()
	}
	return errors.Join(err, r.file.Close())
}
