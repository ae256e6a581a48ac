package builtins

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/evq-project/evq/accel/cpu"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/tensor"
	"github.com/evq-project/evq/udf"
)

// calls are the representations with the parameters that change how they run.
var calls = []string{
	"stacked_histogram", "stacked_histogram:rounding=exact,timebase=window", "rvt:downsample=1", "mixed_density:cutoff=5",
	"voxel_grid", "voxel_grid:variant=b-1", "voxel_grid:signed=false,bins=3", "voxel_grid:normalize=e2vid", "voxel_grid:timebase=window", "voxel_grid:bins=1,variant=b-1",
	"event_frame", "event_frame:bins=7,timebase=window", "event_frame:signed=true,bins=2", "event_frame:mode=binary", "event_frame:signed=true,cutoff=2", "event_frame:cutoff=2,variant=tonic,bins=3",
	"event_count",
	"time_surface", "time_surface:decay=linear", "time_surface:memory=recording", "time_surface:tau=1", "time_surface:tau=1h,decay=linear,memory=recording",
	"averaged_time_surface:cell=3,radius=1,tau=100us", "averaged_time_surface:decay=linear,span=1ms",
	"sae", "sae:memory=recording,never=-7",
	"bina_rep", "bina_rep:frames=3,bits=4,variant=tonic", "bina_rep:timebase=window",
	"tore", "tore:k=2,memory=window", "tore:k=1,min=0,max=1ms",
}

// encode encodes windows with one encoder, over stale values.
func encode(t testing.TB, rep udf.Representation, g event.Geometry, w event.Windowed) (blocks [][]byte, off int64) {
	t.Helper()
	e, err := rep.Open(g, cpu.Device)
	if err != nil {
		t.Fatalf("%v: %v", rep, err)
	}
	defer e.Close()
	var dst []tensor.Block
	for range w.Windows {
		b := bytes.Repeat([]byte{0xa5}, rep.Layout(g).Bytes())
		dst, blocks = append(dst, tensor.Block{Data: b}), append(blocks, b)
	}
	if err := e.Encode(context.Background(), w, dst); err != nil {
		t.Fatalf("%v: %v", rep, err)
	}
	return blocks, e.OffSensor()
}

// run makes the blocks of a call, one behind the other.
func run(t testing.TB, call string, g event.Geometry, w event.Windowed) (data []byte, d tensor.DType, off int64) {
	t.Helper()
	rep := made(t, call)
	blocks, off := encode(t, rep, g, w)
	return bytes.Join(blocks, nil), rep.Layout(g).DType, off
}

// remembers reports whether blocks depend on events before their window.
func remembers(rep udf.Representation) bool {
	r, ok := rep.(udf.Rememberer)
	return ok && r.Remembers()
}

// whole is one window of all events.
func whole(b event.Batch) event.Windowed {
	w := event.Window{Hi: b.Len()}
	if b.Len() > 0 {
		w.Start, w.End = b.T()[0], b.T()[b.Len()-1]
	}
	return event.Windowed{Events: b, Windows: []event.Window{w}}
}

// shifted is a batch at other times.
func shifted(b event.Batch, by int64) event.Batch {
	t := slices.Clone(b.T())
	for i := range t {
		t[i] += by
	}
	return event.New(t, b.X(), b.Y(), b.P())
}

// at is n ON events at one pixel and the given time.
func at(n int, x, y uint16, p int8, t int64) event.Batch {
	return event.New(slices.Repeat([]int64{t}, n), slices.Repeat([]uint16{x}, n), slices.Repeat([]uint16{y}, n), slices.Repeat([]int8{p}, n))
}

var sensor = event.Geometry{Width: 21, Height: 15}

// recording has events on the sensor and some off it, from about the time start on.
func recording(seed uint64, n int, start int64) event.Batch {
	b := eventtest.Recording(seed, n, event.Geometry{Width: sensor.Width + 1, Height: sensor.Height + 1})
	if n == 0 {
		return b
	}
	return shifted(b, start-b.T()[0])
}

