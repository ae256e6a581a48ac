package parquet

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/format"
)

// scanned reads a store one way or the other; an error ends it.
func scanned(t testing.TB, s *Store, library bool) (event.Batch, error) {
	t.Helper()
	c := *s
	c.library = library
	out := event.NewBuffer(0)
	_, err := event.Each(t.Context(), &c, event.All, func(b event.Batch) error { out.AppendBatch(b); return nil })
	return out.Batch(), err
}

// What is decoded here is what the library decodes: stores and other files, of one row and of many, on both sides of
// the lengths at which miniblocks, blocks and pages end.
func TestPagesAsTheLibrary(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for _, n := range []int{1, 2, 31, 32, 33, 127, 128, 129, 255, 2049, 70001} {
		b := eventtest.Recording(uint64(n), n, event.Geometry{Width: 1 + r.IntN(2000), Height: 1 + r.IntN(1000)})
		for _, f := range []foreign{
			{t: i64, x: i32, y: i32, p: i32},
			{t: i64, x: i32, y: i32, p: i32, props: []parquet.WriterProperty{parquet.WithDictionaryDefault(false)}},
			{t: i64, x: i32, y: i32, p: i32, props: []parquet.WriterProperty{parquet.WithEncodingFor("t", parquet.Encodings.DeltaBinaryPacked), parquet.WithDictionaryFor("t", false)}},
			{t: i64, x: i32, y: i32, p: i32, props: []parquet.WriterProperty{parquet.WithDataPageVersion(parquet.DataPageV2), parquet.WithCompression(compress.Codecs.Zstd)}},
			{t: i64, x: i32, y: i32, p: i32, props: []parquet.WriterProperty{parquet.WithDataPageSize(300), parquet.WithDictionaryPageSizeLimit(100)}},
			{t: i64, x: u16, y: u16, p: i8, group: 100},
			{t: i64, x: i32, y: i32, p: i32, nullable: true},
		} {
			v := valuesOf(b)
			if r.IntN(3) == 0 {
				for i, p := range v.p { // -1 is OFF
					v.p[i] = 2*p - 1
				}
			}
			same(t, fmt.Sprintf("%d rows, %v", n, f), f.write(t, v, -1))
		}
		same(t, fmt.Sprintf("a store of %d", n), write(t, b, 1000, format.CreateOptions{}))
	}
}

func same(t *testing.T, what, path string) {
	t.Helper()
	src, err := open(t, path, format.Policy{OnOffSensor: format.Keep})
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	s, ok := src.(*Store)
	if !ok { // not in order: the policies stand around it
		return
	}
	want, err := scanned(t, s, true)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	got, err := scanned(t, s, false)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if d := eventtest.Diff(want, got); d != "" {
		t.Fatalf("%s: %s", what, d)
	}
}

// A store is read by what stands here, not by the library: else the tests above compare it with itself.
func TestStoresAreFast(t *testing.T) {
	s := mustOpen(t, write(t, eventtest.Recording(1, 5000, sensor), 5000, format.CreateOptions{}))
	d, err := s.openDecoder(event.AllColumns, true)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.open(s.groups[0]); err != nil {
		t.Fatal(err)
	}
	for k, p := range d.fast {
		if p == nil {
			t.Errorf("%s is decoded by the library", columnNames[k])
		}
	}
}

// Packed values of every width are unpacked, also where the bytes end with the last.
func TestUnpack(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for width := range 65 {
		for _, n := range []int{1, 7, 8, 9, 64} {
			want := make([]uint64, n)
			packed := make([]byte, (n*width+7)/8)
			for i := range want {
				if width > 0 {
					want[i] = r.Uint64() & (math.MaxUint64 >> (64 - width))
				}
				for b := range width {
					at := i*width + b
					packed[at>>3] |= byte(want[i]>>b&1) << (at & 7)
				}
			}
			got := make([]uint64, n)
			unpack(got, packed, width)
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("%d values of %d bits: %v, want %v", n, width, got, want)
			}
		}
	}
}

// FuzzPages holds what is decoded here to what the library decodes, of stores with damaged bytes: where both read all
// rows, they read the same.
func FuzzPages(f *testing.F) {
	var seed bytes.Buffer
	path := write(f, eventtest.Recording(3, 3000, sensor), 700, format.CreateOptions{Compression: "none"})
	file, err := open(f, path, format.Policy{})
	if err != nil {
		f.Fatal(err)
	}
	raw := file.(*Store).file
	if _, err := io.Copy(&seed, io.NewSectionReader(raw, 0, raw.Size)); err != nil {
		f.Fatal(err)
	}
	f.Add(uint32(10), byte(1))
	f.Add(uint32(4000), byte(255))
	f.Fuzz(func(t *testing.T, at uint32, change byte) {
		data := bytes.Clone(seed.Bytes())
		data[int(at)%len(data)] ^= change
		src, err := Open(t.Context(), format.File{ReaderAt: bytes.NewReader(data), Size: int64(len(data)), Path: "x"}, format.Policy{})
		if err != nil {
			return
		}
		s, ok := src.(*Store)
		if !ok {
			return
		}
		want, err := scanned(t, s, true)
		got, err2 := scanned(t, s, false)
		if err == nil && err2 == nil {
			if d := eventtest.Diff(want, got); d != "" {
				t.Errorf("byte %d changed by %d: %s", at, change, d)
			}
		}
		if err2 != nil && !errors.Is(err2, ErrDamaged) && err == nil {
			t.Logf("only here: %v", err2)
		}
	})
}

// Indices of every width are unpacked, also where the bytes end with the last, and none passes the limit unseen.
func TestUnpackIndices(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 9))
	for width := range 17 {
		for _, n := range []int{1, 7, 8, 9, 16, 64, 75} {
			most := 1<<width - 1
			want, packed := make([]uint16, n), make([]uint64, (n+7)&^7)
			for i := range want {
				want[i] = uint16(r.IntN(most + 1))
				packed[i] = uint64(want[i])
			}
			data := appendPacked(nil, packed, width)
			got := make([]uint16, n)
			for _, cut := range []int{0, 3} { // the bytes end with the last value, or lack some of it
				b := data[:max(0, len(data)-cut)]
				ok := unpackIndices(got, b, width, slices.Max(want))
				if cut == 0 && (!ok || !slices.Equal(got, want)) {
					t.Fatalf("%d indices of %d bits: %v (%t), want %v", n, width, got, ok, want)
				}
			}
			if top := slices.Max(want); top > 0 && unpackIndices(got, data, width, top-1) {
				t.Fatalf("%d indices of %d bits: none is seen above %d in %v", n, width, top-1, want)
			}
		}
	}
}
