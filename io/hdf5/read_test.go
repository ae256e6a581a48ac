//go:build hdf5 && cgo

package hdf5

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/formattest"
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
