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

// Open opens the recording at path, or inside it where it is compressed as a whole (.gz, .zst, a .zip of one file);
// "-" is standard input. name forces a format, "" recognises it. The source keeps the file open: its concrete
// type is an io.Closer, whose Close ends its use.
//
// more are the other parts of a recording that a camera split, in order; see join.
func Open(ctx context.Context, path, name string, p format.Policy, more ...string) (event.Source, error) {
	file, err := openInput(ctx, path, p)
	if err != nil {
		return nil, err
	}
	rec := &recording{file: file, match: Match{Format: name, Confidence: 1, Why: "the format was named"}}
	if err := rec.open(ctx, name, p, more); err != nil {
		_ = rec.closeFiles()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return rec, nil
}

func (r *recording) open(ctx context.Context, name string, p format.Policy, more []string) error {
	f := r.file.File
	if name == "" {
		if f.Size == 0 {
			return ErrEmpty
		}
		var err error
		if r.match, err = DetectFile(f); err != nil {
			return err
		}
		name = r.match.Format
	}
	chosen, err := ByName(name)
	if err != nil {
		return err
	}
	if len(more) > 0 {
		if f, err = r.join(ctx, chosen, p, more); err != nil {
			return err
		}
	}
	r.whole = f
	if p.OnRead != nil {
		f.ReaderAt = reader{f.ReaderAt, p.OnRead}
	}
	r.Source, err = chosen.Open(ctx, f, p)
	return err
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

// openInput opens a file, or what is inside where it is compressed as a whole; "-" is standard input, which is spooled.
func openInput(ctx context.Context, path string, p format.Policy) (openedFile, error) {
	file, err := openedFile{}, error(nil)
	if path == "-" {
		file, err = spool(ctx, os.Stdin, "standard input", p.TempDir)
	} else {
		file, err = openFile(path)
	}
	if err != nil {
		return file, err
	}
	inner, err := unwrap(ctx, file, p)
	if err != nil {
		_ = file.Close()
		return inner, fmt.Errorf("%s: %w", path, err)
	}
	return inner, nil
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

// A recording is a source and the file it reads, or the files of its parts.
type recording struct {
	event.Source
	file  openedFile
	more  []openedFile
	whole format.File // what the source reads
	match Match
}

// Match says why the recording was taken for what it is.
func (r *recording) Match() Match { return r.match }

// Size is how many bytes the recording has, unpacked and joined.
func (r *recording) Size() int64 { return r.whole.Size }

// Place returns the file in which a byte of the recording stands, and where in it; see format.File.
func (r *recording) Place(offset int64) (path string, at int64) { return r.whole.Place(offset) }

// Unwrap returns the format's own source.
func (r *recording) Unwrap() event.Source { return r.Source }

// Close closes the source where it can be closed, and the file. Scans of the source fail afterwards.
func (r *recording) Close() error {
	var err error
	if c, ok := r.Source.(io.Closer); ok {
		err = c.Close()
	}
	return errors.Join(err, r.closeFiles())
}

func (r *recording) closeFiles() error {
	err := r.file.Close()
	for _, f := range r.more {
		err = errors.Join(err, f.Close())
	}
	return err
}
