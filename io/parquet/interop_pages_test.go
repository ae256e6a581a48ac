package parquet

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/metadata"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
)

// The library writes one geometry of delta blocks, one order of dictionaries and one kind of runs. Here pages are made bit
// by bit, in every way that parquet-format's Encodings.md allows, and by none of the code that stores are written with.

// A bitsOut is a string of bits, the least significant of a byte first.
type bitsOut struct {
	b []byte
	n int // bits of the last byte that are taken
}

func (o *bitsOut) put(v uint64, width int) {
	for i := range width {
		if o.n&7 == 0 {
			o.b, o.n = append(o.b, 0), 0
		}
		o.b[len(o.b)-1] |= byte(v>>i&1) << o.n
		o.n++
	}
}

// slowDelta encodes integers in blocks of so many values and parts. The widths of parts that hold no values may be
// anything, and are.
func slowDelta(r *rand.Rand, v []int64, block, minis int) []byte {
	out := binary.AppendUvarint(nil, uint64(block))
	out = binary.AppendUvarint(out, uint64(minis))
	out = binary.AppendUvarint(out, uint64(len(v)))
	if len(v) == 0 {
		return append(out, 0)
	}
	out = binary.AppendVarint(out, v[0])
	for at := 1; at < len(v); at += block {
		var d []int64
		for i := at; i < min(at+block, len(v)); i++ {
			d = append(d, v[i]-v[i-1])
		}
		least := slices.Min(d)
		if r.IntN(3) == 0 {
			least -= int64(r.IntN(9)) // any reference will do
		}
		out = binary.AppendVarint(out, least)
		widths, packed, per := make([]byte, minis), bitsOut{}, block/minis
		for m := range minis {
			if m*per >= len(d) {
				widths[m] = byte(r.IntN(256))
				continue
			}
			part := make([]uint64, per)
			for i := range part {
				if m*per+i < len(d) {
					part[i] = uint64(d[m*per+i]) - uint64(least)
				} else if r.IntN(2) == 0 {
					part[i] = part[0] // what fills a part up may be anything
				}
			}
			width := min(64, bits.Len64(slices.Max(part))+r.IntN(2))
			widths[m] = byte(width)
			for _, x := range part {
				packed.put(x, width)
			}
		}
		out = append(append(out, widths...), packed.b...)
	}
	return out
}

// slowRuns encodes indices in runs and packed groups of random lengths, in width bits or more.
func slowRuns(r *rand.Rand, v []uint16, width int) []byte {
	out := []byte{byte(width)}
	for i := 0; i < len(v); {
		equal := 1
		for i+equal < len(v) && v[i+equal] == v[i] {
			equal++
		}
		if r.IntN(2) == 0 {
			n := 1 + r.IntN(equal)
			out = binary.AppendUvarint(out, uint64(n)<<1)
			out = append(out, binary.LittleEndian.AppendUint32(nil, uint32(v[i]))[:(width+7)/8]...)
			i += n
			continue
		}
		groups := 1 + r.IntN(12)
		out = binary.AppendUvarint(out, uint64(groups)<<1|1)
		var packed bitsOut
		for k := range groups * 8 {
			if i+k < len(v) {
				packed.put(uint64(v[i+k]), width)
			} else {
				packed.put(0, width)
			}
		}
		if i += groups * 8; i > len(v) && i-len(v) >= 8 {
			i = len(v) // groups without a value: a writer may leave off their bytes
			packed.b = packed.b[:len(packed.b)-r.IntN(2)*width*((i-len(v))/8)]
		}
		out = append(out, packed.b...)
	}
	return out
}

// A slowColumn is a column chunk on its way.
type slowColumn struct {
	r     *rand.Rand
	pages file.PageWriter
}

// page writes data of n values as a page of one version or the other.
func (c slowColumn) page(t *testing.T, data []byte, n int, e parquet.Encoding) {
	t.Helper()
	var p file.DataPage
	size := int32(len(data))
	if c.r.IntN(2) == 0 {
		if c.pages.HasCompressor() {
			data = c.pages.Compress(new(bytes.Buffer), data)
		}
		p = file.NewDataPageV1(memory.NewBufferBytes(data), int32(n), e, parquet.Encodings.RLE, parquet.Encodings.RLE, size)
	} else {
		deflated := c.pages.HasCompressor() && c.r.IntN(2) == 0 // each page says whether it is
		if deflated {
			data = c.pages.Compress(new(bytes.Buffer), data)
		}
		p = file.NewDataPageV2(memory.NewBufferBytes(data), int32(n), 0, int32(n), e, 0, 0, size, deflated)
	}
	if _, err := c.pages.WriteDataPage(p); err != nil {
		t.Fatal(err)
	}
}

