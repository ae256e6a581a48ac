//go:build hdf5 && cgo

package hdf5

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/formattest"
	"github.com/evq-project/evq/io/hdf5/chunk"
	"gonum.org/v1/hdf5"
)

// listed returns the events [lo, hi) of b.
func listed(b event.Batch, lo, hi int) (out []formattest.Event) {
	for i := lo; i < hi; i++ {
		out = append(out, formattest.Event{int64(b.X()[i]), int64(b.Y()[i]), int64(b.P()[i]), b.T()[i]})
	}
	return out
}

// stripes is a recording in flat columns whose chunks have other sizes in each, with checksums and gzip.
func stripes(t testing.TB, b event.Batch, rows map[string]int) []byte {
	t.Helper()
	filters := []chunk.Filter{{ID: chunk.Deflate, Values: []uint32{6}}, {ID: chunk.Fletcher32}}
	path := testFile(t, nil, func(h *hdf5.File) {
		for name, kind := range map[string]int{"t": -8, "x": 2, "y": 2, "p": 1} {
			n, size := rows[name], max(kind, -kind)
			d, err := createDataset(h.ID(), "events/"+name, kind, []int{n}, filters)
			if err == nil {
				err = extend(d, int64(b.Len()))
			}
			for lo := 0; lo < b.Len() && err == nil; lo += n {
				raw := make([]byte, n*size)
				for i := lo; i < min(lo+n, b.Len()); i++ {
					v := map[string]int64{"t": b.T()[i], "x": int64(b.X()[i]), "y": int64(b.Y()[i]), "p": int64(b.P()[i])}[name]
					copy(raw[(i-lo)*size:], stored(elem{size: size, signed: kind < 0}, []int64{v}))
				}
				sum := fletcher(deflated(raw))
				err = writeChunk(d, int64(lo), sum)
			}
			if err == nil {
				err = closeDataset(d)
			}
			if err != nil {
				t.Error(err)
			}
		}
	})
	return read(t, path)
}

// storedAt returns where in the file a chunk is stored.
func storedAt(t testing.TB, data []byte, col int, row int64) (at, size int64) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "f.h5")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := openFile(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	at, size, ok := f.columns[col].place(row)
	if !ok {
		t.Fatal("no such chunk")
	}
	return at, size
}

// TestSalvageKeepsColumnsAligned damages one chunk of a column: its rows are left out of all.
func TestSalvageKeepsColumnsAligned(t *testing.T) {
	b := eventtest.Recording(11, 1000, vga)
	whole := stripes(t, b, map[string]int{"t": 100, "x": 64, "y": 300, "p": 7})
	for col, rows := range map[int][2]int{colT: {500, 600}, colX: {128, 192}, colY: {900, 1000}, colP: {0, 7}} {
		data := slices.Clone(whole)
		at, size := storedAt(t, data, col, int64(rows[0]))
		data[at+size/2] ^= 0x40
		name := "/events/" + columnNames[col]
		formattest.CheckSalvage(t, Format, formattest.Salvage{
			Name: columnNames[col], Data: data, OnDisk: true, Offset: at, Policy: format.Policy{OnUnsorted: format.Clamp},
			Want:     slices.Concat(listed(b, 0, rows[0]), listed(b, rows[1], 1000)),
			Counters: map[event.Counter]int64{event.DamagedBytes: size},
			Notes:    []string{fmt.Sprintf("bytes %#x-%#x are damaged and left out: dataset %s, rows %d-%d", at, at+size-1, name, rows[0], rows[1]-1)},
		})
	}
	// Two chunks of different columns that overlap.
	data := slices.Clone(whole)
	at, size := storedAt(t, data, colT, 500)
	at2, size2 := storedAt(t, data, colX, 576)
	clear(data[at+8 : at+size])
	clear(data[at2+8 : at2+size2])
	formattest.CheckSalvage(t, Format, formattest.Salvage{Name: "two", Data: data, OnDisk: true, Offset: at,
		Policy: format.Policy{OnUnsorted: format.Clamp},
		Want:   slices.Concat(listed(b, 0, 500), listed(b, 640, 1000)), Counters: map[event.Counter]int64{event.DamagedBytes: size + size2}})
}

