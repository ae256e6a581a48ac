package parquet

import (
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/formattest"
)

// A dialect is one way in which another writer may lay out a file of events: what it says in words, and what it makes
// of the file's types and of its writer's options.
type dialect struct {
	name string
	set  func(*matrixFile)
}

// A matrixFile is a foreign file on its way, and the events that it must be read as.
type matrixFile struct {
	foreign
	order  [numColumns]int // which of t, x, y, p stands first, second, …
	size   event.Geometry  // as large as the types of x and y allow
	signed bool            // OFF is -1
	byte   bool            // OFF is 255
}

func (f *matrixFile) with(p ...parquet.WriterProperty) { f.props = append(f.props, p...) }

// property is a dialect that only sets options.
func property(name string, p ...parquet.WriterProperty) dialect {
	return dialect{name, func(f *matrixFile) { f.with(p...) }}
}

// encoded stores a column in one encoding, without a dictionary.
func encoded(column string, e parquet.Encoding) dialect {
	return property(column+" "+e.String(), parquet.WithDictionaryFor(column, false), parquet.WithEncodingFor(column, e))
}

func typed(name string, set func(*matrixFile)) dialect { return dialect{name, set} }

func intKind(bits int8, signed bool) kind {
	physical := parquet.Types.Int32
	if bits == 64 {
		physical = parquet.Types.Int64
	}
	return kind{physical, schema.NewIntLogicalType(bits, signed)}
}

// matrix is what parquet-format allows: of each line, one is taken for a file.
func matrix() [][]dialect {
	lines := [][]dialect{
		{property("1.0", parquet.WithVersion(parquet.V1_0)), property("2.4", parquet.WithVersion(parquet.V2_4)), property("2.6", parquet.WithVersion(parquet.V2_6))},
		{property("pages v1"), property("pages v2", parquet.WithDataPageVersion(parquet.DataPageV2))},
		{property("uncompressed"), property("snappy", parquet.WithCompression(compress.Codecs.Snappy)), property("gzip", parquet.WithCompression(compress.Codecs.Gzip)),
			property("brotli", parquet.WithCompression(compress.Codecs.Brotli)), property("zstd", parquet.WithCompression(compress.Codecs.Zstd)),
			property("lz4", parquet.WithCompression(compress.Codecs.Lz4Raw))},
		{property("one page"), property("pages of 100 bytes", parquet.WithDataPageSize(100), parquet.WithBatchSize(7)),
			property("pages of 1000 bytes", parquet.WithDataPageSize(1000), parquet.WithBatchSize(32))},
		{property("any dictionary"), property("dictionaries that end early", parquet.WithDictionaryPageSizeLimit(64), parquet.WithDataPageSize(200), parquet.WithBatchSize(16))},
		{property("statistics"), property("no statistics", parquet.WithStats(false)), property("page index", parquet.WithPageIndexEnabled(true))},
		{typed("required", func(*matrixFile) {}), typed("required", func(*matrixFile) {}), typed("nullable", func(f *matrixFile) { f.nullable = true })},
		{typed("one group", func(f *matrixFile) { f.group = 1 << 20 }), typed("groups of 1000", func(f *matrixFile) { f.group = 1000 }), typed("groups of 33", func(f *matrixFile) { f.group = 33 })},
		{typed("t x y p", func(*matrixFile) {}), typed("p y t x", func(f *matrixFile) { f.order = [numColumns]int{colP, colY, colT, colX} }),
			typed("x y t p", func(f *matrixFile) { f.order = [numColumns]int{colX, colY, colT, colP} })},
		{typed("t INT64", func(f *matrixFile) { f.t = i64 }), typed("t INT_64", func(f *matrixFile) { f.t = intKind(64, true) }), typed("t UINT_64", func(f *matrixFile) { f.t = u64 }),
			typed("t TIMESTAMP(us, utc)", func(f *matrixFile) { f.t = stampUS }),
			typed("t TIMESTAMP(us)", func(f *matrixFile) {
				f.t = kind{parquet.Types.Int64, schema.NewTimestampLogicalType(false, schema.TimeUnitMicros)}
			})},
		{property("t by default"), encoded("t", parquet.Encodings.Plain), encoded("t", parquet.Encodings.DeltaBinaryPacked), encoded("t", parquet.Encodings.ByteStreamSplit)},
		polarityTypes(),
	}
	for _, c := range []string{"x", "y"} {
		lines = append(lines, coordinateTypes(c),
			[]dialect{property(c + " by default"), property(c + " by default"), encoded(c, parquet.Encodings.Plain), encoded(c, parquet.Encodings.DeltaBinaryPacked), encoded(c, parquet.Encodings.ByteStreamSplit)})
	}
	return lines
}