// dictionary draws a dictionary that has the values of v, and says which index each value has.
func (c slowColumn) dictionary(v []uint16) (dict []uint16, index map[uint16]uint16) {
	dict = slices.Compact(slices.Sorted(slices.Values(v)))
	top, way := dict[len(dict)-1], c.r.IntN(4)
	if int(top) > 40*len(v) {
		way %= 3 // too large for so few
	}
	switch way {
	case 0:
		slices.Reverse(dict)
	case 1: // by first use
		seen := map[uint16]bool{}
		dict = dict[:0]
		for _, x := range v {
			if !seen[x] {
				seen[x], dict = true, append(dict, x)
			}
		}
	case 2: // with entries that nobody needs, some of them twice
		dict = append([]uint16{9, 9, 65535}, dict...)
	case 3: // the identity, as a store has it
		dict = dict[:0]
		for x := range int(top) + 1 {
			dict = append(dict, uint16(x))
		}
	}
	index = map[uint16]uint16{}
	for i, x := range dict {
		index[x] = uint16(i)
	}
	return dict, index
}

// write writes values as pages of random lengths: of indices, and plain ones where a dictionary has ended or none was.
func (c slowColumn) write(t *testing.T, v []uint16) (hasDictionary bool) {
	t.Helper()
	var index map[uint16]uint16
	var width int
	if len(v) > 0 && c.r.IntN(4) > 0 {
		dict, of := c.dictionary(v)
		var data []byte
		for _, x := range dict {
			data = binary.LittleEndian.AppendUint32(data, uint32(x))
		}
		page := file.NewDictionaryPage(memory.NewBufferBytes(data), int32(len(dict)), parquet.Encodings.Plain)
		if _, err := c.pages.WriteDictionaryPage(page); err != nil {
			t.Fatal(err)
		}
		index, width = of, bits.Len(uint(len(dict)-1))
	}
	for len(v) > 0 {
		n := min(len(v), 1+c.r.IntN(700))
		if index == nil || c.r.IntN(8) == 0 {
			var data []byte
			for _, x := range v[:n] {
				data = binary.LittleEndian.AppendUint32(data, uint32(x))
			}
			c.page(t, data, n, parquet.Encodings.Plain)
		} else {
			at := make([]uint16, n)
			for i, x := range v[:n] {
				at[i] = index[x]
			}
			c.page(t, slowRuns(c.r, at, max(1, width+[]int{0, 0, 1, 32 - width}[c.r.IntN(4)])), n, parquet.Encodings.RLEDict)
		}
		v = v[n:]
	}
	return index != nil
}

// geometries of delta blocks: values of a block, and parts of it. The first is the usual one; blocks are multiples of 128,
// and parts of 32.
var geometries = [][2]int{{128, 4}, {128, 1}, {128, 2}, {256, 8}, {256, 1}, {384, 3}, {384, 12}, {1024, 4}, {2048, 8}, {32768, 16}}

// times writes t as delta blocks of pages, the geometry anew in each.
func (c slowColumn) times(t *testing.T, v []int64) {
	t.Helper()
	for len(v) > 0 {
		n := min(len(v), 1+c.r.IntN(1500))
		g := geometries[c.r.IntN(len(geometries))]
		c.page(t, slowDelta(c.r, v[:n], g[0], g[1]), n, parquet.Encodings.DeltaBinaryPacked)
		v = v[n:]
	}
}

