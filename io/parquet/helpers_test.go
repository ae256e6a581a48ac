package parquet

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/formattest"
)

var sensor = event.Geometry{Width: 640, Height: 480}

// write makes a store of b, batch events at a time, and returns its path.
func write(t testing.TB, b event.Batch, batch int, o format.CreateOptions) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rec.parquet")
	w, err := Create(path, format.Header{Geometry: sensor}, o)
	if err != nil {
		t.Fatal(err)
	}
	for lo := 0; lo < b.Len(); lo += batch {
		if err := w.Write(t.Context(), b.Slice(lo, min(lo+batch, b.Len()))); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// open opens a file that stays open until the test ends.
func open(t testing.TB, path string, p format.Policy) (event.Source, error) {
	t.Helper()
	return Open(t.Context(), formattest.Open(t, path), p)
}

func mustOpen(t testing.TB, path string) *Store {
	t.Helper()
	src, err := open(t, path, format.Policy{})
	if err != nil {
		t.Fatal(err)
	}
	s, ok := src.(*Store)
	if !ok {
		t.Fatalf("%s is read through the policies, though it is a store", path)
	}
	return s
}

// within copies the events of a box.
func within(b event.Batch, box event.Box) event.Batch {
	out := event.NewBuffer(0)
	for i, t := range b.T() {
		x, y, p := b.X()[i], b.Y()[i], b.P()[i]
		if t >= box.T0 && t <= box.T1 && x >= box.X0 && x <= box.X1 && y >= box.Y0 && y <= box.Y1 && p >= box.P0 && p <= box.P1 {
			out.Append(t, x, y, p)
		}
	}
	return out.Batch()
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// scanBytes opens b as a file and scans all of it.
func scanBytes(t testing.TB, b []byte) (n int, err error) {
	t.Helper()
	f := format.File{ReaderAt: bytes.NewReader(b), Size: int64(len(b)), Path: "b.parquet"}
	sniff(f)
	src, err := Open(t.Context(), f, format.Policy{})
	if err != nil {
		return 0, err
	}
	st, err := src.Scan(t.Context(), event.All)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	for {
		b, err := st.Next(t.Context())
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return n, err
		}
		n += b.Len()
		b.Release()
	}
}
