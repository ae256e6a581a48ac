package arrowipc

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/evq-project/evq/io/atomicfile"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/formattest"
)

type (
	ev     = formattest.Event
	counts = map[event.Counter]int64
)

// A field is one column of a test file: its type and a row's value as JSON.
type field struct {
	name   string
	typ    arrow.DataType
	values string // of the rows, as a JSON list
}

// rows are three events in types that programs write, among columns that are no event's.
var rows = []field{
	{"note", arrow.BinaryTypes.String, `["a", "bcd", null]`},
	{"pos", arrow.StructOf(arrow.Field{Name: "u", Type: arrow.PrimitiveTypes.Float32}, arrow.Field{Name: "v", Type: arrow.ListOf(arrow.PrimitiveTypes.Int8)}), `[{"u": 1, "v": [1, 2]}, {"u": 2, "v": []}, {"u": 3, "v": [4]}]`},
	{"Y", arrow.PrimitiveTypes.Int32, `[5, 50, 6]`},
	{"polarity", arrow.FixedWidthTypes.Boolean, `[false, true, true]`},
	{"x", arrow.PrimitiveTypes.Uint8, `[3, 30, 4]`},
	{"nothing", arrow.Null, `[null, null, null]`},
	{"t", arrow.FixedWidthTypes.Duration_ms, `[7, 70, 700]`},
}

var three = []ev{{3, 5, 0, 7000}, {30, 50, 1, 70000}, {4, 6, 1, 700000}}

// plainRows are the columns that evq itself writes, with -1 for OFF.
var plainRows = []field{
	{"t", arrow.PrimitiveTypes.Int64, `[7000, 70000, 700000]`}, {"x", arrow.PrimitiveTypes.Uint16, `[3, 30, 4]`},
	{"y", arrow.PrimitiveTypes.Uint16, `[5, 50, 6]`}, {"p", arrow.PrimitiveTypes.Int8, `[-1, 1, 1]`},
}

func with(name string, typ arrow.DataType, values string) []field {
	out := append([]field{}, plainRows...)
	for i := range out {
		if out[i].name == name {
			out[i] = field{name, typ, values}
		}
	}
	return out
}

