package stackedhist

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evq-project/evq/accel"
	"github.com/evq-project/evq/accel/cpu"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/tensor"
	"github.com/evq-project/evq/udf"
)

// random is a recording with ties, gaps and, where asked for, events off a sensor of 19x13.
func random(r *rand.Rand, n int, strays bool) (t []int64, x, y []uint16, p []int8) {
	at := r.Int64N(1<<51) - 1<<50
	for range n {
		at += int64(max(0, r.IntN(40)-20))
		if r.IntN(200) == 0 {
			at += 70_000
		}
		w, h := 19, 13
		if strays && r.IntN(20) == 0 {
			w, h = 40, 20
		}
		t, x, y, p = append(t, at), append(x, uint16(r.IntN(w))), append(y, uint16(r.IntN(h))), append(p, int8(r.IntN(2)))
	}
	return t, x, y, p
}

// plain makes one window in the plain way: the rule for each event, the reference for the counts.
func plain(h Histogram, g event.Geometry, t []int64, x, y []uint16, p []int8, start, end int64) []uint8 {
	job := accel.Job{X: x, Y: y, P: p, Windows: 1}
	if h.Timebase == OfEvents && len(t) > 0 {
		start, end = t[0], t[len(t)-1]
	}
	for i := range t {
		bin := h.Rounding.Bin(t[i]-start, end-start, h.Bins)
		job.Segments = append(job.Segments, accel.Segment{Bin: uint32(bin), Start: uint32(i), Len: 1})
	}
	out := make([]uint8, h.Grid(g).Len())
	cpu.Reference(h.Grid(g), job, out)
	return out
}

func TestDenseEqualsThePlainRule(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	for range 150 {
		options := []Option{Bins(1 + r.IntN(12)), Cutoff(1 + r.IntN(20)), Downsample(1 + r.IntN(2)), Threads(1 + r.IntN(3))}
		for _, o := range []Option{Wrap(), Exact(), WindowTime(), RVTFlat(), NoCutoff()} {
			if r.IntN(2) == 0 {
				options = append(options, o)
			}
		}
		ts, x, y, p := random(r, r.IntN(3000), true)
		first, last := int64(0), int64(1000)
		if len(ts) > 0 {
			first, last = ts[0], ts[len(ts)-1]
		}
		span := time.Duration(r.IntN(5000)) * time.Microsecond
		var ends []int64
		for range r.IntN(6) {
			ends = append(ends, first-100+r.Int64N(last-first+6000))
		}
		got, shape, err := Dense(ts, x, y, p, ends, span, 19, 13, options...)
		if err != nil {
			t.Fatal(err)
		}
		s, _ := apply(options)
		g := event.Geometry{Width: 19, Height: 13}
		var want []uint8
		for _, end := range ends {
			start := end - span.Microseconds()
			lo := slices.IndexFunc(append(slices.Clip(ts), math.MaxInt64), func(v int64) bool { return v >= start })
			hi := slices.IndexFunc(append(slices.Clip(ts), math.MaxInt64), func(v int64) bool { return v > end })
			want = append(want, plain(s.Histogram, g, ts[lo:hi], x[lo:hi], y[lo:hi], p[lo:hi], start, end)...)
		}
		if !bytes.Equal(got, want) {
			t.Fatalf("%v: Dense differs from the plain rule", s.Histogram)
		}
		if shape[0] != len(ends) || shape.Len() != len(got) {
			t.Fatalf("shape %v for %d counts", shape, len(got))
		}
	}
}

// An event at the border of two windows is in both.
func TestDenseWindowsAreClosed(t *testing.T) {
	got, shape, err := Dense([]int64{100}, []uint16{0}, []uint16{0}, []int8{1}, []int64{99, 100, 150, 151}, 50*time.Microsecond, 1, 1, Bins(1))
	if err != nil || !shape.Equal(tensor.Shape{4, 2, 1, 1}) || !bytes.Equal(got, []byte{0, 0, 0, 1, 0, 1, 0, 0}) {
		t.Errorf("%v %v %v", got, shape, err)
	}
}

// The counts of RVT's fast mode, and those that saturate.
func TestOverflow(t *testing.T) {
	for n, want := range map[int][2]byte{255: {10, 10}, 256: {0, 10}, 257: {1, 10}, 260: {4, 10}, 265: {9, 10}, 266: {10, 10}, 300: {10, 10}, 512: {0, 10}} {
		ts, x, y, p := make([]int64, n), make([]uint16, n), make([]uint16, n), make([]int8, n)
		for i, o := range []Option{Wrap(), Saturate()} {
			got, _, err := Dense(ts, x, y, p, []int64{0}, 0, 1, 1, Bins(1), o)
			if err != nil || got[0] != want[i] {
				t.Errorf("%d events give %d (%v), want %d", n, got[0], err, want[i])
			}
		}
	}
}

