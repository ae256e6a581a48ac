package parquet

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/format"
)

// A kind is the type of a foreign column.
type kind struct {
	physical parquet.Type
	logical  schema.LogicalType
}

var (
	i64     = kind{parquet.Types.Int64, schema.NoLogicalType{}}
	i32     = kind{parquet.Types.Int32, schema.NoLogicalType{}}
	i16     = kind{parquet.Types.Int32, schema.NewIntLogicalType(16, true)}
	u16     = kind{parquet.Types.Int32, schema.NewIntLogicalType(16, false)}
	u32     = kind{parquet.Types.Int32, schema.NewIntLogicalType(32, false)}
	u64     = kind{parquet.Types.Int64, schema.NewIntLogicalType(64, false)}
	i8      = kind{parquet.Types.Int32, schema.NewIntLogicalType(8, true)}
	u8      = kind{parquet.Types.Int32, schema.NewIntLogicalType(8, false)}
	f64     = kind{parquet.Types.Double, schema.NoLogicalType{}}
	boolean = kind{parquet.Types.Boolean, schema.NoLogicalType{}}
	stampUS = kind{parquet.Types.Int64, schema.NewTimestampLogicalType(true, schema.TimeUnitMicros)}
	stampMS = kind{parquet.Types.Int64, schema.NewTimestampLogicalType(true, schema.TimeUnitMillis)}
)

// A foreign file is one that another writer made: the types of t, x, y, p, and its writer's options.
type foreign struct {
	t, x, y, p kind
	nullable   bool
	names      []string
	props      []parquet.WriterProperty
	group      int // rows in a row group
}

// values are the columns of a foreign file, wide enough to be wrong.
type values struct{ t, x, y, p []int64 }

func valuesOf(b event.Batch) values {
	var v values
	for i, t := range b.T() {
		v.t, v.x = append(v.t, t), append(v.x, int64(b.X()[i]))
		v.y, v.p = append(v.y, int64(b.Y()[i])), append(v.p, int64(b.P()[i]))
	}
	return v
}

