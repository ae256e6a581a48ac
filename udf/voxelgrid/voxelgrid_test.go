package voxelgrid

import (
	"bytes"
	"context"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/evq-project/evq/accel/cpu"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/tensor"
	"github.com/evq-project/evq/udf"
)

// plain is the definition: two weights for each event, in float64.
func plain(v Grid, g event.Geometry, b event.Batch) []float64 {
	out := make([]float64, v.Layout(g).Shape.Len())
	t, n := b.T(), b.Len()
	scale := float64(v.Bins)
	if v.Variant == BMinus1 {
		scale--
	}
	for i, at := range t {
		x, y, p := int(b.X()[i]), int(b.Y()[i]), int(b.P()[i])
		if x >= g.Width || y >= g.Height {
			continue
		}
		tau := 0.0
		if t[n-1] > t[0] {
			tau = scale * float64(at-t[0]) / float64(t[n-1]-t[0])
		}
		s, plane := float64(2*p-1), 0
		if v.Unsigned {
			s, plane = 1, p*v.Bins
		}
		bin := int(math.Floor(tau))
		f := tau - float64(bin)
		for k, weight := range map[int]float64{bin: s * (1 - f), bin + 1: s * f} {
			if k < v.Bins {
				out[((plane+k)*g.Height+y)*g.Width+x] += weight
			}
		}
	}
	return out
}

func encode(t testing.TB, v Grid, g event.Geometry, b event.Batch, w ...event.Window) [][]float32 {
	t.Helper()
	e, err := v.Open(g, cpu.Device)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	var dst []tensor.Block
	for range w {
		dst = append(dst, tensor.Block{Data: bytes.Repeat([]byte{0x55}, v.Layout(g).Bytes())})
	}
	if err := e.Encode(context.Background(), event.Windowed{Events: b, Windows: w}, dst); err != nil {
		t.Fatal(err)
	}
	var out [][]float32
	for _, d := range dst {
		var one []float32
		for i := 0; i < len(d.Data); i += 4 {
			one = append(one, math.Float32frombits(binary.LittleEndian.Uint32(d.Data[i:])))
		}
		out = append(out, one)
	}
	return out
}

// The grid is that of the definition, to the last bit of a float32 but for the order of sums, for few and for many
// events to a pixel, in windows of one encoder.
func TestPlainRule(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for seed := range uint64(40) {
		g := event.Geometry{Width: 1 + r.IntN(60), Height: 1 + r.IntN(60)}
		b := eventtest.Recording(seed, 4000, event.Geometry{Width: g.Width + 1, Height: g.Height + 1})
		v := Grid{Bins: 1 + r.IntN(9), Variant: Variant(r.IntN(2)), Unsigned: r.IntN(2) == 0}
		var windows []event.Window
		for range 5 {
			lo := r.IntN(b.Len())
			windows = append(windows, event.Window{Lo: lo, Hi: lo + 1 + r.IntN(b.Len()-lo)})
		}
		for i, got := range encode(t, v, g, b, windows...) {
			for k, want := range plain(v, g, b.Slice(windows[i].Lo, windows[i].Hi)) {
				if math.Abs(float64(got[k])-want) > 1e-9+math.Abs(want)/(1<<24) {
					t.Fatalf("%v on %v, window %d: value %d is %v, want %v", v, g, i, k, got[k], want)
				}
			}
		}
	}
}

// Events on the axis: at a bin, halfway to the next, at the end. With b-1 no polarity is lost, with zhu the last.
func TestValues(t *testing.T) {
	g := event.Geometry{Width: 1, Height: 1}
	b := event.New([]int64{100, 120, 130, 200}, make([]uint16, 4), make([]uint16, 4), []int8{1, 1, 0, 1})
	w := event.Window{Start: 100, End: 300, Hi: 4}
	for want, v := range map[[5]float32]Grid{
		{1, 0.5, -0.5, 0, 0}:                      {Bins: 5},
		{1 + 0.2, 0, -0.2, 0, 1}:                  {Bins: 5, Variant: BMinus1},
		{1 + 0.5 - 0.25, 0.5 - 0.75, 0.5, 0.5, 0}: {Bins: 5, Timebase: udf.OfWindow},
	} {
		got := encode(t, v, g, b, w)[0]
		for i := range want {
			if math.Abs(float64(got[i]-want[i])) > 1e-6 {
				t.Errorf("%v: %v, want %v", v, got, want)
				break
			}
		}
	}
}

// The sum of a grid is that of the polarities where no event lies at the end, or the last bin does.
func TestSum(t *testing.T) {
	g := event.Geometry{Width: 30, Height: 20}
	b := eventtest.Recording(6, 5000, g)
	want := 0.0
	for _, p := range b.P() {
		want += 2*float64(p) - 1
	}
	sum := 0.0
	for _, v := range encode(t, Grid{Bins: 6, Variant: BMinus1}, g, b, event.Window{Hi: b.Len()})[0] {
		sum += float64(v)
	}
	if math.Abs(sum-want) > 1e-3 {
		t.Errorf("the sum is %v, want %v", sum, want)
	}
}

// After E2VID's normalisation the values that are not 0 have mean 0 and deviation 1; equal ones become 0.
func TestNormalize(t *testing.T) {
	g := event.Geometry{Width: 30, Height: 20}
	b := eventtest.Recording(7, 300, g)
	raw := encode(t, Grid{Bins: 5}, g, b, event.Window{Hi: b.Len()})[0]
	got := encode(t, Grid{Bins: 5, Normalize: E2VID}, g, b, event.Window{Hi: b.Len()})[0]
	n, sum, squares := 0.0, 0.0, 0.0
	for i, v := range got {
		if raw[i] == 0 {
			if v != 0 {
				t.Fatalf("value %d was 0 and is %v", i, v)
			}
			continue
		}
		n, sum, squares = n+1, sum+float64(v), squares+float64(v)*float64(v)
	}
	if math.Abs(sum/n) > 1e-6 || math.Abs(squares/n-1) > 1e-5 {
		t.Errorf("mean %v, mean square %v", sum/n, squares/n)
	}
	one := event.New([]int64{5, 5}, []uint16{1, 2}, []uint16{1, 2}, []int8{1, 1})
	for _, v := range encode(t, Grid{Bins: 5, Normalize: E2VID}, g, one, event.Window{Hi: 2})[0] {
		if v != 0 {
			t.Errorf("equal values become %v", v)
		}
	}
}

func TestEntry(t *testing.T) {
	for call, want := range map[string]string{
		"v":                                 "voxel_grid(bins=5)",
		"v:bins=3,variant=b-1,signed=false": "voxel_grid(bins=3, variant=b-1, signed=false)",
		"v:normalize=e2vid,timebase=window": "voxel_grid(bins=5, normalize=e2vid, timebase=window)",
		"v:bins=0":                          "", "v:bins=4097": "", "v:variant=x": "", "v:normalize=l2": "", "v:signed=maybe": "", "v:timebase=frame": "",
	} {
		_, args, err := udf.ParseCall(call)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Entry.Make(args)
		if (err == nil) != (want != "") || err == nil && r.String() != want {
			t.Errorf("%s: %v, %v", call, r, err)
		}
	}
	if _, err := (Grid{Bins: 5, Variant: 7}).Open(event.Geometry{Width: 1, Height: 1}, cpu.Device); err == nil {
		t.Error("a variant without a name was accepted")
	}
	if _, err := (Grid{Bins: 4096}).Open(event.Geometry{Width: 1280, Height: 720}, cpu.Device); err == nil {
		t.Error("a block beyond 2^31 values was accepted")
	}
}
