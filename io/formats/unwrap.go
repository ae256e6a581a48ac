package formats

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/evq-project/evq/io/format"
)

// ErrArchive reports an archive that holds no single recording.
var ErrArchive = errors.New("not an archive of one recording; unpack it and name one")

// ErrBomb reports a compressed recording that becomes far larger than any recording does.
var ErrBomb = errors.New("it unpacks to far more than a recording does; unpack it first if it is one all the same")

// ErrPacked reports a compressed recording that does not unpack.
var ErrPacked = errors.New("it is cut or damaged, and what is packed as a whole cannot be salvaged; fetch it again")

// What unpacked recordings are allowed: so many bytes in any case, and so many times the size of what is compressed.
// Real recordings shrink to a half or two thirds, simulated ones and text to a tenth.
const (
	leastUnpacked = 16 << 20
	mostRatio     = 400
)

// A wrapping is a compression around a whole recording. Formats need to read anywhere, and some open the file
// themselves, so that what is inside is spooled to a temporary file first.
type wrapping struct {
	name, extension string
	claims          func(head []byte) bool
	unpack          func(f openedFile) (io.ReadCloser, error)
}

var wrappings = []wrapping{
	{"gzip", ".gz", func(h []byte) bool { return bytes.HasPrefix(h, []byte{0x1f, 0x8b, 8}) },
		func(f openedFile) (io.ReadCloser, error) { return gzip.NewReader(section(f)) }},
	{"zstd", ".zst", func(h []byte) bool { return bytes.HasPrefix(h, []byte{0x28, 0xb5, 0x2f, 0xfd}) },
		func(f openedFile) (io.ReadCloser, error) {
			r, err := zstd.NewReader(section(f), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(128<<20))
			if err != nil {
				return nil, err
			}
			return r.IOReadCloser(), nil
		}},
	{"zip", ".zip", func(h []byte) bool { return bytes.HasPrefix(h, []byte("PK\x03\x04")) }, single},
}

func section(f openedFile) io.Reader { return io.NewSectionReader(f, 0, f.Size) }

// single opens the only member of a zip. An archive of NumPy arrays is a recording of its own, and no wrapping.
func single(f openedFile) (io.ReadCloser, error) {
	z, err := zip.NewReader(f, f.Size)
	if err != nil {
		return nil, err
	}
	var members []*zip.File
	for _, m := range z.File {
		if !m.FileInfo().IsDir() {
			members = append(members, m)
		}
	}
	for _, m := range members {
		if strings.HasSuffix(m.Name, ".npy") {
			return nil, nil
		}
	}
	if len(members) != 1 {
		return nil, fmt.Errorf("%w: it holds %d files", ErrArchive, len(members))
	}
	return members[0].Open()
}

// unwrap returns the recording inside f where f is compressed as a whole, else f itself.
func unwrap(ctx context.Context, f openedFile, p format.Policy) (openedFile, error) {
	head := make([]byte, 8)
	n, _ := f.ReadAt(head, 0) // what cannot be read is no wrapping
	for _, w := range wrappings {
		if !w.claims(head[:n]) {
			continue
		}
		in, err := w.unpack(f)
		if err != nil {
			return f, fmt.Errorf("unpacking %s: %w", w.name, unpacked(err))
		}
		if in == nil {
			return f, nil
		}
		name := strings.TrimSuffix(filepath.Base(f.Path), w.extension)
		out, err := spool(ctx, limited(in, max(leastUnpacked, mostRatio*f.Size)), name, p.TempDir)
		if err = errors.Join(err, in.Close()); err != nil {
			return f, fmt.Errorf("unpacking %s: %w", w.name, err)
		}
		return out, f.Close()
	}
	return f, nil
}

// spool copies a stream to a temporary file, in a folder of its own so that it keeps its name, and removes both
// when it is closed.
func spool(ctx context.Context, in io.Reader, name, dir string) (openedFile, error) {
	folder, err := os.MkdirTemp(dir, "evq-unpacked-")
	if err != nil {
		return openedFile{}, fmt.Errorf("%w; TMPDIR names another folder", err)
	}
	path := filepath.Join(folder, name)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		var n int64
		if n, err = io.Copy(f, stoppable{ctx, in}); err == nil {
			return openedFile{format.File{ReaderAt: f, Size: n, Path: path}, spooled{f, folder}}, nil
		}
		_ = f.Close()
	}
	_ = os.RemoveAll(folder)
	return openedFile{}, err
}

// spooled is a temporary file with its folder.
type spooled struct {
	*os.File
	folder string
}

func (s spooled) Close() error { return errors.Join(s.File.Close(), os.RemoveAll(s.folder)) }

// limited reads at most n bytes of in; that there are more is an error.
func limited(in io.Reader, n int64) io.Reader { return &limit{in, n} }

type limit struct {
	in   io.Reader
	left int64
}

func (l *limit) Read(b []byte) (int, error) {
	n, err := l.in.Read(b)
	if err != nil && err != io.EOF { //nolint:errorlint // readers return it as it is, and a wrapped one ends nothing
		err = unpacked(err)
	}
	if l.left -= int64(n); l.left < 0 {
		return 0, ErrBomb
	}
	return n, err
}

// unpacked says what to do about an error of unpacking, unless it is the system's or says so itself.
func unpacked(err error) error {
	var failed syscall.Errno
	switch {
	case errors.As(err, &failed) || errors.Is(err, ErrArchive):
		return err
	case errors.Is(err, zip.ErrAlgorithm):
		return fmt.Errorf("%w; unpack it first", err)
	}
	return fmt.Errorf("%w (%w)", ErrPacked, err)
}

// stoppable reads until its context ends.
type stoppable struct {
	ctx context.Context
	in  io.Reader
}

func (s stoppable) Read(b []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	return s.in.Read(b)
}