// No event, one event, all at one time, and the smallest sensor: blocks are full, finite, and without an event all 0.
func TestConformanceSmall(t *testing.T) {
	for _, call := range calls {
		rep := made(t, call)
		for name, b := range map[string]event.Batch{
			"none": at(0, 0, 0, 0, 0), "one": at(1, 0, 0, 1, 1234), "equal times": at(50, 0, 0, 0, 5000), "one negative": at(1, 0, 0, 1, -1234),
			"the ends of int64": event.New([]int64{math.MinInt64, math.MaxInt64}, make([]uint16, 2), make([]uint16, 2), []int8{0, 1}),
		} {
			for _, g := range []event.Geometry{sensor, {Width: 1, Height: 1}, {Width: 64, Height: 1}} {
				if strings.HasSuffix(name, "int64") && strings.Contains(call, "exact") || strings.HasPrefix(call, "rvt") && g.Height == 1 {
					continue
				}
				blocks, off := encode(t, rep, g, whole(b))
				if off != 0 {
					t.Errorf("%s, %s on %v: %d events off the sensor", call, name, g, off)
				}
				checkFinite(t, rep, blocks[0])
				empty := slices.IndexFunc(blocks[0], func(v byte) bool { return v != 0 }) < 0
				if never := strings.HasPrefix(call, "sae") || strings.HasPrefix(call, "tore"); b.Len() == 0 && !empty && !never {
					t.Errorf("%s on %v: the empty window is not zeros", call, g)
				}
			}
		}
	}
}

func checkFinite(t *testing.T, rep udf.Representation, data []byte) {
	t.Helper()
	for i, v := range values(data, rep.Layout(sensor).DType) {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			t.Fatalf("%v: value %d is %v", rep, i, v)
		}
	}
}

// Times near 1.5e15 and below 0 give the blocks of times near 0, where values are not times themselves; the input is
// not changed.
func TestConformanceShift(t *testing.T) {
	for _, call := range calls {
		rep := made(t, call)
		var want [][]byte
		for _, start := range []int64{0, 1_500_000_000_000_000, -700_000} {
			b := recording(3, 4000, start)
			before := [4]any{slices.Clone(b.T()), slices.Clone(b.X()), slices.Clone(b.Y()), slices.Clone(b.P())}
			w := windows(b, 50_000)
			got, off := encode(t, rep, sensor, w)
			if off == 0 {
				t.Errorf("%s: no event off the sensor", call)
			}
			for _, data := range got {
				checkFinite(t, rep, data)
			}
			if !slices.Equal(before[0].([]int64), b.T()) || !slices.Equal(before[1].([]uint16), b.X()) || !slices.Equal(before[2].([]uint16), b.Y()) || !slices.Equal(before[3].([]int8), b.P()) {
				t.Errorf("%s changes its input", call)
			}
			if want == nil {
				want = got
			}
			if !strings.HasPrefix(call, "sae") && !slices.EqualFunc(got, want, bytes.Equal) {
				t.Errorf("%s: blocks from %d differ", call, start)
			}
		}
	}
}

// Windows that share events, and lie apart, have the bytes that each has alone, whatever the encoder did before; so
// they do not depend on how many encoders there are, nor on the run.
func TestConformanceEncoders(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, call := range calls {
		rep := made(t, call)
		if remembers(rep) {
			continue
		}
		b := recording(8, 6000, 1_000_000)
		w := event.Windowed{Events: b}
		for i := range 20 {
			lo := r.IntN(b.Len())
			hi := lo + r.IntN(b.Len()-lo)
			w.Windows = append(w.Windows, event.Window{Index: i, Start: b.T()[lo] - 3, End: b.T()[hi] + 5, Lo: lo, Hi: hi})
		}
		together, off := encode(t, rep, sensor, w)
		alone := int64(0)
		for i := range w.Windows {
			one, n := encode(t, rep, sensor, event.Windowed{Events: b, Windows: w.Windows[i : i+1]})
			alone += n
			if !bytes.Equal(one[0], together[i]) {
				t.Errorf("%s: window %d has other bytes alone", call, i)
			}
		}
		if off != alone {
			t.Errorf("%s: %d events off the sensor together, %d alone", call, off, alone)
		}
	}
}