// coordinateTypes are the integers that may hold x or y, with the largest sensor that fits.
func coordinateTypes(column string) []dialect {
	var out []dialect
	add := func(name string, k kind, side int) {
		out = append(out, dialect{column + " " + name, func(f *matrixFile) {
			if column == "x" {
				f.x, f.size.Width = k, side
			} else {
				f.y, f.size.Height = k, side
			}
		}})
	}
	add("INT32", i32, 1280)
	add("INT32 of one value", i32, 1)
	add("INT32 of all values", i32, 1<<16)
	add("INT64", i64, 640)
	for _, bits := range []int8{8, 16, 32, 64} {
		for _, signed := range []bool{false, true} {
			side := 1 << min(16, int(bits)-int(b2i(signed)))
			add(fmt.Sprintf("INT_%d, signed %t", bits, signed), intKind(bits, signed), side)
		}
	}
	return out
}

// polarityTypes are the types that may hold p.
func polarityTypes() []dialect {
	out := []dialect{
		typed("p BOOLEAN", func(f *matrixFile) { f.p = boolean }),
		typed("p BOOLEAN, runs", func(f *matrixFile) {
			// The library writes wrong runs where it is handed more than 512 booleans in several batches: they come in one.
			f.p, f.group = boolean, min(f.group, 1000)
			f.with(parquet.WithBatchSize(1000))
			encoded("p", parquet.Encodings.RLE).set(f)
		}),
		typed("p INT32", func(f *matrixFile) { f.p = i32 }),
		typed("p INT32, -1", func(f *matrixFile) { f.p, f.signed = i32, true }),
		typed("p INT64", func(f *matrixFile) { f.p = i64 }),
		typed("p INT64, -1", func(f *matrixFile) { f.p, f.signed = i64, true }),
		typed("p UINT_8, 255", func(f *matrixFile) { f.p, f.byte = u8, true }),
	}
	for _, e := range []parquet.Encoding{parquet.Encodings.Plain, parquet.Encodings.DeltaBinaryPacked, parquet.Encodings.ByteStreamSplit} {
		for _, k := range []kind{i8, u8, i16, i64} {
			out = append(out, typed(fmt.Sprintf("p %s in %s", k.logical, e), func(f *matrixFile) {
				f.p = k
				encoded("p", e).set(f)
			}))
		}
	}
	return out
}

// draw takes one dialect of each line.
func draw(r *rand.Rand, lines [][]dialect) (matrixFile, string) {
	f := matrixFile{order: [numColumns]int{colT, colX, colY, colP}}
	var words []string
	for _, line := range lines {
		d := line[r.IntN(len(line))]
		d.set(&f)
		words = append(words, d.name)
	}
	return f, strings.Join(words, ", ")
}

// create writes b as the file says.
func (f matrixFile) create(t *testing.T, b event.Batch) string {
	v := valuesOf(b)
	for i, p := range v.p {
		switch {
		case p == 0 && f.signed:
			v.p[i] = -1
		case p == 0 && f.byte:
			v.p[i] = 255
		}
	}
	kinds, data := [numColumns]kind{f.t, f.x, f.y, f.p}, [numColumns][]int64{v.t, v.x, v.y, v.p}
	out, o := f.foreign, f.order
	out.t, out.x, out.y, out.p = kinds[o[0]], kinds[o[1]], kinds[o[2]], kinds[o[3]]
	for i, k := range o {
		out.names = append(out.names, columnNames[k])
		if k == colT {
			out.props = append(slices.Clone(out.props), parquet.WithSortingColumns([]parquet.SortingColumn{{ColumnIdx: int32(i)}}))
		}
	}
	return out.write(t, values{data[o[0]], data[o[1]], data[o[2]], data[o[3]]}, -1)
}

// fastColumns tells which columns of a store's first row group are decoded here.
func fastColumns(t *testing.T, s *Store) (out [numColumns]bool) {
	t.Helper()
	if len(s.groups) == 0 {
		return out
	}
	d, err := s.openDecoder(event.AllColumns, true)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.open(s.groups[0]); err != nil {
		t.Fatal(err)
	}
	for k, p := range d.fast {
		out[k] = p != nil
	}
	return out
}

// inPieces reads a file a few events at a time, so that pieces end within pages, blocks, runs and bytes.
func inPieces(t *testing.T, s *Store, size int) event.Batch {
	t.Helper()
	d, err := s.openDecoder(event.AllColumns, true)
	if err != nil {
		t.Fatal(err)
	}
	out, r := event.NewBuffer(0), rand.New(rand.NewPCG(1, uint64(size)))
	for _, g := range s.groups {
		err = d.open(g)
		for err == nil {
			b := event.NewBuffer(1 + r.IntN(size))
			if _, err = d.read(b); err == nil {
				out.AppendBatch(b.Batch())
			}
		}
		if !errors.Is(err, io.EOF) {
			t.Fatalf("in pieces of up to %d: %v", size, err)
		}
	}
	return out.Batch()
}

// drawBox draws a box whose sides are values of b.
func drawBox(r *rand.Rand, b event.Batch) event.Box {
	box := event.Everything
	if b.Len() == 0 {
		return box
	}
	at := func() int { return r.IntN(b.Len()) }
	if r.IntN(2) == 0 {
		i, j := at(), at()
		box.T0, box.T1 = b.T()[min(i, j)], b.T()[max(i, j)]
	}
	if r.IntN(2) == 0 {
		v, w := b.X()[at()], b.X()[at()]
		box.X0, box.X1 = min(v, w), max(v, w)
	}
	if r.IntN(2) == 0 {
		v, w := b.Y()[at()], b.Y()[at()]
		box.Y0, box.Y1 = min(v, w), max(v, w)
	}
	if r.IntN(3) == 0 {
		box.P0 = b.P()[at()]
		box.P1 = box.P0
	}
	return box
}

