package builtins

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
)

var pixel = event.Geometry{Width: 1, Height: 1}

// line is events at the only pixel of a sensor.
func line(p []int8, t ...int64) event.Batch {
	return event.New(t, make([]uint16, len(t)), make([]uint16, len(t)), p)
}

// of makes the values of a call for one window of all events.
func of(t testing.TB, call string, g event.Geometry, b event.Batch) []float64 {
	t.Helper()
	data, d, _ := run(t, call, g, whole(b))
	return values(data, d)
}

func sum(v []float64) (s float64) {
	for _, x := range v {
		s += x
	}
	return s
}

// A single event is seen: in a frame, in a grid, on a surface, however many bins there are.
func TestOneEventIsSeen(t *testing.T) {
	b := at(1, 3, 2, 1, 777)
	for call, want := range map[string]float64{
		"event_frame": 1, "event_frame:bins=10": 1, "event_count": 1, "voxel_grid": 1, "voxel_grid:variant=b-1": 1, "time_surface": 1,
		"time_surface:memory=recording": 1, "bina_rep": 128.0 / 255, "averaged_time_surface": 1, "stacked_histogram": 1,
	} {
		if got := sum(of(t, call, sensor, b)); math.Abs(got-want) > 1e-6 {
			t.Errorf("%s: the sum is %v, want %v", call, got, want)
		}
	}
}

// An empty window is zeros and events at one time lie in bin 0: no NaN, and no division by zero.
func TestNoTimePasses(t *testing.T) {
	equal := line([]int8{1, 1, 0}, 50, 50, 50)
	for call, want := range map[string]string{
		"voxel_grid": "[1 0 0 0 0]", "voxel_grid:variant=b-1": "[1 0 0 0 0]", "voxel_grid:signed=false,bins=2": "[1 0 2 0]",
		"event_frame:bins=2": "[1 2 0 0]", "event_frame:bins=2,variant=tonic": "[0 0 0 0]", "event_frame:bins=2,signed=true": "[1 0]",
		"time_surface": "[1 1]", "sae": "[50 50]", "event_count": "[3]",
	} {
		if got := fmt.Sprint(of(t, call, pixel, equal)); got != want {
			t.Errorf("%s: %s, want %s", call, got, want)
		}
		if got := of(t, call, pixel, event.Batch{}); call != "sae" && sum(got) != 0 {
			t.Errorf("%s: the empty window is %v", call, got)
		}
	}
}

// Counts of 256 events and more at a pixel are exact, and a cutoff is the largest count.
func TestCountsDoNotWrap(t *testing.T) {
	for _, n := range []int{256, 260, 300, 40_000} {
		b := at(n, 0, 0, 1, 9)
		for call, want := range map[string]float64{
			"event_frame": float64(n), "event_count": float64(n), "event_frame:signed=true": float64(n), "voxel_grid": float64(n),
			"event_frame:cutoff=10": 10, "event_frame:mode=binary": 1, "stacked_histogram": 10, "event_frame:signed=true,cutoff=10": 10,
		} {
			if got := sum(of(t, call, pixel, b)); got != want {
				t.Errorf("%d events, %s: %v, want %v", n, call, got, want)
			}
		}
		off := at(n, 0, 0, 0, 9)
		if got := of(t, "event_frame:signed=true,cutoff=10", pixel, off)[0]; got != -10 {
			t.Errorf("%d OFF events, cut at 10: %v", n, got)
		}
	}
}

// An event on the edge of a bin lies in the later one: 5 of 25 us in 10 bins is bin 2, where a reciprocal in single
// precision gives 1.
func TestBinsAreIntegers(t *testing.T) {
	got := of(t, "event_frame:bins=10,signed=true", pixel, line([]int8{1, 1, 1}, 0, 5, 25))
	if fmt.Sprint(got) != "[1 0 1 0 0 0 0 0 0 1]" {
		t.Error(got)
	}
}

// Opposite polarities cancel where sums are signed, and only there.
func TestPolaritiesCancelOnlyInSums(t *testing.T) {
	b := line([]int8{1, 0}, 10, 10)
	for call, want := range map[string]string{
		"event_frame:signed=true": "[0]", "event_frame": "[1 1]", "event_count": "[2]", "voxel_grid:bins=1": "[0]", "voxel_grid:bins=1,signed=false": "[1 1]",
	} {
		if got := fmt.Sprint(of(t, call, pixel, b)); got != want {
			t.Errorf("%s: %s, want %s", call, got, want)
		}
	}
}

