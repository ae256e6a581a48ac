// Package eventtest makes seeded recordings and what tests need around them.
//
// It knows events only: no formats, no files but the folder of test data.
package eventtest

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/evq-project/evq/io/event"
)

// Data returns the folder of real recordings: $EVQ_TEST_DATA, or ../shared/data beside the module's root. It
// skips the test where there is none.
func Data(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("EVQ_TEST_DATA")
	if dir == "" {
		dir = filepath.Join(root(t), "..", "shared", "data")
	}
	if st, err := os.Stat(dir); err != nil || !st.IsDir() {
		t.Skipf("no real recordings: %s is not a folder; set EVQ_TEST_DATA", dir)
	}
	return dir
}

// root walks up to the folder that holds go.mod.
func root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Fatal("no go.mod above the test's folder")
		}
		dir = up
	}
}

// Names lists the files of a folder by their names, sorted.
func Names(t testing.TB, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

// Drain scans src and returns all that it yields, copied into one batch. It fails the test on an error, an
// empty batch, or a report whose count of events is wrong; all requested columns must be there.
func Drain(t testing.TB, src event.Source, want event.Request) event.Batch {
	t.Helper()
	out := event.NewBuffer(0)
	rep, err := event.Each(t.Context(), src, want, func(b event.Batch) error {
		if b.Len() == 0 {
			t.Errorf("%s: an empty batch after %d events", src, out.Len())
		}
		out.T = append(out.T, b.T()...)
		out.X = append(out.X, b.X()...)
		out.Y = append(out.Y, b.Y()...)
		out.P = append(out.P, b.P()...)
		return nil
	})
	if err != nil {
		t.Fatalf("%s: after %d events: %v", src, out.Len(), err)
	}
	if n := rep.Events; n != int64(out.Len()) {
		t.Errorf("%s: the report counts %d events, the stream yielded %d", src, n, out.Len())
	}
	return event.New(out.T, trim(t, want.Columns, event.ColX, "x", out.X, out.Len()),
		trim(t, want.Columns, event.ColY, "y", out.Y, out.Len()), trim(t, want.Columns, event.ColP, "p", out.P, out.Len()))
}

// trim returns a column that has n values, and nil where a column that was not asked for came in parts.
func trim[V any](t testing.TB, asked, col event.Columns, name string, v []V, n int) []V {
	t.Helper()
	if len(v) == n {
		return v
	}
	if asked.Has(col) {
		t.Fatalf("column %s has %d of %d values", name, len(v), n)
	}
	return nil
}

// Diff names the first difference between two batches; it is empty where they are equal.
func Diff(a, b event.Batch) string {
	n := min(a.Len(), b.Len())
	i := min(differ(a.T(), b.T(), n), differ(a.X(), b.X(), n), differ(a.Y(), b.Y(), n), differ(a.P(), b.P(), n))
	if i < n {
		return fmt.Sprintf("event %d: %s is not %s", i, describe(a, i), describe(b, i))
	}
	if a.Len() != b.Len() {
		return fmt.Sprintf("%d events are not %d", a.Len(), b.Len())
	}
	return ""
}

// differ returns the first of n rows at which two columns differ, n where there is none. A column that is
// missing differs from one that is not.
func differ[V comparable](a, b []V, n int) int {
	if len(a) == 0 && len(b) == 0 {
		return n
	}
	for i := range n {
		if i >= len(a) || i >= len(b) || a[i] != b[i] {
			return i
		}
	}
	return n
}

// describe prints event i as (x,y,p,t), with - for a column that is missing.
func describe(b event.Batch, i int) string {
	x, y, p := "-", "-", "-"
	if len(b.X()) > 0 {
		x = fmt.Sprint(b.X()[i])
	}
	if len(b.Y()) > 0 {
		y = fmt.Sprint(b.Y()[i])
	}
	if len(b.P()) > 0 {
		p = fmt.Sprint(b.P()[i])
	}
	return fmt.Sprintf("(%s,%s,%s,%d)", x, y, p, b.T()[i])
}

// Digest returns the sha256 of the events as packed little-endian records x uint16, y uint16, p uint8,
// t int64, once in file order and once ordered by (t, x, y, p).
func Digest(b event.Batch) (fileOrder, sorted string) {
	h := sha256.New()
	rows := make([]int, b.Len())
	for i := range rows {
		rows[i] = i
	}
	fileOrder = digest(h, b, rows)
	slices.SortFunc(rows, func(i, j int) int { return compare(b, i, j) })
	h.Reset()
	return fileOrder, digest(h, b, rows)
}

func digest(h hash.Hash, b event.Batch, rows []int) string {
	var rec [13]byte
	for _, i := range rows {
		binary.LittleEndian.PutUint16(rec[0:], b.X()[i])
		binary.LittleEndian.PutUint16(rec[2:], b.Y()[i])
		rec[4] = byte(b.P()[i])
		binary.LittleEndian.PutUint64(rec[5:], uint64(b.T()[i]))
		h.Write(rec[:])
	}
	return hex.EncodeToString(h.Sum(nil))
}

// compare orders events by (t, x, y, p).
func compare(b event.Batch, i, j int) int {
	return cmp.Or(cmp.Compare(b.T()[i], b.T()[j]), cmp.Compare(b.X()[i], b.X()[j]),
		cmp.Compare(b.Y()[i], b.Y()[j]), cmp.Compare(b.P()[i], b.P()[j]))
}

// Source serves a batch as a recording of its own, batch events at a time. It yields every event and every
// column whatever is asked for.
func Source(b event.Batch, g event.Geometry, batch int) event.Source {
	return &memory{events: b, geometry: g, batch: max(batch, 1)}
}

type memory struct {
	events   event.Batch
	geometry event.Geometry
	batch    int
}

func (m *memory) String() string           { return "memory" }
func (m *memory) Geometry() event.Geometry { return m.geometry }

func (m *memory) Info() event.Info {
	info := event.Info{
		Name: "memory", Format: "memory", Geometry: m.geometry, Unit: "us", Polarity: "0/1",
		Sorted: slices.IsSorted(m.events.T()), Events: int64(m.events.Len()),
	}
	if b := m.events; b.Len() > 0 && b.X() != nil && b.Y() != nil && b.P() != nil {
		info.Stats = true
		info.Extent = event.Box{
			T0: slices.Min(b.T()), T1: slices.Max(b.T()), X0: slices.Min(b.X()), X1: slices.Max(b.X()),
			Y0: slices.Min(b.Y()), Y1: slices.Max(b.Y()), P0: slices.Min(b.P()), P1: slices.Max(b.P()),
		}
	}
	return info
}

func (m *memory) Scan(ctx context.Context, _ event.Request) (event.Stream, error) {
	return &memoryStream{source: m}, ctx.Err()
}

type memoryStream struct {
	source *memory
	next   int
	report event.Report
}

func (s *memoryStream) Next(ctx context.Context) (event.Batch, error) {
	if err := ctx.Err(); err != nil {
		return event.Batch{}, err
	}
	lo := s.next
	hi := min(lo+s.source.batch, s.source.events.Len())
	if lo == hi {
		return event.Batch{}, io.EOF
	}
	s.next = hi
	s.report.Events += int64(hi - lo)
	return s.source.events.Slice(lo, hi), nil
}

func (s *memoryStream) Report() *event.Report { return &s.report }
func (s *memoryStream) Close() error          { return nil }