// TestSalvageECF leaves out a damaged block of records.
func TestSalvageECF(t *testing.T) {
	b := fromMinus5(4 * testChunk)
	path := propheseeFile(t, b, nil, ecfFilter, func(r []byte) [][]byte {
		all := blocks(t, r)
		all[1] = all[1][:len(all[1])/2]
		return all
	})
	data := read(t, path)
	at, size := storedAt(t, data, colT, testChunk)
	formattest.CheckSalvage(t, Format, formattest.Salvage{Name: "ecf", Data: data, OnDisk: true, Offset: at,
		Want:     slices.Concat(listed(b, 0, testChunk), listed(b, 2*testChunk, 4*testChunk)),
		Counters: map[event.Counter]int64{event.DamagedBytes: size}, Notes: []string{"/CD/events, rows 64-127", "64 rows are left out"}})
}

// TestSalvageCutFile keeps the chunks that are whole in a file that was cut, and never makes an event up.
func TestSalvageCutFile(t *testing.T) {
	b := eventtest.Recording(7, 2000, vga)
	for name, whole := range map[string][]byte{
		"chunks": stripes(t, b, map[string]int{"t": 100, "x": 100, "y": 100, "p": 100}),
		"one piece": read(t, testFile(t, map[string]testColumn{
			"events/t": {elem{size: 8, signed: true}, b.T()}, "events/x": u2(wide(b.X())...), "events/y": u2(wide(b.Y())...), "events/p": u1(wide(b.P())...)}, nil)),
	} {
		salvaged := 0
		for i := range 60 {
			n := i * len(whole) / 60
			path := filepath.Join(t.TempDir(), "cut.h5")
			if err := os.WriteFile(path, whole[:n], 0o600); err != nil {
				t.Fatal(err)
			}
			got, rep, err := drain(t, path, format.Policy{Salvage: true, OnUnsorted: format.Clamp, TempDir: filepath.Dir(path)})
			if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "evq-*")); len(left) > 0 {
				t.Fatalf("%s, %d bytes: copies are left: %v", name, n, left)
			}
			if err != nil {
				continue
			}
			if !rep.Lost() || got.Len() >= b.Len() {
				t.Errorf("%s, %d bytes: %d events, %v", name, n, got.Len(), rep)
			}
			all, at := listed(b, 0, b.Len()), 0
			for _, e := range listed(got, 0, got.Len()) {
				for at < len(all) && all[at] != e {
					at++
				}
				if at == len(all) {
					t.Fatalf("%s, %d bytes: the event %v is not in the recording", name, n, e)
				}
				at++
			}
			salvaged = max(salvaged, got.Len())
		}
		if salvaged == 0 {
			t.Errorf("%s: nothing was salvaged of any", name)
		}
		t.Logf("%s: up to %d events", name, salvaged)
	}
}

func wide[T uint16 | int8](v []T) (out []int64) {
	for _, x := range v {
		out = append(out, int64(x))
	}
	return out
}

// fletcher appends HDF5's checksum, as the library does for stored bytes.
func fletcher(b []byte) []byte {
	var s1, s2 uint32
	for i := 0; i < len(b); i += 2 {
		w := uint32(b[i]) << 8
		if i+1 < len(b) {
			w |= uint32(b[i+1])
		}
		s1 = (s1 + w) % 65535
		s2 = (s2 + s1) % 65535
	}
	if s1 == 0 && bytes.ContainsFunc(b, func(r rune) bool { return r != 0 }) {
		s1 = 65535
	}
	return append(slices.Clone(b), byte(s1), byte(s1>>8), byte(s2), byte(s2>>8))
}