// With a memory, windows show what one window from the beginning shows, however the events come: in overlapping
// windows, with gaps, in batches without a window.
func TestConformanceMemory(t *testing.T) {
	b := recording(9, 5000, 1_000_000)
	for _, call := range calls {
		rep := made(t, call)
		if !remembers(rep) {
			continue
		}
		for _, step := range []int{100, 700, 333} { // of windows of 333 events
			e, err := rep.Open(sensor, cpu.Device)
			if err != nil {
				t.Fatal(err)
			}
			handed := 0
			for i := 0; i*step+333 <= b.Len(); i++ {
				lo, hi := i*step, i*step+333
				if lo-handed > 300 { // pass some without a window
					if err := e.Encode(context.Background(), event.Windowed{Events: b.Slice(handed, handed+250)}, nil); err != nil {
						t.Fatal(err)
					}
					handed += 250
				}
				win := event.Window{Index: i, Start: b.T()[lo], End: b.T()[hi-1] + 4, Lo: lo, Hi: hi, Since: handed}
				handed = hi
				block := []tensor.Block{{Data: make([]byte, rep.Layout(sensor).Bytes())}}
				if err := e.Encode(context.Background(), event.Windowed{Events: b, Windows: []event.Window{win}}, block); err != nil {
					t.Fatal(err)
				}
				win.Lo, win.Since = 0, 0
				want, _ := encode(t, rep, sensor, event.Windowed{Events: b, Windows: []event.Window{win}})
				if !bytes.Equal(block[0].Data, want[0]) {
					t.Fatalf("%s: window %d of step %d differs", call, i, step)
				}
			}
		}
	}
}

// What does not fit is refused in words; an encoder works on after an error.
func TestConformanceRefuses(t *testing.T) {
	b := recording(4, 100, 1000)
	for _, call := range calls {
		rep := made(t, call)
		if _, err := rep.Open(event.Geometry{}, cpu.Device); err == nil || !strings.Contains(err.Error(), "--size") {
			t.Errorf("%s: an unknown sensor: %v", call, err)
		}
		e, err := rep.Open(sensor, cpu.Device)
		if err != nil {
			t.Fatal(err)
		}
		block := []tensor.Block{{Data: make([]byte, rep.Layout(sensor).Bytes())}}
		for name, w := range map[string]event.Windowed{
			"columns":         {Events: event.New(b.T(), nil, nil, nil), Windows: []event.Window{{Hi: 1}}},
			"no window":       {Events: b, Windows: nil},
			"beyond":          {Events: b, Windows: []event.Window{{Hi: 101}}},
			"backwards":       {Events: b, Windows: []event.Window{{Lo: 3, Hi: 2}}},
			"before":          {Events: b, Windows: []event.Window{{Lo: -1, Hi: 2}}},
			"polarity":        whole(at(3, 1, 1, 2, 5)),
			"polarity OFF -1": whole(at(3, 1, 1, -1, 5)),
		} {
			if strings.HasPrefix(name, "polarity") && rep.Columns()&event.ColP == 0 {
				continue
			}
			if err := e.Encode(context.Background(), w, block); err == nil {
				t.Errorf("%s: %s was accepted", call, name)
			}
		}
		if err := e.Encode(context.Background(), whole(b), []tensor.Block{{Data: make([]byte, 3)}}); err == nil {
			t.Errorf("%s: a short block was accepted", call)
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if err := e.Encode(ctx, whole(b), block); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: after a cancel: %v", call, err)
		}
		if remembers(rep) {
			continue
		}
		if err := e.Encode(context.Background(), whole(b), block); err != nil {
			t.Errorf("%s: after errors: %v", call, err)
		}
		if want, _ := encode(t, rep, sensor, whole(b)); !bytes.Equal(want[0], block[0].Data) {
			t.Errorf("%s: an error leaves something behind", call)
		}
	}
}
