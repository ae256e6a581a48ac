package arrowtensor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/evq-project/evq/io/atomicfile"
	"github.com/evq-project/evq/io/tensor"
)

// every has a layout of each type, two of one name.
var every = []tensor.Layout{
	{Name: "counts", Shape: tensor.Shape{4, 9, 11}, DType: tensor.Uint8}, {Name: "stack", Shape: tensor.Shape{3, 5, 7}, DType: tensor.Int8},
	{Name: "frame", Shape: tensor.Shape{6, 5}, DType: tensor.Uint32}, {Name: "frame", Shape: tensor.Shape{6}, DType: tensor.Int32},
	{Name: "sae", Shape: tensor.Shape{2, 6, 5}, DType: tensor.Int64}, {Name: "one", DType: tensor.Float32},
}

// blocks makes those of n windows.
func blocks(layouts []tensor.Layout, n int) (all []tensor.Block) {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	for i := range n {
		for part, l := range layouts {
			data := make([]byte, l.Bytes())
			for range len(data)/4 + 1 {
				data[r.IntN(len(data))] = byte(r.IntN(64))
			}
			all = append(all, tensor.Block{Part: part, Index: i, Start: int64(i)*50 - 10, End: int64(i) * 60, Events: int64(i % 7), Shape: l.Shape, DType: l.DType, Data: data})
		}
	}
	return all
}

func write(t testing.TB, path string, layouts []tensor.Layout, all []tensor.Block, options ...Option) {
	t.Helper()
	s, err := Create(path, options...).Open(layouts...)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range all {
		if err := s.Write(context.Background(), b); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
}

// read returns the schema and the batches of a file or a stream.
func read(t *testing.T, path string) (*arrow.Schema, []arrow.RecordBatch) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var batches []arrow.RecordBatch
	if filepath.Ext(path) == ".arrows" {
		r, err := ipc.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		for {
			b, err := r.Read()
			if errors.Is(err, io.EOF) {
				return r.Schema(), batches
			}
			if err != nil {
				t.Fatal(err)
			}
			b.Retain()
			batches = append(batches, b)
		}
	}
	r, err := ipc.NewFileReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for i := range r.NumRecords() {
		b, err := r.RecordBatchAt(i)
		if err != nil {
			t.Fatal(err)
		}
		batches = append(batches, b)
	}
	return r.Schema(), batches
}

// elements are the bytes of a block.
func elements(a arrow.Array) []byte {
	list := a.(*array.FixedSizeList)
	return list.ListValues().Data().Buffers()[1].Bytes()
}

func TestRoundTrip(t *testing.T) {
	for _, name := range []string{"o.arrow", "o.arrows", "o.feather"} {
		for _, compression := range append(Compressions, "") {
			for _, layouts := range [][]tensor.Layout{every, every[:1], every[5:]} {
				for _, n := range []int{0, 1, 23} {
					path := filepath.Join(t.TempDir(), name)
					all := blocks(layouts, n)
					write(t, path, layouts, all, Compression(compression))
					schema, batches := read(t, path)
					checkSchema(t, schema, layouts)
					if len(batches) != n {
						t.Fatalf("%s %s: %d batches of %d windows", name, compression, len(batches), n)
					}
					for i, b := range all {
						check(t, batches[i/len(layouts)], b)
					}
				}
			}
		}
	}
}

func checkSchema(t *testing.T, schema *arrow.Schema, layouts []tensor.Layout) {
	t.Helper()
	names := append([]string{"window", "window_start", "window_end", "window_events"}, tensor.Names(layouts)...)
	if schema.NumFields() != len(names) {
		t.Fatalf("%d fields", schema.NumFields())
	}
	for i, name := range names {
		f := schema.Field(i)
		if f.Name != name || f.Nullable {
			t.Errorf("field %d is %v, want %s", i, f, name)
		}
		if i < 4 {
			continue
		}
		l := layouts[i-4]
		shape := strings.NewReplacer("(", "[", ")", "]", " ", "").Replace(l.Shape.String())
		for key, want := range map[string]string{
			"ARROW:extension:name": "arrow.fixed_shape_tensor", "ARROW:extension:metadata": `{"shape":` + shape + `}`,
			"representation": l.Name, "shape": shape, "dtype": l.DType.String(),
		} {
			if got, _ := f.Metadata.GetValue(key); got != want {
				t.Errorf("%s: %s is %q, want %q", name, key, got, want)
			}
		}
	}
}

// check compares a row with a block that it must hold.
func check(t *testing.T, r arrow.RecordBatch, b tensor.Block) {
	t.Helper()
	for i, want := range []int64{int64(b.Index), b.Start, b.End, b.Events} {
		if got := r.Column(i).(*array.Int64).Value(0); got != want || r.NumRows() != 1 {
			t.Errorf("window %d: %s = %d, want %d", b.Index, r.ColumnName(i), got, want)
		}
	}
	column := r.Column(4 + b.Part)
	if got := elements(column)[:len(b.Data)]; !bytes.Equal(got, b.Data) {
		t.Errorf("window %d: %s differs", b.Index, r.ColumnName(4+b.Part))
	}
	if got, want := column.(*array.FixedSizeList).ListValues().DataType().Name(), b.DType.String(); got != want {
		t.Errorf("elements of %s, want %s", got, want)
	}
}

