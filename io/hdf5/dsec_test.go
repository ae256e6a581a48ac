//go:build hdf5 && cgo

package hdf5

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/format"
	"gonum.org/v1/hdf5"
)

// readWhole reads a dataset of one axis as numbers, and its type.
func readWhole(t *testing.T, path, name string) (values []int64, typ string) {
	t.Helper()
	err := locked(func() error {
		h, err := hdf5.OpenFile(path, hdf5.F_ACC_RDONLY)
		if err != nil {
			return err
		}
		defer h.Close()
		id, err := openDataset(h.ID(), name)
		if err != nil {
			return err
		}
		defer closeDataset(id) //nolint:errcheck // only read
		d, err := inspect(id)
		if err != nil {
			return err
		}
		ds, err := h.OpenDataset(name)
		if err != nil {
			return err
		}
		defer ds.Close()
		values, typ = make([]int64, d.rows), d.elem.String()
		if d.rows == 0 || len(d.filters) > 0 { // chunks are the business of other tests
			return nil
		}
		return ds.Read(&values)
	})
	if err != nil {
		t.Fatal(err)
	}
	return values, typ
}

// createWith writes a recording and returns its path.
func createWith(t *testing.T, b event.Batch, o format.CreateOptions) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "events.h5")
	s, err := Format.Create(path, format.Header{Geometry: vga}, o)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Write(t.Context(), b), s.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

// The layout's own example (uzh-rpg/DSEC, eventslicer.py): the index holds its two rules, and t is relative to t_offset.
func TestDSECIndex(t *testing.T) {
	const offset = 49_599_300_523
	b := event.NewBuffer(10)
	for i, v := range []int64{0, 500, 2100, 5000, 5000, 7100, 7200, 7200, 8100, 9000} {
		b.Append(offset+v, uint16(i), uint16(2*i+1), int8(i%2))
	}
	path := createWith(t, b.Batch(), format.CreateOptions{Layout: layoutDSEC, Compression: "none"})
	index, typ := readWhole(t, path, "ms_to_idx")
	if want := []int64{0, 2, 2, 3, 3, 3, 5, 5, 8, 9}; !slices.Equal(index, want) || typ != "<u8" {
		t.Errorf("ms_to_idx is %v of type %s, want %v", index, typ, want)
	}
	if _, typ := readWhole(t, path, "events/t"); typ != "<u4" {
		t.Errorf("t is of type %s", typ)
	}
	src, err := openTest(t, path, format.Policy{Strict: true})
	if err != nil {
		t.Fatal(err)
	}
	if d := eventtest.Diff(eventtest.Drain(t, src, event.All), b.Batch()); d != "" {
		t.Error(d)
	}
	if got := src.Info().Field("t_offset"); got != "49599300523" || src.Geometry() != vga {
		t.Errorf("t_offset %s, %v", got, src.Geometry())
	}
}

// A long recording comes back as it was, and each entry of its index obeys the rules.
func TestDSECRoundTrip(t *testing.T) {
	for _, n := range []int{0, 1, chunkRows + 17} {
		want := eventtest.Recording(7, n, vga)
		path := createWith(t, want, format.CreateOptions{Layout: layoutDSEC, Polarity: "pm1"})
		src, err := openTest(t, path, format.Policy{})
		if err != nil {
			t.Fatal(err)
		}
		if d := eventtest.Diff(eventtest.Drain(t, src, event.All), want); d != "" {
			t.Errorf("%d events: %s", n, d)
		}
		index, _ := readWhole(t, path, "ms_to_idx")
		times := want.T()
		for k, i := range index {
			since := func(i int64) int64 { return times[i] - times[0] }
			if since(i) < int64(k)*1000 || i > 0 && since(i-1) >= int64(k)*1000 {
				t.Fatalf("%d events: ms_to_idx[%d] is %d", n, k, i)
			}
		}
		if n > 0 && int64(len(index)) != (times[n-1]-times[0])/1000+1 {
			t.Errorf("%d events: the index has %d entries", n, len(index))
		}
	}
}

func TestDSECRefuses(t *testing.T) {
	for _, c := range []struct {
		t  []int64
		is error
		at int64
	}{{[]int64{5, 4}, format.ErrOrder, 1}, {[]int64{-3, 0, 1<<32 - 3}, format.ErrRange, 2}} {
		dir := t.TempDir()
		s, err := Format.Create(filepath.Join(dir, "a.h5"), format.Header{}, format.CreateOptions{Layout: layoutDSEC})
		if err != nil {
			t.Fatal(err)
		}
		n := len(c.t)
		err = s.Write(t.Context(), event.New(c.t, make([]uint16, n), make([]uint16, n), make([]int8, n)))
		var e *format.EventError
		if !errors.Is(err, c.is) || !errors.As(err, &e) || e.Event != c.at {
			t.Errorf("%v: %v", c.t, err)
		}
		if s.Close() == nil {
			t.Error("a failed recording closes without an error")
		}
		if left := eventtest.Names(t, dir); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	}
}

// With -1 for OFF the column has a sign, and reads back as 0 and 1.
func TestPolarityOut(t *testing.T) {
	want := eventtest.Recording(2, 1000, vga)
	path := createWith(t, want, format.CreateOptions{Polarity: "pm1"})
	if _, typ := readWhole(t, path, "events/p"); typ != "|i1" {
		t.Errorf("p is of type %s", typ)
	}
	b, rep, err := drain(t, path, format.Policy{Polarity: "pm1"}) // which refuses 0
	if err != nil {
		t.Fatal(err)
	}
	if d := eventtest.Diff(b, want); d != "" || rep.N(event.RemappedPolarity) == 0 {
		t.Errorf("%s; %s", d, rep)
	}
}
