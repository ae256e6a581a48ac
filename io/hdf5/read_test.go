//go:build hdf5 && cgo

package hdf5

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/formattest"
	"github.com/evq-project/evq/io/hdf5/chunk"
	"gonum.org/v1/hdf5"
)

func TestReferenceRecordings(t *testing.T) {
	data := eventtest.Data(t)
	for _, name := range []string{"gen4_style_blosc", "gen4_style_gzip", "dsec_style_blosc"} {
		t.Run(name, func(t *testing.T) {
			rel := "h5_derived/" + name + ".h5"
			s, err := openTest(t, filepath.Join(data, rel), format.Policy{})
			if err != nil {
				t.Fatal(err)
			}
			formattest.CheckReference(t, data, rel, s)
			if s.Info().Events != 82469 {
				t.Errorf("info says %d events", s.Info().Events)
			}
			if g := s.Geometry(); strings.HasPrefix(name, "gen4") && g != (event.Geometry{Width: 1280, Height: 720}) {
				t.Errorf("the sensor has %v pixels", g)
			}
		})
	}
}

func TestGoldenRecordings(t *testing.T) {
	data := eventtest.Data(t)
	for name, n := range map[string]int{"edges": 13, "hot": 19566, "long_dt100_nb100": 101, "long_dt1864139_nb10": 2005,
		"long_dt30000001_nb10": 2022, "pneg": 13, "unsorted": 200000} {
		b, rep, err := drain(t, filepath.Join(data, "rvt_golden", name+".h5"), format.Policy{OnUnsorted: format.Clamp, OnOffSensor: format.Keep})
		if err != nil || b.Len() != n {
			t.Errorf("%s: %d events, want %d: %v", name, b.Len(), n, err)
			continue
		}
		if name == "pneg" && rep.N(event.RemappedPolarity) == 0 {
			t.Error("pneg: no polarity was -1")
		}
	}
}

// The fixtures are h5py's: big-endian contiguous columns and a bool; and a file after a user block with
// another filter on each column, chunks of other sizes, the last of them part-filled.
func TestFixtures(t *testing.T) {
	for _, name := range []string{"bool", "chunks"} {
		b, rep, err := drain(t, "testdata/"+name+".h5", format.Policy{})
		if err != nil {
			t.Fatal(err)
		}
		want := event.NewBuffer(50)
		for i := range int64(50) {
			x := uint16((i/5*37 + i%5) % 1280)
			want.Append(14224870+7*i+i*i%11, x, x/2, int8(i*i/3%2))
		}
		slices.SortStableFunc(want.T, func(a, b int64) int { return int(a - b) })
		if d := eventtest.Diff(b, want.Batch()); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		if len(rep.Notes) > 0 && rep.N(event.RemappedPolarity) > 0 {
			t.Errorf("%s: %q", name, rep.Notes)
		}
	}
}

func TestEveryIntegerType(t *testing.T) {
	for _, e := range integers() {
		columns := map[string]testColumn{}
		for _, name := range columnNames {
			columns["events/"+name] = testColumn{e, []int64{0, 1, 1}}
		}
		b, _, err := drain(t, testFile(t, columns, nil), format.Policy{})
		if err != nil {
			t.Errorf("%v: %v", e, err)
			continue
		}
		if d := eventtest.Diff(b, event.New([]int64{0, 1, 1}, []uint16{0, 1, 1}, []uint16{0, 1, 1}, []int8{0, 1, 1})); d != "" {
			t.Errorf("%v: %s", e, d)
		}
	}
}

func TestDSECOffset(t *testing.T) {
	columns := with("t", u4(0, 99_477, 200_000))
	path := testFile(t, columns, func(h *hdf5.File) {
		if err := writeInt64s(h.ID(), "t_offset", []int64{49_599_300_523}, true); err != nil {
			t.Error(err)
		}
	})
	b, _, err := drain(t, path, format.Policy{})
	if err != nil || !slices.Equal(b.T(), []int64{49_599_300_523, 49_599_400_000, 49_599_500_523}) {
		t.Errorf("times %v: %v", b.T(), err)
	}
	s, err := openTest(t, path, format.Policy{})
	if err != nil || s.Info().Field("t_offset") != "49599300523" {
		t.Errorf("info %+v: %v", s.Info(), err)
	}
}

func TestGeometry(t *testing.T) {
	path := testFile(t, plainColumns(), func(h *hdf5.File) {
		if err := errors.Join(writeInt64s(h.ID(), "events/width", []int64{640}, true), writeInt64s(h.ID(), "events/height", []int64{480}, true)); err != nil {
			t.Error(err)
		}
	})
	for path, want := range map[string]event.Geometry{path: {Width: 640, Height: 480}, testFile(t, plainColumns(), nil): {}, "testdata/bool.h5": {Width: 1280, Height: 720}} {
		s, err := openTest(t, path, format.Policy{})
		if err != nil || s.Geometry() != want {
			t.Errorf("%v, want %v: %v", s.Geometry(), want, err)
		}
	}
}

