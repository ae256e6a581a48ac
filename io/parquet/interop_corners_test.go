package parquet

import (
	"encoding/binary"
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
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/formattest"
)

// A rawPage is a page as it stands in a file.
type rawPage struct {
	e    parquet.Encoding
	n    int // values
	data []byte
}

// rawColumn is a column chunk of such pages; without a dictionary dict is nil.
type rawColumn struct {
	dict  []uint32
	pages []rawPage
}

func plain32(v ...uint32) []byte {
	var out []byte
	for _, x := range v {
		out = binary.LittleEndian.AppendUint32(out, x)
	}
	return out
}

func plain64(v ...int64) []byte {
	var out []byte
	for _, x := range v {
		out = binary.LittleEndian.AppendUint64(out, uint64(x))
	}
	return out
}

// rawFile is a file of one row group, uncompressed; the pages are of version 1.
func rawFile(t *testing.T, rows int, columns [numColumns]rawColumn) string {
	t.Helper()
	l, err := eventLayout("none")
	if err != nil {
		t.Fatal(err)
	}
	var out output
	f := metadata.NewFileMetadataBuilder(l.schema, l.props, nil)
	meta := f.AppendRowGroup()
	meta.SetNumRows(rows)
	for k, c := range columns {
		w, err := file.NewPageWriter(&out, compress.Codecs.Uncompressed, compress.DefaultCompressionLevel, meta.NextColumnChunk(), 0, int16(k), memory.DefaultAllocator, false, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if c.dict != nil {
			if _, err := w.WriteDictionaryPage(file.NewDictionaryPage(memory.NewBufferBytes(plain32(c.dict...)), int32(len(c.dict)), parquet.Encodings.Plain)); err != nil {
				t.Fatal(err)
			}
		}
		for _, p := range c.pages {
			page := file.NewDataPageV1(memory.NewBufferBytes(p.data), int32(p.n), p.e, parquet.Encodings.RLE, parquet.Encodings.RLE, int32(len(p.data)))
			if _, err := w.WriteDataPage(page); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(c.dict != nil, false); err != nil {
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
	path := filepath.Join(t.TempDir(), "raw.parquet")
	table, err := createTable(path, false, l)
	if err != nil {
		t.Fatal(err)
	}
	if err := table.append(group{out.Bytes(), footer}); err != nil {
		t.Fatal(err)
	}
	if err := table.finish(nil); err != nil {
		t.Fatal(err)
	}
	if err := table.commit(); err != nil {
		t.Fatal(err)
	}
	return path
}

// Corners of the format that are allowed and rare: x is what the name says; the rest is plain.
func TestCorners(t *testing.T) {
	indices := func(n int, data ...byte) rawPage { return rawPage{parquet.Encodings.RLEDict, n, data} }
	plain := func(v ...uint32) rawPage { return rawPage{parquet.Encodings.Plain, len(v), plain32(v...)} }
	many := make([]uint32, 1<<16+5)
	for i := range many {
		many[i] = uint32(i) & 0xffff
	}
	for name, c := range map[string]struct {
		x    rawColumn
		want []uint16
	}{
		"one entry, a run of no bits":       {rawColumn{[]uint32{7}, []rawPage{indices(3, 0, 6)}}, []uint16{7, 7, 7}},
		"one entry, packed no bits":         {rawColumn{[]uint32{7}, []rawPage{indices(3, 0, 3)}}, []uint16{7, 7, 7}},
		"one entry, a run of a bit":         {rawColumn{[]uint32{7}, []rawPage{indices(3, 1, 6, 0)}}, []uint16{7, 7, 7}},
		"one entry, packed bits":            {rawColumn{[]uint32{7}, []rawPage{indices(3, 1, 3, 0)}}, []uint16{7, 7, 7}},
		"two pages, the first of no bits":   {rawColumn{[]uint32{7, 9}, []rawPage{indices(2, 0, 4), indices(2, 1, 3, 2)}}, []uint16{7, 7, 7, 9}},
		"a run longer than the page":        {rawColumn{[]uint32{7, 9}, []rawPage{indices(2, 1, 200, 1, 1)}}, []uint16{9, 9}},
		"packed groups cut to their values": {rawColumn{[]uint32{7, 9}, []rawPage{indices(2, 12, 3, 1, 0, 0)}}, []uint16{9, 7}},
		"indices of 16 bits":                {rawColumn{[]uint32{7, 9}, []rawPage{indices(2, 16, 4, 1, 0)}}, []uint16{9, 9}},
		"indices of 17 bits":                {rawColumn{[]uint32{7, 9}, []rawPage{indices(2, 17, 4, 1, 0, 0)}}, []uint16{9, 9}},
		"indices of 20 bits, packed":        {rawColumn{[]uint32{7, 9}, []rawPage{indices(3, 20, 3, 1, 0, 0, 0, 0, 1, 0, 0)}}, []uint16{9, 7, 9}},
		"indices of 32 bits":                {rawColumn{[]uint32{7, 9}, []rawPage{indices(2, 32, 4, 1, 0, 0, 0)}}, []uint16{9, 9}},
		"a dictionary of 65541":             {rawColumn{many, []rawPage{indices(2, 17, 4, 4, 0, 1)}}, []uint16{4, 4}},
		"a dictionary that is not used":     {rawColumn{[]uint32{7, 9}, []rawPage{plain(5, 6)}}, []uint16{5, 6}},
		"a page of no values":               {rawColumn{[]uint32{7, 9}, []rawPage{indices(2, 1, 4, 1), indices(0, 1), indices(1, 1, 2, 0)}}, []uint16{9, 9, 7}},
		"an empty page of no values":        {rawColumn{nil, []rawPage{plain(5), plain(), plain(6, 8)}}, []uint16{5, 6, 8}},
		"dictionary, plain, dictionary":     {rawColumn{[]uint32{7, 9}, []rawPage{indices(1, 1, 2, 1), plain(3), indices(1, 1, 2, 0)}}, []uint16{9, 3, 7}},
	} {
		t.Run(name, func(t *testing.T) {
			n := len(c.want)
			times, y := make([]int64, n), make([]uint32, n)
			for i := range times {
				times[i] = int64(i)
			}
			zero := rawColumn{nil, []rawPage{plain(y...)}}
			path := rawFile(t, n, [numColumns]rawColumn{{nil, []rawPage{{parquet.Encodings.Plain, n, plain64(times...)}}}, c.x, zero, zero})
			want := event.New(times, slices.Clone(c.want), make([]uint16, n), make([]int8, n))
			if slices.ContainsFunc(c.x.pages, func(p rawPage) bool { return p.n == 0 }) { // the library takes none
				s, err := openStore(formattest.Open(t, path), format.Policy{})
				if err != nil {
					t.Fatal(err)
				}
				got, err := scanned(t, s, false)
				if d := eventtest.Diff(got, want); d != "" || err != nil {
					t.Error(d, err)
				}
				return
			}
			readBoth(t, path, want)
		})
	}
}

// A file that is sorted by another column than t promises nothing about its times.
func TestSortedByAnother(t *testing.T) {
	times := []int64{5, 3, 9, 3}
	f := foreign{t: u16, x: i64, y: u16, p: boolean, names: []string{"x", "t", "y", "p"},
		props: []parquet.WriterProperty{parquet.WithSortingColumns([]parquet.SortingColumn{{ColumnIdx: 0}})}}
	path := f.write(t, values{t: []int64{0, 1, 2, 3}, x: times, y: make([]int64, 4), p: make([]int64, 4)}, -1)
	src, err := open(t, path, format.Policy{})
	if err != nil {
		t.Fatal(err)
	}
	want := event.New([]int64{3, 3, 5, 9}, []uint16{1, 3, 0, 2}, make([]uint16, 4), make([]int8, 4))
	if d := eventtest.Diff(eventtest.Drain(t, src, event.All), want); d != "" {
		t.Error(d)
	}
}