// readBoth holds a file to the events that its writer was given: read by the library, by what stands here, through the
// policies, and within boxes, of which statistics must leave nothing out and for which counts must be exact.
func readBoth(t *testing.T, path string, want event.Batch) (fast [numColumns]bool) {
	t.Helper()
	keep := format.Policy{OnOffSensor: format.Keep}
	s, err := openStore(formattest.Open(t, path), keep)
	if err != nil {
		t.Fatal(err)
	}
	if s.info.Events != int64(want.Len()) {
		t.Fatalf("%d events, want %d", s.info.Events, want.Len())
	}
	for _, library := range []bool{true, false} {
		got, err := scanned(t, s, library)
		if err != nil {
			t.Fatalf("library %t: %v", library, err)
		}
		if d := eventtest.Diff(got, want); d != "" {
			t.Fatalf("library %t: %s", library, d)
		}
	}
	if d := eventtest.Diff(inPieces(t, s, 1+want.Len()%61), want); d != "" {
		t.Fatalf("in pieces: %s", d)
	}
	src, err := open(t, path, keep)
	if err != nil {
		t.Fatal(err)
	}
	if d := eventtest.Diff(eventtest.Drain(t, src, event.All), want); d != "" {
		t.Fatalf("through the policies: %s", d)
	}
	r := rand.New(rand.NewPCG(3, uint64(want.Len())))
	for range 4 {
		box := drawBox(r, want)
		exact := within(want, box)
		got := event.New(nil, nil, nil, nil)
		if b := eventtest.Drain(t, src, event.Request{Box: box}); b.Len() > 0 {
			got = within(b, box)
		}
		if d := eventtest.Diff(got, exact); d != "" {
			t.Fatalf("within %v: %s", box, d)
		}
		if n, err := s.Count(t.Context(), event.Request{Box: box}); err != nil || n.Events != int64(exact.Len()) {
			t.Fatalf("%d events are counted within %v, want %d: %v", n.Events, box, exact.Len(), err)
		}
	}
	return fastColumns(t, s)
}

// Whatever of the matrix another writer takes, its events are read equal.
func TestMatrix(t *testing.T) {
	r := rand.New(rand.NewPCG(26, 7))
	lines := matrix()
	var ways [numColumns][2]int
	seen := map[string]bool{}
	for i := range 250 {
		f, name := draw(r, lines)
		n := []int{0, 1, 2, 33, 2049}[i%5]
		want := eventtest.Recording(uint64(i), n, f.size)
		var fast [numColumns]bool
		if !t.Run(fmt.Sprintf("%d rows", n), func(t *testing.T) { fast = readBoth(t, f.create(t, want), want) }) {
			t.Errorf("%d rows, sensor %v: %s", n, f.size, name)
		}
		for k, is := range fast {
			ways[k][b2i(is)]++
		}
		for word := range strings.SplitSeq(name, ", ") {
			seen[word] = true
		}
	}
	for k, w := range ways {
		if w[0] == 0 || w[1] == 0 {
			t.Errorf("column %s is decoded by the library in %d files, here in %d: the matrix leaves one out", columnNames[k], w[0], w[1])
		}
	}
	for _, line := range lines {
		for _, d := range line {
			if word, _, _ := strings.Cut(d.name, ", "); !seen[word] {
				t.Errorf("%s never occurred", d.name)
			}
		}
	}
}

// Times of the whole range, in every encoding that may hold them.
func TestMatrixTimes(t *testing.T) {
	ends := []int64{math.MinInt64, math.MinInt64 + 1, -5, -1, 0, 0, 7, math.MaxInt32, math.MaxUint32, math.MaxInt64 - 1, math.MaxInt64}
	want := event.New(ends, make([]uint16, len(ends)), make([]uint16, len(ends)), make([]int8, len(ends)))
	for _, e := range []parquet.Encoding{parquet.Encodings.Plain, parquet.Encodings.DeltaBinaryPacked, parquet.Encodings.ByteStreamSplit, parquet.Encodings.PlainDict} {
		for _, group := range []int{1, 2, 5, 100} {
			for _, v := range []parquet.DataPageVersion{parquet.DataPageV1, parquet.DataPageV2} {
				f := matrixFile{foreign: foreign{t: i64, x: u16, y: u16, p: boolean, group: group}, order: [numColumns]int{colT, colX, colY, colP}}
				f.with(parquet.WithDataPageVersion(v))
				if e != parquet.Encodings.PlainDict {
					encoded("t", e).set(&f)
				}
				t.Run(fmt.Sprintf("%s, groups of %d, pages %d", e, group, v), func(t *testing.T) { readBoth(t, f.create(t, want), want) })
			}
		}
	}
}
