//go:build hdf5 && cgo

package hdf5

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/formattest"
	"github.com/evq-project/evq/io/hdf5/chunk"
	"gonum.org/v1/hdf5"
)

func TestBadFiles(t *testing.T) {
	filtered := func(id int) func(*hdf5.File) {
		return func(h *hdf5.File) {
			d, err := createDataset(h.ID(), "events/t", 4, []int{8}, []chunk.Filter{{ID: id}})
			if err == nil {
				err = errors.Join(extend(d, 3), closeDataset(d))
			}
			if err != nil {
				t.Error(err)
			}
		}
	}
	float := func(h *hdf5.File) {
		if err := writeRaw(h, "events/t", hdf5.T_NATIVE_LDOUBLE, 3, make([]byte, 48)); err != nil {
			t.Error(err)
		}
	}
	noT := plainColumns()
	delete(noT, "events/t")
	tests := []struct {
		name    string
		columns map[string]testColumn
		more    func(*hdf5.File)
		want    []string
	}{
		{"unequal", with("y", u2(1, 2)), nil, []string{"unequal", "/events/y has 2", "/events/t has 3"}},
		{"no events", map[string]testColumn{"raw": u4(1), "events/other": u1(2)}, nil, []string{"/raw", "/events/other", "/events/t is missing"}},
		{"ecf", noT, filtered(36559), []string{"36559", "prophesee ecf", "/events/t"}},
		{"unnamed filter", noT, filtered(60123), []string{"60123", "/events/t"}},
		{"float", noT, float, []string{"float128", "/events/t"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := testFile(t, tt.columns, tt.more)
			_, err := openTest(t, path, format.Policy{})
			for _, w := range tt.want {
				if err == nil || !strings.Contains(err.Error(), w) {
					t.Errorf("the error %v does not say %q", err, w)
				}
			}
			if p := Format.Sniff(formattest.Open(t, path)); p.Confidence <= 0 || p.Confidence >= 1 {
				t.Errorf("sniffed as %+v", p)
			}
		})
	}
}

// Every chunk of times that h5py and hdf5plugin made is read through the library as well, with zstd in C.
func TestChunksThroughLibrary(t *testing.T) {
	raw, err := os.ReadFile("chunk/testdata/chunks.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors []struct {
		Name, Data string
		Filters    []chunk.Filter
		Mask       uint32
		Stored     []byte
	}
	if err := json.Unmarshal(raw, &vectors); err != nil {
		t.Fatal(err)
	}
	const n = 600
	zeros := make([]int64, n)
	columns := map[string]testColumn{"events/x": u2(zeros...), "events/y": u2(zeros...), "events/p": u1(zeros...)}
	for _, v := range vectors {
		if v.Data != "t4" || v.Mask != 0 || strings.HasSuffix(v.Name, "_12") {
			continue
		}
		path := testFile(t, columns, func(h *hdf5.File) {
			d, err := createDataset(h.ID(), "events/t", 4, []int{n}, v.Filters)
			if err == nil {
				err = errors.Join(extend(d, n), writeChunk(d, 0, v.Stored), closeDataset(d))
			}
			if err != nil {
				t.Error(err)
			}
		})
		b, _, err := drain(t, path, format.Policy{OnUnsorted: format.Clamp})
		if err != nil || b.Len() != n {
			t.Errorf("%s: %d events: %v", v.Name, b.Len(), err)
			continue
		}
		last := int64(0)
		for i, got := range b.T() {
			last = max(last, 14224870+7*int64(i)+int64(i*i%11))
			if got != last {
				t.Errorf("%s: t[%d] = %d, want %d", v.Name, i, got, last)
				break
			}
		}
	}
}

// Times that were never written are damage, and polarities are OFF, which is what HDF5 fills up with.
func TestUnwrittenChunks(t *testing.T) {
	const n = 20
	c := plainColumns()
	for name := range c {
		c[name] = testColumn{c[name].elem, make([]int64, n)}
	}
	delete(c, "events/t")
	path := testFile(t, c, func(h *hdf5.File) {
		d, err := createDataset(h.ID(), "events/t", 4, []int{8}, nil)
		if err == nil {
			err = errors.Join(extend(d, n), writeChunk(d, 16, stored(elem{size: 4}, []int64{5, 6, 7, 8, 0, 0, 0, 0})), closeDataset(d))
		}
		if err != nil {
			t.Error(err)
		}
	})
	var syntax *format.SyntaxError
	if _, _, err := drain(t, path, format.Policy{}); !errors.As(err, &syntax) || !errors.Is(err, errUnwritten) || syntax.Offset <= 0 {
		t.Errorf("times that were not written: %v", err)
	}
	b, rep, err := drain(t, path, format.Policy{Salvage: true})
	if err != nil || b.Len() != 4 || b.T()[0] != 5 || rep.Get(event.DamagedBytes).Lost != 2*8*4 {
		t.Errorf("salvaged: times %v, %v: %v", b.T(), rep, err)
	}
	delete(c, "events/p")
	c["events/t"] = testColumn{elem{size: 4}, make([]int64, n)}
	path = testFile(t, c, func(h *hdf5.File) {
		d, err := createDataset(h.ID(), "events/p", 1, []int{8}, nil)
		if err == nil {
			err = errors.Join(extend(d, n), writeChunk(d, 16, []byte{1, 1, 1, 1, 0, 0, 0, 0}), closeDataset(d))
		}
		if err != nil {
			t.Error(err)
		}
	})
	if b, rep, err := drain(t, path, format.Policy{}); err != nil || b.Len() != n || b.P()[15] != 0 || b.P()[16] != 1 || rep.Lost() {
		t.Errorf("polarities %v: %v", b.P(), err)
	}
}

func TestCutFile(t *testing.T) {
	path := written(t, eventtest.Recording(7, 1000, vga), "gzip")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 50 {
		cut := filepath.Join(t.TempDir(), "cut.h5")
		if err := os.WriteFile(cut, b[:i*len(b)/50], 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := drain(t, cut, format.Policy{}); err == nil {
			t.Errorf("%d of %d bytes are enough", i*len(b)/50, len(b))
		}
	}
}

// Damage inside a chunk is an error that names the dataset and the chunk.
func TestDamagedChunk(t *testing.T) {
	for _, compression := range []string{"gzip", "blosc-zstd", "blosc-lz4", "zstd", "lz4"} {
		events := eventtest.Recording(7, 100_000, vga)
		path := written(t, events, compression)
		f, err := openFile(path)
		if err != nil {
			t.Fatal(err)
		}
		raw, _, err := f.columns[colX].readChunk(chunkRows, nil, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		at := strings.Index(string(whole), string(raw))
		if err := f.Close(); err != nil || at < 0 {
			t.Fatal("the chunk is not in the file", err)
		}
		clear(whole[at : at+len(raw)/2])
		if err := os.WriteFile(path, whole, 0o600); err != nil {
			t.Fatal(err)
		}
		_, _, err = drain(t, path, format.Policy{})
		if !errors.Is(err, chunk.ErrDamaged) || !strings.Contains(err.Error(), "/events/x") || !strings.Contains(err.Error(), "65536") {
			t.Errorf("%s: %v", compression, err)
		}
	}
}
