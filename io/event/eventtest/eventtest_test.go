package eventtest

import (
	"slices"
	"strings"
	"testing"

	"github.com/evq-project/evq/io/event"
)

var qvga = event.Geometry{Width: 320, Height: 240}

func TestRecordingsAreSeededAndInOrder(t *testing.T) {
	for name, make := range map[string]func(uint64, int, event.Geometry) event.Batch{"Recording": Recording, "Scene": Scene} {
		a := make(5, 50_000, qvga)
		if d := Diff(a, make(5, 50_000, qvga)); d != "" {
			t.Errorf("%s: one seed, two recordings: %s", name, d)
		}
		if Diff(a, make(6, 50_000, qvga)) == "" {
			t.Errorf("%s: two seeds, one recording", name)
		}
		if a.Len() != 50_000 || !slices.IsSorted(a.T()) {
			t.Errorf("%s: %d events, in order %v", name, a.Len(), slices.IsSorted(a.T()))
		}
		if slices.Max(a.X()) >= 320 || slices.Max(a.Y()) >= 240 || slices.Max(a.P()) != 1 || slices.Min(a.P()) != 0 {
			t.Errorf("%s: events off the sensor, or of one polarity", name)
		}
		if make(1, 0, qvga).Len() != 0 || make(1, 1, qvga).Len() != 1 {
			t.Errorf("%s: 0 or 1 events", name)
		}
	}
}

// A recording must hold what it promises, or tests over it show nothing.
func TestRecordingHoldsWhatTroublesReaders(t *testing.T) {
	b := Recording(7, 100_000, qvga)
	ties, gaps, pixels := 0, 0, map[[2]uint16]int{}
	for i := range b.Len() {
		pixels[[2]uint16{b.X()[i], b.Y()[i]}]++
		if i > 0 {
			switch d := b.T()[i] - b.T()[i-1]; {
			case d == 0:
				ties++
			case d > 1_000_000:
				gaps++
			}
		}
	}
	hot := 0
	for _, n := range pixels {
		if n > 1000 {
			hot++
		}
	}
	if ties < 10_000 || gaps < 3 || hot < 4 {
		t.Errorf("%d ties, %d gaps, %d hot pixels", ties, gaps, hot)
	}
	for _, corner := range [][2]uint16{{0, 0}, {319, 0}, {0, 239}, {319, 239}} {
		if pixels[corner] == 0 {
			t.Errorf("no event in the corner %v", corner)
		}
	}
}

func TestSceneFiresInRows(t *testing.T) {
	b := Scene(7, 100_000, qvga)
	runs := 0
	for i := 1; i < b.Len(); i++ {
		if b.T()[i] == b.T()[i-1] && b.Y()[i] == b.Y()[i-1] && b.X()[i] == b.X()[i-1]+1 && b.P()[i] == b.P()[i-1] {
			runs++
		}
	}
	if runs < b.Len()/2 {
		t.Errorf("only %d of %d events continue a run along a row", runs, b.Len())
	}
}

func TestSourceDrainDiff(t *testing.T) {
	b := Recording(1, 1000, qvga)
	for _, n := range []int{0, 1, 7, 5000} {
		src := Source(b, qvga, n)
		if d := Diff(Drain(t, src, event.All), b); d != "" {
			t.Errorf("batches of %d: %s", n, d)
		}
		if i := src.Info(); !i.Sorted || i.Events != 1000 || !i.Stats || i.Extent.T1 != b.T()[999] {
			t.Errorf("info %+v", i)
		}
	}
	if d := Diff(Drain(t, Source(event.Batch{}, qvga, 5), event.All), event.Batch{}); d != "" {
		t.Error(d)
	}
	if d := Diff(b, b.Slice(0, 999)); d != "1000 events are not 999" {
		t.Error(d)
	}
	other := event.New([]int64{4}, []uint16{1}, []uint16{2}, []int8{0})
	if d := Diff(event.New([]int64{4}, []uint16{1}, nil, []int8{0}), other); d != "event 0: (1,-,0,4) is not (1,2,0,4)" {
		t.Error(d)
	}
}

func TestDigest(t *testing.T) {
	a := event.New([]int64{1, 1}, []uint16{9, 3}, []uint16{2, 2}, []int8{0, 1})
	b := event.New([]int64{1, 1}, []uint16{3, 9}, []uint16{2, 2}, []int8{1, 0})
	fa, sa := Digest(a)
	fb, sb := Digest(b)
	if fa == fb || sa != sb || fb != sb {
		t.Errorf("%s %s, %s %s", fa, sa, fb, sb)
	}
	// printf '\x03\0\x02\0\x01\x01\0\0\0\0\0\0\0' | sha256sum
	if one, _ := Digest(b.Slice(0, 1)); one != "dadbe8e386fbc2a63fd5bde724a35296e2e3651d09308a707716d07c2d0e2819" {
		t.Errorf("digest %s", one)
	}
}

func TestDataNamesItsFolder(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("EVQ_TEST_DATA", dir)
	if got := Data(t); got != dir {
		t.Errorf("%s, want %s", got, dir)
	}
	t.Setenv("EVQ_TEST_DATA", "")
	if got := Data(t); !strings.HasSuffix(got, "data") { // skips where there is none
		t.Errorf("%s", got)
	}
}