func TestNegativeCoordinateIsOffSensor(t *testing.T) {
	path := testFile(t, with("x", testColumn{elem{size: 4, signed: true}, []int64{1, -1, 1308}}), nil)
	policy := format.Policy{Size: event.Geometry{Width: 1280, Height: 720}, OnOffSensor: format.Drop}
	b, rep, err := drain(t, path, policy)
	if err != nil || b.Len() != 1 || rep.N(event.OffSensor) != 2 || len(rep.Notes) == 0 {
		t.Errorf("%d events, report %v, notes %q: %v", b.Len(), rep, rep.Notes, err)
	}
}

func TestPolarityCases(t *testing.T) {
	path := testFile(t, with("p", u1(0, 1, 2)), nil)
	var bad *ValueError
	if _, _, err := drain(t, path, format.Policy{}); !errors.As(err, &bad) || bad.Index != 2 {
		t.Errorf("polarity 2: %v", err)
	}
	if b, _, err := drain(t, path, format.Policy{Polarity: "nonzero"}); err != nil || !slices.Equal(b.P(), []int8{0, 1, 1}) {
		t.Errorf("nonzero: %v: %v", b.P(), err)
	}
	b, rep, err := drain(t, testFile(t, with("p", u4(1, 4294967295, 0)), nil), format.Policy{})
	if err != nil || !slices.Equal(b.P(), []int8{1, 0, 0}) || rep.N(event.RemappedPolarity) != 1 || len(rep.Notes) == 0 {
		t.Errorf("0xFFFFFFFF: %v, %v: %v", b.P(), rep, err)
	}
	if _, err := openTest(t, path, format.Policy{Polarity: "loud"}); err == nil {
		t.Error("an unknown encoding is accepted")
	}
}

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
		if err := writeRaw(h, "events/t", hdf5.T_IEEE_F64LE, 3, make([]byte, 24)); err != nil {
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
		{"float", noT, float, []string{"float64", "/events/t"}},
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
			if p := Format.Sniff(fileOf(t, path)); p.Confidence <= 0 || p.Confidence >= 1 {
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

func TestUnwrittenChunksAreZero(t *testing.T) {
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
	b, _, err := drain(t, path, format.Policy{})
	if err != nil || b.Len() != n || b.T()[15] != 0 || b.T()[16] != 5 {
		t.Errorf("times %v: %v", b.T(), err)
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

func TestColumnsLeftOut(t *testing.T) {
	events := eventtest.Recording(3, 70_000, vga)
	s, err := openTest(t, written(t, events, ""), format.Policy{OnOffSensor: format.Keep})
	if err != nil {
		t.Fatal(err)
	}
	want := event.All
	want.Columns = event.ColP
	got := eventtest.Drain(t, s, want)
	if !slices.Equal(got.T(), events.T()) || !slices.Equal(got.P(), events.P()) {
		t.Error("t or p differ")
	}
}

func TestConcurrentScansAndEarlyEnds(t *testing.T) {
	events := eventtest.Recording(5, 300_000, vga)
	s, err := openTest(t, written(t, events, "blosc-lz4"), format.Policy{Threads: 3})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			if i%2 == 0 {
				if b, _, err := format.Drain(context.Background(), s); err != nil || eventtest.Diff(b, events) != "" {
					t.Errorf("scan %d differs: %v", i, err)
				}
				return
			}
			ctx, cancel := context.WithCancel(context.Background())
			st, err := s.Scan(ctx, event.All)
			if err == nil {
				_, err = st.Next(ctx)
			}
			if err != nil {
				t.Error(err)
			}
			cancel()
			for err == nil {
				_, err = st.Next(ctx)
			}
			if !errors.Is(err, context.Canceled) && !errors.Is(err, io.EOF) {
				t.Errorf("a cancelled scan ends with %v", err)
			}
			if err := st.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

// A scan whose context ends is never taken for the end of the recording.
func TestCancelledDecode(t *testing.T) {
	f, err := openFile(written(t, eventtest.Recording(5, 10*chunkRows, vga), "none"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	want := event.All
	want.Threads = 1
	d, err := newDecoder(ctx, f, want, format.Policy{}.WithDefaults(), polarityAuto, &event.Report{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Next(context.Background()); err != nil {
		t.Fatal(err)
	}
	cancel()
	for err == nil {
		_, err = d.Next(context.Background())
	}
	if !errors.Is(err, context.Canceled) {
		t.Errorf("ends with %v", err)
	}
	if err := errors.Join(d.Close(), d.Close()); err != nil {
		t.Error(err)
	}
}

func TestBounded(t *testing.T) {
	f := &file{rows: 1 << 30}
	for i := range f.columns {
		f.columns[i] = dataset{chunk: 4 << 20, elem: elem{size: 4}}
	}
	all := wanted(0)
	if got := bounded(64, f, all, taskSpan(f, all), 256<<20); got != 2 {
		t.Errorf("%d goroutines hold chunks of 128 MiB each in 256 MiB", got)
	}
	if got := bounded(64, f, all, taskSpan(f, all), 1); got != 1 {
		t.Errorf("%d goroutines", got)
	}
}