func TestDenseRefuses(t *testing.T) {
	one := func(ts []int64, p int8, span time.Duration, w int, o ...Option) error {
		n := len(ts)
		_, _, err := Dense(ts, make([]uint16, n), make([]uint16, n), slices.Repeat([]int8{p}, n), []int64{10}, span, w, 4, o...)
		return err
	}
	if err := one([]int64{5, 4}, 0, 10*time.Microsecond, 4); !errors.Is(err, ErrUnsorted) {
		t.Errorf("unsorted times: %v", err)
	}
	for name, err := range map[string]error{
		"polarity":     one([]int64{5}, -1, 10*time.Microsecond, 4),
		"span":         one([]int64{5}, 0, -time.Second, 4),
		"nanoseconds":  one([]int64{5}, 0, 1500, 4),
		"width":        one([]int64{5}, 0, 10, 0),
		"bins":         one([]int64{5}, 0, 0, 4, Bins(0)),
		"cutoff 0":     one([]int64{5}, 0, 0, 4, Cutoff(0)),
		"cutoff 256":   one([]int64{5}, 0, 0, 4, Cutoff(256)),
		"downsample 0": one([]int64{5}, 0, 0, 4, Downsample(0)),
		"downsample 3": one([]int64{5}, 0, 0, 4, Downsample(3)),
	} {
		if err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
	if _, _, err := Dense(make([]int64, 2), nil, nil, nil, nil, 0, 4, 4); err == nil {
		t.Error("columns of unequal length were accepted")
	}
	if _, err := New(Threads(2)); err == nil {
		t.Error("a histogram with threads was accepted")
	}
}

func TestEncoder(t *testing.T) {
	h, err := New(Bins(4), Exact(), WindowTime())
	if err != nil {
		t.Fatal(err)
	}
	g := event.Geometry{Width: 19, Height: 13}
	enc, err := h.Open(g, cpu.Device)
	if err != nil {
		t.Fatal(err)
	}
	defer enc.Close()
	ts, x, y, p := random(rand.New(rand.NewPCG(4, 4)), 1000, true)
	windows := []event.Window{
		{Index: 7, Start: ts[0], End: ts[600] + 1, Lo: 0, Hi: 600}, {Index: 8, Start: ts[300], End: ts[999] + 1, Lo: 300, Hi: 1000},
		{Index: 9, Start: ts[999] + 10, End: ts[999] + 20, Lo: 1000, Hi: 1000},
	}
	pool := tensor.NewPool(h.Layout(g))
	var blocks []tensor.Block
	for range windows {
		b := pool.Get()
		copy(b.Data, bytes.Repeat([]byte{9}, len(b.Data)))
		blocks = append(blocks, b)
	}
	w := event.Windowed{Events: event.New(ts, x, y, p), Windows: windows}
	if err := enc.Encode(context.Background(), w, blocks); err != nil {
		t.Fatal(err)
	}
	var off int64
	for i, win := range windows {
		lo, hi := win.Lo, win.Hi
		if !bytes.Equal(blocks[i].Data, plain(h, g, ts[lo:hi], x[lo:hi], y[lo:hi], p[lo:hi], win.Start, win.End)) {
			t.Errorf("window %d differs", i)
		}
		for j := lo; j < hi; j++ {
			if x[j] >= 19 || y[j] >= 13 {
				off++
			}
		}
	}
	if enc.OffSensor() != off || off == 0 {
		t.Errorf("%d events off the sensor, want %d", enc.OffSensor(), off)
	}
	if err := enc.Encode(context.Background(), w, blocks[:1]); err == nil {
		t.Error("too few blocks were accepted")
	}
	w.Windows = []event.Window{{Lo: 5, Hi: 1001}}
	if err := enc.Encode(context.Background(), w, blocks[:1]); err == nil {
		t.Error("a window beyond the events was accepted")
	}
	w = event.Windowed{Events: event.New(ts, nil, nil, nil)}
	if err := enc.Encode(context.Background(), w, nil); err == nil {
		t.Error("events without coordinates were accepted")
	}
	if _, err := h.Open(event.Geometry{}, cpu.Device); err == nil || !strings.Contains(err.Error(), "--size") {
		t.Errorf("an unknown sensor: %v", err)
	}
}

func TestEntry(t *testing.T) {
	for _, c := range []struct {
		preset bool
		call   string
		want   string
	}{
		{false, "", "stacked_histogram(bins=10, cutoff=10)"},
		{true, "", "stacked_histogram(bins=10, cutoff=10, downsample=2, overflow=wrap)"},
		{true, "downsample=1,cutoff=none", "stacked_histogram(bins=10, cutoff=none, overflow=wrap)"},
		{false, "cutoff=255,bins=5", "stacked_histogram(bins=5, cutoff=none)"},
		{false, "downsample=2,overflow=wrap,rounding=exact,timebase=window,offsensor=rvt-flat",
			"stacked_histogram(bins=10, cutoff=10, downsample=2, overflow=wrap, rounding=exact, timebase=window, offsensor=rvt-flat)"},
		{false, "bins=0", "bins"}, {false, "bins=x", "bins"}, {false, "cutoff=0", "or none"}, {false, "downsample=3", "1, 2"},
		{false, "overflow=clip", "saturate, wrap"}, {false, "colour=red", "no parameter"},
	} {
		e := Entry
		if c.preset {
			e = RVTPreset
		}
		_, args, err := udf.ParseCall("f:" + c.call)
		if err != nil {
			t.Fatal(err)
		}
		r, err := e.Make(args)
		if err != nil {
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %s", c.call, err, c.want)
			}
			continue
		}
		if r.String() != c.want {
			t.Errorf("%q is %v, want %s", c.call, r, c.want)
		}
	}
	if h, err := New(LikeRVT()); err != nil || h != preset {
		t.Errorf("%v, %v", h, err)
	}
	layout := preset.Layout(event.Geometry{Width: 1280, Height: 721})
	if !layout.Shape.Equal(tensor.Shape{20, 360, 640}) || layout.DType != tensor.Uint8 || layout.Name != "stacked_histogram" {
		t.Errorf("layout %+v", layout)
	}
}