// write writes v, without a value in row null of x unless that is negative.
func (f foreign) write(t testing.TB, v values, null int) string {
	t.Helper()
	names, kinds, repetition := f.names, []kind{f.t, f.x, f.y, f.p}, parquet.Repetitions.Required
	if names == nil {
		names = []string{"t", "x", "y", "p"}
	}
	if f.nullable {
		repetition = parquet.Repetitions.Optional
	}
	var nodes schema.FieldList
	for i, k := range kinds {
		n, err := schema.NewPrimitiveNodeLogical(names[i], repetition, k.logical, k.physical, -1, -1)
		if err != nil {
			t.Fatal(err)
		}
		nodes = append(nodes, n)
	}
	root, err := schema.NewGroupNode("schema", parquet.Repetitions.Required, nodes, -1)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "foreign.parquet")
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := file.NewParquetWriter(out, root, file.WithWriterProps(parquet.NewWriterProperties(f.props...)))
	rows := f.group
	if rows == 0 {
		rows = 3000
	}
	for lo := 0; lo < len(v.t); lo += rows {
		rg, err := w.AppendRowGroupChecked()
		if err != nil {
			t.Fatal(err)
		}
		hi := min(lo+rows, len(v.t))
		for i, col := range [][]int64{v.t, v.x, v.y, v.p} {
			at := -1
			if i == 1 {
				at = null - lo
			}
			if err := f.column(rg, col[lo:hi], at); err != nil {
				t.Fatal(err)
			}
		}
		if err := rg.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// column writes one column of a row group.
func (f foreign) column(rg file.SerialRowGroupWriter, v []int64, null int) error {
	var defined []int16
	if f.nullable {
		defined = slices.Repeat([]int16{1}, len(v))
		if null >= 0 {
			defined[null], v = 0, slices.Delete(slices.Clone(v), null, null+1)
		}
	}
	c, err := rg.NextColumn()
	if err != nil {
		return err
	}
	switch w := c.(type) {
	case *file.Int64ColumnChunkWriter:
		_, err = w.WriteBatch(v, defined, nil)
	case *file.Int32ColumnChunkWriter:
		_, err = w.WriteBatch(as(v, func(n int64) int32 { return int32(n) }), defined, nil)
	case *file.BooleanColumnChunkWriter:
		_, err = w.WriteBatch(as(v, func(n int64) bool { return n != 0 }), defined, nil)
	case *file.Float64ColumnChunkWriter:
		_, err = w.WriteBatch(as(v, func(n int64) float64 { return float64(n) }), defined, nil)
	}
	return errors.Join(err, c.Close())
}

func as[T any](v []int64, to func(int64) T) []T {
	out := make([]T, len(v))
	for i, n := range v {
		out[i] = to(n)
	}
	return out
}

func TestForeignFiles(t *testing.T) {
	rec := eventtest.Recording(5, 10_000, sensor)
	sorted := parquet.WithSortingColumns([]parquet.SortingColumn{{ColumnIdx: 0}})
	plain := []parquet.WriterProperty{parquet.WithDictionaryDefault(false), parquet.WithEncoding(parquet.Encodings.Plain)}
	for name, f := range map[string]foreign{
		"narrow":         {t: i64, x: u16, y: u16, p: boolean},
		"signed bytes":   {t: i64, x: i16, y: i32, p: i8},
		"wide":           {t: i64, x: i64, y: u64, p: i64},
		"unsigned":       {t: u64, x: u32, y: u32, p: u8},
		"timestamp":      {t: stampUS, x: u16, y: u16, p: u8},
		"plain":          {t: i64, x: u16, y: u16, p: boolean, props: plain},
		"nullable":       {t: i64, x: u16, y: u16, p: boolean, nullable: true},
		"data page v2":   {t: i64, x: u16, y: u16, p: boolean, nullable: true, props: []parquet.WriterProperty{parquet.WithDataPageVersion(parquet.DataPageV2)}},
		"no statistics":  {t: i64, x: u16, y: u16, p: i8, props: []parquet.WriterProperty{parquet.WithStats(false), sorted}},
		"page index":     {t: i64, x: u16, y: u16, p: i8, props: []parquet.WriterProperty{parquet.WithPageIndexEnabled(true)}},
		"snappy":         {t: i64, x: u16, y: u16, p: i8, props: []parquet.WriterProperty{parquet.WithCompression(compress.Codecs.Snappy)}},
		"gzip":           {t: i64, x: u16, y: u16, p: i8, props: []parquet.WriterProperty{parquet.WithCompression(compress.Codecs.Gzip)}},
		"sorted":         {t: i64, x: u16, y: u16, p: i8, props: []parquet.WriterProperty{sorted}},
		"small pages":    {t: i64, x: u16, y: u16, p: i8, props: []parquet.WriterProperty{sorted, parquet.WithDataPageSize(100), parquet.WithBatchSize(10)}},
		"one row groups": {t: i64, x: u16, y: u16, p: i8, group: 100},
	} {
		t.Run(name, func(t *testing.T) {
			src, err := open(t, f.write(t, valuesOf(rec), -1), format.Policy{})
			if err != nil {
				t.Fatal(err)
			}
			if _, direct := src.(*Store); direct != (name == "sorted" || name == "small pages") {
				t.Errorf("direct: %v", direct)
			}
			if d := eventtest.Diff(eventtest.Drain(t, src, event.All), rec); d != "" {
				t.Error(d)
			}
			if info := src.Info(); info.Events != 10_000 {
				t.Errorf("%d events", info.Events)
			}
		})
	}
}

func TestForeignUnsorted(t *testing.T) {
	v := values{t: []int64{5, 3, 9, 3, 4}, x: []int64{0, 1, 2, 3, 4}, y: []int64{0, 0, 0, 0, 0}, p: []int64{1, 0, 1, 0, 1}}
	path := foreign{t: i64, x: u16, y: u16, p: i8, group: 2}.write(t, v, -1)
	for policy, want := range map[format.Choice][]int64{
		format.Sort: {3, 3, 4, 5, 9}, format.Clamp: {5, 5, 9, 9, 9}, format.Drop: {5, 9},
	} {
		src, err := open(t, path, format.Policy{OnUnsorted: policy})
		if err != nil {
			t.Fatal(err)
		}
		if got := eventtest.Drain(t, src, event.All).T(); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", policy, got, want)
		}
	}
}

// A file that claims to be sorted and is not must not be believed to the end.
func TestFalseClaim(t *testing.T) {
	v := values{t: []int64{1, 5, 3, 9}, x: make([]int64, 4), y: make([]int64, 4), p: make([]int64, 4)}
	f := foreign{t: i64, x: u16, y: u16, p: i8, props: []parquet.WriterProperty{parquet.WithSortingColumns([]parquet.SortingColumn{{ColumnIdx: 0}})}}
	_, err := scanBytes(t, read(t, f.write(t, v, -1)))
	if err == nil || !strings.Contains(err.Error(), "row 2 lies before") {
		t.Errorf("error %v", err)
	}
	f.group = 2 // 1 5 | 3 9: the statistics deny the claim, and the order policy takes over
	src, err := open(t, f.write(t, v, -1), format.Policy{})
	if err != nil {
		t.Fatal(err)
	}
	if got := eventtest.Drain(t, src, event.All).T(); !slices.IsSorted(got) {
		t.Errorf("times %v", got)
	}
}