// made is a file or a stream of the given columns, with each batch given so often, by Arrow's library.
func made(t testing.TB, stream bool, batches int, fields []field, options ...ipc.Option) []byte {
	t.Helper()
	var list []arrow.Field
	var arrays []arrow.Array
	for _, f := range fields {
		list = append(list, arrow.Field{Name: f.name, Type: f.typ, Nullable: true})
		a, _, err := array.FromJSON(memory.DefaultAllocator, f.typ, strings.NewReader(f.values))
		if err != nil {
			t.Fatal(err)
		}
		arrays = append(arrays, a)
	}
	schema := arrow.NewSchema(list, nil)
	var out bytes.Buffer
	options = append(options, ipc.WithSchema(schema))
	var w writer = ipc.NewWriter(&out, options...)
	if !stream {
		out.Reset()
		var err error
		if w, err = ipc.NewFileWriter(&out, options...); err != nil {
			t.Fatal(err)
		}
	}
	for range batches {
		if err := w.Write(array.NewRecordBatch(schema, arrays, int64(arrays[0].Len()))); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestConformance(t *testing.T) {
	clamp := format.Policy{OnUnsorted: format.Clamp}
	stream := made(t, true, 1, plainRows)
	formattest.Run(t, Format,
		formattest.Case{Name: "file", Data: made(t, false, 1, rows), Want: three},
		formattest.Case{Name: "stream", Data: stream, Want: three, Counters: counts{event.RemappedPolarity: 1}},
		formattest.Case{Name: "zstd", Data: made(t, false, 1, rows, ipc.WithZstd()), Want: three},
		formattest.Case{Name: "lz4", Data: made(t, true, 1, rows, ipc.WithLZ4()), Want: three},
		formattest.Case{Name: "two batches", Data: made(t, false, 2, plainRows), Policy: clamp,
			Want:     []ev{three[0], three[1], three[2], {3, 5, 0, 700000}, {30, 50, 1, 700000}, three[2]},
			Counters: counts{event.RemappedPolarity: 2, event.Unsorted: 2}},
		formattest.Case{Name: "no footer", Data: cut(made(t, false, 1, plainRows), 10), Want: three, Counters: counts{event.RemappedPolarity: 1, event.TrailingBytes: int64(footer(made(t, false, 1, plainRows)))}},
		formattest.Case{Name: "behind the stream", Data: append(bytes.Clone(stream), 1, 2, 3), Want: three, Counters: counts{event.RemappedPolarity: 1, event.TrailingBytes: 3}, NoPrefix: true},
		formattest.Case{Name: "empty", Forced: true},
	)
}

func cut(b []byte, n int) []byte { return b[:len(b)-n] }

// footer is the size of the footer of a file.
func footer(b []byte) int {
	n := len(b) - 10
	return int(b[n]) | int(b[n+1])<<8
}

func openBytes(t testing.TB, data []byte, p format.Policy) (event.Source, error) {
	t.Helper()
	return Format.Open(t.Context(), formattest.File(data), p)
}

func TestRefuses(t *testing.T) {
	for what, c := range map[string]struct {
		fields []field
		policy format.Policy
		is     error
		want   string
	}{
		"no t":              {plainRows[1:], format.Policy{}, ErrColumns, "no t among x, y, p; name"},
		"float times":       {with("t", arrow.PrimitiveTypes.Float64, `[1, 2, 3]`), format.Policy{}, ErrColumns, "cast it"},
		"words":             {with("p", arrow.BinaryTypes.String, `["on", "on", "off"]`), format.Policy{}, ErrColumns, "p is not"},
		"no value":          {with("x", arrow.PrimitiveTypes.Int16, `[1, null, 3]`), format.Policy{}, nil, "1 of its rows have no value"},
		"large x":           {with("x", arrow.PrimitiveTypes.Int32, `[1, 65536, 3]`), format.Policy{}, nil, "row 1: column x: 65536"},
		"large t":           {with("t", arrow.PrimitiveTypes.Uint64, `[1, 2, 9223372036854775808]`), format.Policy{}, nil, "row 2"},
		"far seconds":       {with("t", arrow.FixedWidthTypes.Duration_s, `[1, 2, 9223372036855]`), format.Policy{}, nil, "64 bits"},
		"polarity":          {with("p", arrow.PrimitiveTypes.Int8, `[0, 1, 2]`), format.Policy{}, nil, "row 2: column p: 2 is no polarity"},
		"minus one":         {plainRows, format.Policy{Polarity: "01"}, nil, "-1 is no polarity"},
		"unknown rule":      {plainRows, format.Policy{Polarity: "x"}, nil, "one of auto"},
		"unknown unit":      {plainRows, format.Policy{TimeUnit: "h"}, nil, "time unit"},
		"a name not there":  {plainRows, format.Policy{DatasetMap: map[string]string{"x": "q"}}, ErrColumns, "no x"},
		"half-precision":    {with("x", arrow.FixedWidthTypes.Float16, `[1, 2, 3]`), format.Policy{}, ErrColumns, "x is not"},
		"bits for a column": {with("x", arrow.FixedWidthTypes.Boolean, `[true, false, true]`), format.Policy{}, ErrColumns, "x is not"},
	} {
		src, err := openBytes(t, made(t, false, 1, c.fields), c.policy)
		if err == nil {
			_, _, err = format.Drain(t.Context(), src)
		}
		if err == nil || c.is != nil && !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %q", what, err, c.want)
		}
	}
	if _, err := openBytes(t, []byte("FEA1\x00\x00\x00\x00\x00\x00"), format.Policy{}); err == nil || !strings.Contains(err.Error(), "version 2") {
		t.Errorf("Feather 1: %v", err)
	}
}

// Types say their unit, names may be given, -1 without a sign is OFF, and a negative coordinate lies off every sensor.
func TestTypes(t *testing.T) {
	for what, c := range map[string]struct {
		fields []field
		policy format.Policy
		want   []ev
	}{
		"nanoseconds": {with("t", arrow.FixedWidthTypes.Timestamp_ns, `[7500, 8500, 9400]`), format.Policy{}, []ev{{3, 5, 0, 8}, {30, 50, 1, 8}, {4, 6, 1, 9}}},
		"time of day": {with("t", arrow.FixedWidthTypes.Time32ms, `[1, 2, 3]`), format.Policy{}, []ev{{3, 5, 0, 1000}, {30, 50, 1, 2000}, {4, 6, 1, 3000}}},
		"seconds":     {with("t", arrow.PrimitiveTypes.Uint32, `[1, 2, 3]`), format.Policy{TimeUnit: "s"}, []ev{{3, 5, 0, 1e6}, {30, 50, 1, 2e6}, {4, 6, 1, 3e6}}},
		"unsigned p":  {with("p", arrow.PrimitiveTypes.Uint8, `[255, 1, 0]`), format.Policy{}, []ev{{3, 5, 0, 7000}, {30, 50, 1, 70000}, {4, 6, 0, 700000}}},
		"nonzero":     {with("p", arrow.PrimitiveTypes.Int16, `[0, 7, -7]`), format.Policy{Polarity: "nonzero"}, three},
		"negative x":  {with("x", arrow.PrimitiveTypes.Int16, `[-3, 30, 4]`), format.Policy{}, []ev{{65535, 5, 0, 7000}, three[1], three[2]}},
		"names":       {append(with("t", arrow.PrimitiveTypes.Int64, `[0, 0, 0]`), field{"late", arrow.PrimitiveTypes.Int64, `[7000, 70000, 700000]`}), format.Policy{DatasetMap: map[string]string{"t": "late"}}, three},
	} {
		src, err := openBytes(t, made(t, true, 1, c.fields), c.policy)
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		b, _, err := format.Drain(t.Context(), src)
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		want := event.NewBuffer(len(c.want))
		for _, e := range c.want {
			want.Append(e[3], uint16(e[0]), uint16(e[1]), int8(e[2]))
		}
		if d := eventtest.Diff(b, want.Batch()); d != "" {
			t.Errorf("%s: %s", what, d)
		}
	}
}

// Damage in one batch costs that batch.
func TestSalvage(t *testing.T) {
	data := made(t, false, 1, plainRows, ipc.WithZstd())
	second := made(t, false, 2, plainRows, ipc.WithZstd())
	at := bytes.Index(data, []byte{0x28, 0xB5, 0x2F, 0xFD}) // the first frame of the first batch
	if at < 0 {
		t.Skip("the library did not compress such a small batch")
	}
	bad := bytes.Clone(second)
	bad[at] ^= 0xFF
	src, err := openBytes(t, bad, format.Policy{})
	if err != nil {
		t.Fatal(err)
	}
	var syn *format.SyntaxError
	if _, _, err := format.Drain(t.Context(), src); !errors.As(err, &syn) || !strings.HasSuffix(err.Error(), "(try --salvage)") {
		t.Errorf("damage: %v", err)
	}
	if src, err = openBytes(t, bad, format.Policy{Salvage: true}); err != nil {
		t.Fatal(err)
	}
	b, rep, err := format.Drain(t.Context(), src)
	if err != nil || b.Len() != 3 || rep.N(event.DamagedBytes) == 0 || !rep.Lost() {
		t.Errorf("%d events, %v, %v", b.Len(), rep, err)
	}
}

// written writes a recording and returns its path.
func written(t *testing.T, file string, b event.Batch, h format.Header, o format.CreateOptions) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), file)
	s, err := Format.Create(path, h, o)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Write(t.Context(), b), s.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

