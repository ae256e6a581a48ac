package chunk

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// A vector is one chunk as h5py and hdf5plugin stored it; Data names the elements in it (see elements).
type vector struct {
	Name    string
	Data    string
	Filters []Filter
	Mask    uint32
	Stored  []byte
}

func vectors(t testing.TB) []vector {
	t.Helper()
	raw, err := os.ReadFile("testdata/chunks.json")
	if err != nil {
		t.Fatal(err)
	}
	var v []vector
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// elements returns the bytes of a vector's elements and the size of one.
func elements(t testing.TB, data string) (raw []byte, size int) {
	t.Helper()
	const n = 600
	switch data {
	case "t4", "t8":
		for i := range int64(n) {
			v := uint64(14224870 + 7*i + i*i%11)
			if data == "t4" {
				raw = binary.LittleEndian.AppendUint32(raw, uint32(v))
			} else {
				raw = binary.LittleEndian.AppendUint64(raw, v)
			}
		}
		return raw, len(raw) / n
	case "x2":
		for i := range n {
			raw = binary.LittleEndian.AppendUint16(raw, uint16((i/5*37+i%5)%1280))
		}
		return raw, 2
	case "p1":
		for i := range n {
			raw = append(raw, byte(i*i/3%2))
		}
		return raw, 1
	case "far": // a run without repeats that comes back beyond the reach of short matches
		s := uint32(1)
		for range 9000 {
			s = s*1664525 + 1013904223
			raw = append(raw, byte(s>>24))
		}
		return append(append(raw, raw...), raw...), 1
	case "zeros":
		return make([]byte, 1200000), 4
	}
	t.Fatalf("no elements called %q", data)
	return nil, 0
}

func TestDecodeWhatH5pyStored(t *testing.T) {
	seen := map[int]bool{}
	for _, v := range vectors(t) {
		t.Run(v.Name, func(t *testing.T) {
			want, size := elements(t, v.Data)
			d, err := NewDecoder(v.Filters, size, nil)
			if err != nil {
				t.Fatal(err)
			}
			for range 2 { // the second time with used memory
				got := bytes.Repeat([]byte{0xaa}, len(want))
				if err := d.Decode(got, v.Stored, v.Mask); err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(got, want) {
					t.Fatal("the elements differ")
				}
			}
		})
		for _, f := range v.Filters {
			seen[f.ID] = true
		}
	}
	for _, id := range []int{Deflate, Shuffle, Fletcher32, LZF, Blosc, LZ4, Zstd} {
		if !seen[id] {
			t.Errorf("no vector has filter %d", id)
		}
	}
}

// Damaged chunks are errors or other elements, never a panic and never more memory than the chunk has.
func TestDecodeDamage(t *testing.T) {
	for _, v := range vectors(t) {
		if v.Data == "zeros" || v.Data == "far" {
			continue
		}
		want, size := elements(t, v.Data)
		d, err := NewDecoder(v.Filters, size, nil)
		if err != nil {
			t.Fatal(err)
		}
		got := make([]byte, len(want))
		step := max(1, len(v.Stored)/300)
		for n := 0; n < len(v.Stored); n += step {
			_ = d.Decode(got, v.Stored[:n], v.Mask)
		}
		stored := bytes.Clone(v.Stored)
		for i := 0; i < len(stored); i += max(1, step) {
			for _, flip := range []byte{1, 0x80, 0xff} {
				stored[i] ^= flip
				_ = d.Decode(got, stored, v.Mask)
				stored[i] ^= flip
			}
		}
		// the decoder is as good as new afterwards
		if err := d.Decode(got, stored, v.Mask); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: after damage: %v", v.Name, err)
		}
	}
}

func TestChecksumFindsDamage(t *testing.T) {
	for _, v := range vectors(t) {
		if !strings.Contains(v.Name, "fletcher32") {
			continue
		}
		want, size := elements(t, v.Data)
		d, err := NewDecoder(v.Filters, size, nil)
		if err != nil {
			t.Fatal(err)
		}
		got := make([]byte, len(want))
		for i := range v.Stored {
			stored := bytes.Clone(v.Stored)
			stored[i] ^= 4
			if d.Decode(got, stored, v.Mask) == nil {
				t.Fatalf("%s: byte %d of %d is wrong and nobody says so", v.Name, i, len(stored))
			}
		}
	}
}

func TestCutChunksAreErrors(t *testing.T) {
	for _, v := range vectors(t) {
		want, size := elements(t, v.Data)
		d, err := NewDecoder(v.Filters, size, nil)
		if err != nil {
			t.Fatal(err)
		}
		got := make([]byte, len(want))
		for _, n := range []int{0, 1, 7, 15, len(v.Stored) / 2, len(v.Stored) - 1} {
			if d.Decode(got, v.Stored[:n], v.Mask) == nil {
				t.Errorf("%s: %d of %d bytes are enough", v.Name, n, len(v.Stored))
			}
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, v := range vectors(f) {
		if v.Data != "zeros" && v.Data != "far" {
			f.Add(v.Filters[len(v.Filters)-1].ID, v.Stored)
		}
	}
	f.Fuzz(func(t *testing.T, id int, stored []byte) {
		d, err := NewDecoder([]Filter{{ID: id}}, 4, nil)
		if err != nil {
			t.Skipf("no filter to try: %v", err)
		}
		_ = d.Decode(make([]byte, 2400), stored, 0)
	})
}