func TestRefuses(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "o.arrow")
	for name, layouts := range map[string][]tensor.Layout{
		"none": nil, "an empty one": {{Shape: tensor.Shape{2, 0}}}, "a huge one": {every[0], {Shape: tensor.Shape{1 << 16, 1 << 15}}},
	} {
		if _, err := Create(path).Open(layouts...); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	if _, err := Create(path, Compression("gzip")).Open(every...); err == nil || !strings.Contains(err.Error(), "lz4, zstd, none") {
		t.Errorf("an unknown compression: %v", err)
	}
	all := blocks(every, 2)
	for name, end := range map[string]func(tensor.Sink) error{
		"abort": tensor.Sink.Abort,
		"a window that is not whole": func(s tensor.Sink) error {
			if err := s.Close(); err == nil || !strings.Contains(err.Error(), "window 1 lacks its block of stack") {
				t.Errorf("a window that is not whole: %v", err)
			}
			return nil
		},
	} {
		s, err := Create(path).Open(every...)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range all[:7] {
			if err := s.Write(context.Background(), b); err != nil {
				t.Fatal(err)
			}
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if err := s.Write(ctx, all[7]); !errors.Is(err, context.Canceled) {
			t.Errorf("a cancelled write: %v", err)
		}
		if s.Write(context.Background(), all[0]) == nil {
			t.Error("a block that is not next was accepted")
		}
		if err := end(s); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if s.Write(context.Background(), all[7]) == nil {
			t.Errorf("%s: a block after the end was accepted", name)
		}
		if left, _ := os.ReadDir(dir); len(left) != 0 {
			t.Errorf("%s leaves %v", name, left)
		}
	}
	write(t, path, every, nil)
	if _, err := Create(path).Open(every...); !errors.Is(err, atomicfile.ErrExists) {
		t.Errorf("a name that is taken: %v", err)
	}
	write(t, path, every, all, Force())
}

// The blocks of a window are handed back when it is written, or dropped.
func TestBlocksAreReleased(t *testing.T) {
	layouts := every[:2]
	for name, end := range map[string]func(s tensor.Sink, second tensor.Block) error{
		"written": func(s tensor.Sink, second tensor.Block) error { return s.Write(context.Background(), second) },
		"dropped": func(s tensor.Sink, _ tensor.Block) error { return s.Abort() },
	} {
		s, err := Create(filepath.Join(t.TempDir(), "o.arrow")).Open(layouts...)
		if err != nil {
			t.Fatal(err)
		}
		pool := tensor.NewPool(layouts[0])
		b := pool.Get()
		b.Start = -10
		first := &b.Data[0]
		if err := s.Write(context.Background(), b); err != nil {
			t.Fatal(err)
		}
		if err := end(s, blocks(layouts, 1)[1]); err != nil {
			t.Fatal(err)
		}
		if next := pool.Get(); &next.Data[0] != first {
			t.Errorf("%s: the block was not released", name)
		}
		_ = s.Abort()
	}
}

func BenchmarkWrite(b *testing.B) {
	l := tensor.Layout{Name: "stacked_histogram", Shape: tensor.Shape{20, 360, 640}, DType: tensor.Uint8}
	block := tensor.Block{Data: make([]byte, l.Bytes())}
	for range 40_000 {
		block.Data[rand.IntN(len(block.Data))]++
	}
	for _, compression := range Compressions {
		b.Run(compression, func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "o.arrow")
			s, err := Create(path, Compression(compression)).Open(l)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(l.Bytes()))
			n := 0
			for b.Loop() {
				n++
				if err := s.Write(context.Background(), block); err != nil {
					b.Fatal(err)
				}
			}
			if err := s.Close(); err != nil {
				b.Fatal(err)
			}
			if st, err := os.Stat(path); err == nil {
				b.ReportMetric(float64(st.Size())/float64(n), "file-B/op")
			}
		})
	}
}

func ExampleCreate() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "o.arrow")
	s, err := Create(path).Open(tensor.Layout{Name: "event_count", Shape: tensor.Shape{1, 2}, DType: tensor.Uint8})
	if err != nil {
		panic(err)
	}
	if err := s.Write(context.Background(), tensor.Block{End: 50_000, Events: 3, Data: []byte{1, 2}}); err != nil {
		panic(err)
	}
	if err := s.Close(); err != nil {
		panic(err)
	}
	f, err := os.Open(path)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	r, err := ipc.NewFileReader(f)
	if err != nil {
		panic(err)
	}
	batch, err := r.RecordBatchAt(0)
	if err != nil {
		panic(err)
	}
	for i, column := range batch.Columns() {
		fmt.Println(batch.ColumnName(i), column)
	}
	// Output:
	// window [0]
	// window_start [0]
	// window_end [50000]
	// window_events [3]
	// data [[1 2]]
}