// What is written, Arrow's own library reads: in the file and in the stream, with each compression, and with the types
// that were asked for.
func TestLibraryReadsIt(t *testing.T) {
	want := eventtest.Recording(3, batchRows+1000, event.Geometry{Width: 346, Height: 260})
	h := format.Header{Geometry: event.Geometry{Width: 346, Height: 260}, Fields: []event.Field{{Key: "serial", Value: "7"}}}
	for _, file := range []string{"a.arrow", "a.arrows"} {
		for _, o := range []format.CreateOptions{{}, {Compression: "lz4"}, {Compression: "zstd", Polarity: "pm1", TimeType: "duration"}} {
			raw, err := os.ReadFile(written(t, file, want, h, o))
			if err != nil {
				t.Fatal(err)
			}
			all := event.NewBuffer(want.Len())
			add := func(r arrow.RecordBatch) {
				times, ok := r.Column(0).(*array.Int64)
				if o.Duration() != !ok {
					t.Fatalf("t is of type %v", r.Column(0).DataType())
				}
				for i := range int(r.NumRows()) {
					at := int64(0)
					if ok {
						at = times.Value(i)
					} else {
						at = int64(r.Column(0).(*array.Duration).Value(i))
					}
					p := r.Column(3).(*array.Int8).Value(i)
					if p == 0 && o.Polarity == "pm1" || p < 0 && o.Polarity != "pm1" {
						t.Fatalf("p is %d", p)
					}
					all.Append(at, r.Column(1).(*array.Uint16).Value(i), r.Column(2).(*array.Uint16).Value(i), max(p, 0))
				}
			}
			schema := readBack(t, file, raw, add)
			if d := eventtest.Diff(all.Batch(), want); d != "" {
				t.Errorf("%s, %+v: %s", file, o, d)
			}
			if v, _ := schema.Metadata().GetValue("evq.width"); v != "346" {
				t.Errorf("metadata %v", schema.Metadata())
			}
			src, err := openBytes(t, raw, format.Policy{Strict: true})
			if err != nil {
				t.Fatal(err)
			}
			if info := src.Info(); info.Events != int64(want.Len()) || info.Field("serial") != "7" || info.Geometry != h.Geometry {
				t.Errorf("%s: %+v", file, info)
			}
			if d := eventtest.Diff(eventtest.Drain(t, src, event.All), want); d != "" {
				t.Errorf("%s, %+v, read by evq: %s", file, o, d)
			}
		}
	}
}

