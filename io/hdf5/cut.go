//go:build hdf5 && cgo

package hdf5

import (
	"encoding/binary"
	"fmt"
	"io"
	"os"

	"github.com/evq-project/evq/io/format"
)

// A wholeFile is a file that the library opens. The library refuses one that was cut; to salvage what is left, a copy is
// made that is filled up with zeros, which take no room on most systems.
type wholeFile struct {
	path  string
	limit int64 // where the file was cut, 0 where it was not
	temp  bool
}

// openWhole readies a file for the library.
func openWhole(path string, p format.Policy) (*wholeFile, error) {
	w := &wholeFile{path: path}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("hdf5: %w", err)
	}
	defer func() { _ = f.Close() }()
	st, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("hdf5: %w", err)
	}
	end := endOf(format.File{ReaderAt: f, Size: st.Size(), Path: path})
	if end <= st.Size() || end-st.Size() > maxMissing {
		return w, nil
	}
	msg := fmt.Sprintf("the file was cut: %d of %d bytes are left", st.Size(), end)
	if !p.Salvage {
		return nil, format.Damaged("hdf5", st.Size(), msg, nil)
	}
	w.limit, w.temp = st.Size(), true
	if w.path, err = filled(f, end, p.TempDir); err != nil {
		return nil, fmt.Errorf("hdf5: %s: copying it to salvage what is left: %w", path, err)
	}
	return w, nil
}

// maxMissing bounds what a damaged superblock may say is missing.
const maxMissing = 1 << 46

// filled copies a file, in time with the system's help, and makes it end bytes long.
func filled(f *os.File, end int64, dir string) (path string, err error) {
	t, err := os.CreateTemp(dir, "evq-*.h5")
	if err != nil {
		return "", err
	}
	_, err = io.Copy(t, f)
	if err == nil {
		err = t.Truncate(end)
	}
	if cerr := t.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		_ = os.Remove(t.Name())
	}
	return t.Name(), err
}

// Close removes the copy, if there is one.
func (w *wholeFile) Close() {
	if w.temp {
		_ = os.Remove(w.path)
		w.temp = false
	}
}

// explain adds to an error that the file was cut.
func (w *wholeFile) explain(err error) error {
	if w.limit == 0 {
		return err
	}
	return fmt.Errorf("the file was cut at byte %#x, and what says where its events lie is not in the rest; nothing can be salvaged: %w", w.limit, err)
}

// bound tells a dataset where its file ends. Call it inside the library.
func (w *wholeFile) bound(d dataset) dataset {
	if w.limit == 0 {
		return d
	}
	d.limit = w.limit
	if at, ok := d.offset(); d.chunk == 0 && ok {
		d.start = at
	}
	return d
}

// holds reports as an error that a number is not in the rest of a file. Call it inside the library.
func (w *wholeFile) holds(at int64, name string) error {
	if w.limit == 0 {
		return nil
	}
	id, err := openDataset(at, name)
	if err != nil {
		return err
	}
	defer func() { _ = closeDataset(id) }()
	if start, ok := (dataset{id: id}).offset(); !ok || start+8 > w.limit {
		return fmt.Errorf("/%s is not in the rest", name)
	}
	return nil
}

// inFile reports as an error that the chunk that starts at a row lies behind the end of a file that was cut.
func (r *reader) inFile(start int64) error {
	if r.limit == 0 {
		return nil
	}
	at, size, ok := r.place(start)
	if !ok {
		return errUnwritten
	}
	if size > r.limit || at > r.limit-size {
		return errCut
	}
	return nil
}

// kept returns how many rows of a dataset that is stored in one piece are in the rest of a file that was cut. Where it
// is not known where they lie, none are.
func (r *reader) kept() int64 {
	if r.start == 0 || r.start > r.limit {
		return 0
	}
	return min((r.limit-r.start)/int64(r.width()), r.dataset.rows)
}

// cutFrom is the damage from a row on.
func (r *reader) cutFrom(row int64) error {
	return &chunkError{from: row, to: r.dataset.rows, at: r.limit, bytes: (r.dataset.rows - row) * int64(r.width()), err: errCut}
}

// endOf returns where a file's superblock says that it ends, 0 where there is none that says so.
func endOf(f format.File) int64 {
	at := findSignature(f)
	if at < 0 {
		return 0
	}
	var b [64]byte
	n, _ := f.ReadAt(b[:], at)
	if n < 52 {
		return 0
	}
	var end, size int // of the address, and the bytes of one
	switch b[8] {
	case 0:
		end, size = 40, int(b[13])
	case 1:
		end, size = 44, int(b[13])
	case 2, 3:
		end, size = 28, int(b[9])
	}
	if size != 8 || end == 0 {
		return 0
	}
	return max(0, int64(binary.LittleEndian.Uint64(b[end:])))
}