// The example of docs/semantics.md: a pixel hit twice within one slice counts 2.
func TestWorkedExample(t *testing.T) {
	b := line([]int8{1, 1, 0, 1}, 0, 4_000, 30_000, 50_000)
	for call, want := range map[string]string{
		"event_frame:bins=10":                         "[0 2 0 0 0 0 0 0 0 0 0 0 1 0 0 0 0 0 0 1]",
		"event_frame:bins=10,mode=binary,signed=true": "[1 0 0 0 0 0 -1 0 0 1]",
		"event_count":                                 "[4]",
		"sae":                                         "[30000 50000]",
		"voxel_grid":                                  "[1.6 0.4 0 -1 0]",
		"time_surface:tau=50ms":                       fmt.Sprint([]float64{float64(float32(math.Exp(-0.4))), 1}),
	} {
		got := of(t, call, pixel, b)
		for i := range got {
			if call == "voxel_grid" {
				got[i] = math.Round(got[i]*1e6) / 1e6
			}
		}
		if fmt.Sprint(got) != want {
			t.Errorf("%s: %v, want %s", call, got, want)
		}
	}
}

// Windows that part the events part their counts.
func TestCountsAddUpOverWindows(t *testing.T) {
	b := recording(12, 9000, 5_000_000)
	for _, call := range []string{"event_frame", "event_frame:bins=4", "event_count", "event_frame:signed=true", "event_frame:bins=3,timebase=window"} {
		parts, d, _ := run(t, call, sensor, windows(b, 30_000))
		all, _, _ := run(t, call, sensor, whole(b))
		if got, want := sum(values(parts, d)), sum(values(all, d)); got != want || want == 0 {
			t.Errorf("%s: windows hold %v, all together %v", call, got, want)
		}
	}
}

// The bytes are the same in 20 runs on 1 to 8 encoders at a time.
func TestSameBytesOnAnyThreads(t *testing.T) {
	g := event.Geometry{Width: 64, Height: 48}
	b := eventtest.Scene(3, 30_000, g)
	w := windows(b, 2_000)
	for _, call := range []string{"voxel_grid", "voxel_grid:normalize=e2vid", "averaged_time_surface", "time_surface", "event_frame:bins=3"} {
		rep := made(t, call)
		want, _ := encode(t, rep, g, w)
		for round := range 20 {
			threads := 1 + round%8
			got := make([][]byte, len(w.Windows))
			var group sync.WaitGroup
			for k := range threads {
				group.Go(func() {
					for i := k; i < len(w.Windows); i += threads {
						one, _ := encode(t, rep, g, event.Windowed{Events: b, Windows: w.Windows[i : i+1]})
						got[i] = one[0]
					}
				})
			}
			group.Wait()
			if !slices.EqualFunc(got, want, bytes.Equal) {
				t.Fatalf("%s: other bytes in run %d on %d threads", call, round, threads)
			}
		}
	}
}

// The shapes and types are those of docs/semantics.md.
func TestShapes(t *testing.T) {
	g := event.Geometry{Width: 64, Height: 48}
	for call, want := range map[string]string{
		"stacked_histogram": "(20, 48, 64) uint8", "mixed_density": "(10, 48, 64) int8", "voxel_grid": "(5, 48, 64) float32",
		"voxel_grid:signed=false": "(10, 48, 64) float32", "event_frame:bins=3": "(3, 2, 48, 64) uint32", "event_frame:signed=true": "(1, 48, 64) int32",
		"event_count": "(48, 64) uint32", "time_surface": "(2, 48, 64) float32", "sae": "(2, 48, 64) int64",
		"averaged_time_surface": "(35, 2, 7, 7) float32", "bina_rep": "(1, 2, 48, 64) float32", "tore": "(2, 8, 48, 64) float32",
	} {
		l := made(t, call).Layout(g)
		if got := fmt.Sprintf("%v %v", l.Shape, l.DType); got != want {
			t.Errorf("%s: %s, want %s", call, got, want)
		}
	}
}