func TestForeignErrors(t *testing.T) {
	v := func() values { return valuesOf(eventtest.Recording(5, 100, sensor)) }
	base := foreign{t: i64, x: i64, y: i32, p: i32}
	for name, c := range map[string]struct {
		f      foreign
		change func(*values)
		null   int
		want   string
	}{
		"x too large":  {base, func(v *values) { v.x[7] = 65536 }, -1, "row 7: x is not in 0..65535"},
		"y negative":   {base, func(v *values) { v.y[9] = -1 }, -1, "row 9: y is not in"},
		"p":            {base, func(v *values) { v.p[3] = 2 }, -1, "row 3: p is not a polarity"},
		"null":         {foreign{t: i64, x: u16, y: u16, p: i8, nullable: true}, func(*values) {}, 12, "column x, from row 0: a row has no value"},
		"names":        {foreign{t: i64, x: u16, y: u16, p: i8, names: []string{"time", "x", "y", "p"}}, func(*values) {}, -1, "no column t; the file has time, x, y, p"},
		"milliseconds": {foreign{t: stampMS, x: u16, y: u16, p: i8}, func(*values) {}, -1, "column t has type INT64 Timestamp"},
		"float":        {foreign{t: i64, x: f64, y: u16, p: i8}, func(*values) {}, -1, "column x has type DOUBLE"},
		"huge time":    {foreign{t: u64, x: u16, y: u16, p: i8}, func(v *values) { v.t[99] = -1 }, -1, "time 18446744073709551615 does not fit"},
	} {
		t.Run(name, func(t *testing.T) {
			cols := v()
			c.change(&cols)
			_, err := scanBytes(t, read(t, c.f.write(t, cols, c.null)))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

func TestForeignPolarity(t *testing.T) {
	v := valuesOf(eventtest.Recording(5, 100, sensor))
	want := slices.Clone(v.p)
	for i, p := range v.p {
		if p == 0 {
			v.p[i] = -1
		}
	}
	path := foreign{t: i64, x: u16, y: u16, p: i8}.write(t, v, -1)
	src, err := open(t, path, format.Policy{})
	if err != nil {
		t.Fatal(err)
	}
	// A box of polarities must not be held against statistics in another encoding.
	box := event.Everything
	box.P1 = 0
	got := eventtest.Drain(t, src, event.Request{Box: box})
	for i, p := range got.P() {
		if int64(p) != want[i] {
			t.Fatalf("event %d has polarity %d, want %d", i, p, want[i])
		}
	}
	if src, err = open(t, path, format.Policy{Polarity: "01"}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := format.Drain(t.Context(), src); err == nil {
		t.Error("polarity -1 passes as 0/1")
	}
	if _, err := open(t, path, format.Policy{Polarity: "up"}); err == nil {
		t.Error("polarity encoding up is accepted")
	}
}

func TestNotParquet(t *testing.T) {
	for _, s := range []string{"", "PAR", "PAR1", "PAR1PAR1", "PAR1\x00\x00\x00\x00PAR1", "PAR1\xff\xff\xff\xffPAR1", "% evt 3.0\n"} {
		f := format.File{ReaderAt: bytes.NewReader([]byte(s)), Size: int64(len(s))}
		if p := sniff(f); p.Confidence > 0.5 {
			t.Errorf("%q: %+v", s, p)
		}
		if _, err := Open(t.Context(), f, format.Policy{}); err == nil {
			t.Errorf("%q opens", s)
		}
	}
}

// A row group of any size is read in pieces: the heap holds pages, not the group.
func TestHugeRowGroup(t *testing.T) {
	const n = 2_000_000
	v := values{make([]int64, n), make([]int64, n), make([]int64, n), make([]int64, n)}
	for i := range n {
		v.t[i], v.x[i], v.y[i], v.p[i] = int64(i), int64(i%640), int64(i/7%480), int64(i&1)
	}
	f := foreign{t: i64, x: i64, y: i64, p: i64, group: n, props: []parquet.WriterProperty{parquet.WithDictionaryDefault(false),
		parquet.WithSortingColumns([]parquet.SortingColumn{{ColumnIdx: 0}}), parquet.WithMaxRowGroupLength(n)}}
	path := f.write(t, v, -1) // 64 MB in one row group
	v = values{}
	s := mustOpen(t, path)
	if len(s.groups) != 1 {
		t.Fatalf("%d row groups", len(s.groups))
	}
	st, err := s.Scan(t.Context(), event.All)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = st.Close() }()
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 20 {
		b, err := st.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		b.Release()
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if after.HeapAlloc > before.HeapAlloc+20<<20 {
		t.Errorf("the heap grew by %d MB", (after.HeapAlloc-before.HeapAlloc)>>20)
	}
}