// readBack reads every batch by Arrow's library.
func readBack(t *testing.T, file string, raw []byte, add func(arrow.RecordBatch)) *arrow.Schema {
	t.Helper()
	if strings.HasSuffix(file, "s") {
		r, err := ipc.NewReader(bytes.NewReader(raw))
		if err != nil {
			t.Fatal(err)
		}
		for r.Next() {
			add(r.RecordBatch())
		}
		if err := r.Err(); err != nil && !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
		return r.Schema()
	}
	r, err := ipc.NewFileReader(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	for i := range r.NumRecords() {
		b, err := r.RecordBatchAt(i)
		if err != nil {
			t.Fatal(err)
		}
		add(b)
	}
	return r.Schema()
}

func TestSinkRefuses(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.arrow")
	if _, err := Format.Create(path, format.Header{}, format.CreateOptions{Compression: "gzip"}); err == nil {
		t.Error("an unknown compression is taken")
	}
	s, err := Format.Create(path, format.Header{}, format.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Write(t.Context(), event.New([]int64{1}, nil, nil, nil)); err == nil {
		t.Error("events without pixels are taken")
	}
	if s.Close() == nil {
		t.Error("a failed recording closes without an error")
	}
	if left := eventtest.Names(t, dir); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Format.Create(path, format.Header{}, format.CreateOptions{}); !errors.Is(err, atomicfile.ErrExists) {
		t.Errorf("a name that is taken: %v", err)
	}
}

func BenchmarkDecode(b *testing.B) {
	g := event.Geometry{Width: 1280, Height: 720}
	path := filepath.Join(b.TempDir(), "a.arrow")
	s, err := Format.Create(path, format.Header{Geometry: g}, format.CreateOptions{})
	if err != nil {
		b.Fatal(err)
	}
	const n = 1 << 20
	if err := errors.Join(s.Write(b.Context(), eventtest.Scene(1, n, g)), s.Close()); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		src, err := Format.Open(b.Context(), formattest.Open(b, path), format.Policy{OnUnsorted: format.Clamp})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := event.Each(b.Context(), src, event.All, func(event.Batch) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mev/s")
}