// slowGroup makes a row group of b.
func slowGroup(t *testing.T, r *rand.Rand, l layout, codec compress.Compression, b event.Batch) group {
	t.Helper()
	var out output
	f := metadata.NewFileMetadataBuilder(l.schema, l.props, nil)
	meta := f.AppendRowGroup()
	meta.SetNumRows(b.Len())
	for k := range numColumns {
		pages, err := file.NewPageWriter(&out, codec, compress.DefaultCompressionLevel, meta.NextColumnChunk(), 0, int16(k), memory.DefaultAllocator, false, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		c, dictionary := slowColumn{r, pages}, false
		switch k {
		case colT:
			c.times(t, b.T())
		case colX:
			dictionary = c.write(t, b.X())
		case colY:
			dictionary = c.write(t, b.Y())
		case colP:
			p := make([]uint16, b.Len())
			for i, v := range b.P() {
				p[i] = uint16(v)
			}
			dictionary = c.write(t, p)
		}
		if err := pages.Close(dictionary, false); err != nil {
			t.Fatal(err)
		}
	}
	if err := meta.Finish(int64(out.Len()), 0); err != nil {
		t.Fatal(err)
	}
	footer, err := f.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return group{out.Bytes(), footer}
}

// slowFile makes a file of b in row groups of at most so many rows, some of none.
func slowFile(t *testing.T, r *rand.Rand, codec compress.Compression, b event.Batch, rows int) string {
	t.Helper()
	l, err := eventLayout("none")
	if err != nil {
		t.Fatal(err)
	}
	l.props = parquet.NewWriterProperties(parquet.WithCompression(codec), parquet.WithSortingColumns([]parquet.SortingColumn{{ColumnIdx: 0}}))
	path := filepath.Join(t.TempDir(), "slow.parquet")
	out, err := createTable(path, false, l)
	if err != nil {
		t.Fatal(err)
	}
	for b.Len() > 0 {
		n := min(b.Len(), r.IntN(rows+1))
		if err := out.append(slowGroup(t, r, l, codec, b.Slice(0, n))); err != nil {
			t.Fatal(err)
		}
		b = b.Slice(n, b.Len())
	}
	if err := out.finish(nil); err != nil {
		t.Fatal(err)
	}
	if err := out.commit(); err != nil {
		t.Fatal(err)
	}
	return path
}

// Pages of every shape are read as they were meant, by what stands here and by the library.
func TestSlowPages(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 11))
	var fast [numColumns]int
	for i := range 120 {
		n := []int{0, 1, 2, 33, 2049, 5000}[i%6]
		g := event.Geometry{Width: []int{1, 2, 640, 1280, 1 << 16}[r.IntN(5)], Height: []int{1, 3, 480, 720, 1 << 16}[r.IntN(5)]}
		want := eventtest.Recording(uint64(i), n, g)
		if r.IntN(2) == 0 {
			want = eventtest.Scene(uint64(i), n, g) // rows that fire at once make runs
		}
		if r.IntN(3) == 0 { // steps of one length are stored in no bits
			step := r.Int64N(1000)
			for k := range want.T() {
				want.T()[k] = int64(k)/40*1000 + int64(k)*step
			}
		}
		codec := []compress.Compression{compress.Codecs.Uncompressed, compress.Codecs.Snappy, compress.Codecs.Zstd, compress.Codecs.Lz4Raw}[r.IntN(4)]
		rows := []int{300, 3000, 1 << 20}[r.IntN(3)]
		t.Run(fmt.Sprintf("%d of %d rows, %s, sensor %v", i, n, codec, g), func(t *testing.T) {
			for k, is := range readBoth(t, slowFile(t, r, codec, want, rows), want) {
				fast[k] += int(b2i(is))
			}
		})
	}
	for k, n := range fast {
		if n == 0 {
			t.Errorf("column %s was never decoded here", columnNames[k])
		}
	}
}

// Differences that overflow wrap around, whatever the blocks.
func TestSlowTimes(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	for range 300 {
		want := make([]int64, 1+r.IntN(900))
		for i := range want {
			switch r.IntN(3) {
			case 0:
				want[i] = int64(r.Uint64())
			case 1:
				want[i] = []int64{math.MinInt64, math.MaxInt64, 0, -1}[r.IntN(4)]
			default:
				want[i] = int64(r.IntN(1000))
			}
		}
		g := geometries[r.IntN(len(geometries))]
		data := slowDelta(r, want, g[0], g[1])
		var d delta
		if err := d.start(data, len(want)); err != nil {
			t.Fatal(err)
		}
		got := make([]int64, len(want))
		for at := 0; at < len(got); { // in pieces of any length
			n := min(len(got)-at, 1+r.IntN(200))
			if err := d.read(got[at : at+n]); err != nil {
				t.Fatalf("blocks %v, %d values: %v", g, len(want), err)
			}
			at += n
		}
		if !slices.Equal(got, want) {
			t.Fatalf("blocks %v, %d values: %v, want %v", g, len(want), got, want)
		}
	}
}
