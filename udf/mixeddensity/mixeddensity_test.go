package mixeddensity

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/evq-project/evq/accel/cpu"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/tensor"
	"github.com/evq-project/evq/udf"
)

var sensor = event.Geometry{Width: 21, Height: 15}

// The rule at places where it can be computed by hand, and at its two ends.
func TestBin(t *testing.T) {
	for _, c := range []struct {
		q    float32
		bins int
		want int
	}{
		{1, 10, 9}, {0.75, 10, 9}, {0.5, 10, 9}, {0.4999, 10, 8}, {0.25, 10, 8}, {0.2499, 10, 7}, {1.0 / 512, 10, 1},
		{1.0 / 1024, 10, 0}, {1e-9, 10, 0}, {0, 10, 0}, {0, 32, 12}, {1, 1, 0}, {1, 32, 31}, {1, 33, 33},
	} {
		if got := bin(c.q, c.bins); got != c.want {
			t.Errorf("%v of a window in %d bins is bin %d, want %d", c.q, c.bins, got, c.want)
		}
	}
	for bins := 1; bins <= maxBins; bins++ {
		if got := bin(1, bins); got != bins-1 {
			t.Errorf("the last event of %d bins is in bin %d", bins, got)
		}
	}
}

// Each bin begins at its first part of a window, and the rule does not fall anywhere around it.
func TestFirsts(t *testing.T) {
	for bins := 1; bins <= maxBins; bins++ {
		for k, q := range firsts(bins) {
			bits := math.Float32bits(q)
			for i := range uint32(4000) {
				if got := bin(math.Float32frombits(bits+i), bins); got < k {
					t.Fatalf("%d bins: %d floats after the first of bin %d is bin %d", bins, i, k, got)
				}
				if i < bits && bin(math.Float32frombits(bits-1-i), bins) >= k {
					t.Fatalf("%d bins: bin %d begins earlier than %v", bins, k, q)
				}
			}
		}
	}
}

// plain is the definition: a bin for each event by a logarithm, sums in int8, then sums over the bins.
func plain(s Stack, b event.Batch, g event.Geometry) []byte {
	d := max(s.Downsample, 1)
	full := make([]int8, s.Bins*g.Height*g.Width)
	t := b.T()
	for i, at := range t {
		x, y := int(b.X()[i]), int(b.Y()[i])
		if x >= g.Width || y >= g.Height {
			continue
		}
		q := float32(at-t[0]) / float32(max(t[len(t)-1]-t[0], 1))
		full[(bin(q, s.Bins)*g.Height+y)*g.Width+x] += 2*b.P()[i] - 1
	}
	var out []byte
	for k := range s.Bins {
		for y := d - 1; y < g.Height/d*d; y += d {
			for x := d - 1; x < g.Width/d*d; x += d {
				sum := 0
				for j := range k + 1 {
					sum += int(full[(j*g.Height+y)*g.Width+x])
				}
				v := int8(sum)
				if s.Cutoff > 0 {
					v = int8(max(min(int(v), s.Cutoff), -s.Cutoff))
				}
				out = append(out, byte(v))
			}
		}
	}
	return out
}

// encode encodes windows of a batch, over stale values.
func encode(t testing.TB, s Stack, b event.Batch, windows ...event.Window) (blocks []tensor.Block, off int64) {
	t.Helper()
	e, err := s.Open(sensor, cpu.Device)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	for range windows {
		blocks = append(blocks, tensor.Block{Data: bytes.Repeat([]byte{0x55}, s.Layout(sensor).Bytes())})
	}
	if err := e.Encode(context.Background(), event.Windowed{Events: b, Windows: windows}, blocks); err != nil {
		t.Fatal(err)
	}
	return blocks, e.OffSensor()
}

// The stack is that of the definition, for windows of all kinds.
func TestPlainRule(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	for seed := range uint64(60) {
		b := eventtest.Recording(seed, 3000, event.Geometry{Width: sensor.Width + 1, Height: sensor.Height + 1})
		s := Stack{Bins: 1 + rng.IntN(maxBins), Cutoff: rng.IntN(128) * rng.IntN(2), Downsample: 1 + rng.IntN(2)}
		var windows []event.Window
		for i := range 6 {
			lo := rng.IntN(b.Len())
			windows = append(windows, event.Window{Index: i, Lo: lo, Hi: lo + rng.IntN(b.Len()-lo+1)})
		}
		blocks, off := encode(t, s, b, windows...)
		want := int64(0)
		for i, w := range windows {
			part := b.Slice(w.Lo, w.Hi)
			for j, x := range part.X() {
				if int(x) >= sensor.Width || int(part.Y()[j]) >= sensor.Height {
					want++
				}
			}
			if !bytes.Equal(blocks[i].Data, plain(s, part, sensor)) {
				t.Fatalf("%v: window %d of seed %d, %d events, differs from the definition", s, i, seed, part.Len())
			}
		}
		if off != want {
			t.Errorf("%v: %d events off the sensor, want %d", s, off, want)
		}
	}
}

// times is a batch at one pixel.
func times(p int8, t ...int64) event.Batch {
	n := len(t)
	x, y, ps := make([]uint16, n), make([]uint16, n), make([]int8, n)
	for i := range ps {
		x[i], y[i], ps[i] = 3, 5, p
	}
	return event.New(t, x, y, ps)
}

// pixel takes the planes' values at the pixel of times.
func pixel(s Stack, data []byte) (out []int8) {
	for k := range s.Bins {
		out = append(out, int8(data[k*sensor.Width*sensor.Height+5*sensor.Width+3]))
	}
	return out
}

func TestValues(t *testing.T) {
	s := Stack{Bins: 4}
	many := func(n int) (at []int64) {
		for range n {
			at = append(at, 9)
		}
		return at
	}
	for _, c := range []struct {
		name string
		s    Stack
		b    event.Batch
		want string
	}{
		{"halves", s, times(1, 0, 100, 200, 300, 500, 1000), "[2 3 4 6]"},
		{"off", s, times(0, 0, 100, 200, 300, 500, 1000), "[-2 -3 -4 -6]"},
		{"none", s, times(1), "[0 0 0 0]"},
		{"one", s, times(1, 7), "[1 1 1 1]"},
		{"one time", s, times(1, 7, 7), "[2 2 2 2]"},
		{"wraps", s, times(1, many(130)...), "[-126 -126 -126 -126]"},
		{"wraps to nothing", s, times(0, many(256)...), "[0 0 0 0]"},
		{"bounded after it wrapped", Stack{Bins: 4, Cutoff: 5}, times(1, many(130)...), "[-5 -5 -5 -5]"},
		{"-128 is bounded", Stack{Bins: 4, Cutoff: 127}, times(0, many(128)...), "[-127 -127 -127 -127]"},
		{"bounded after the sum", Stack{Bins: 4, Cutoff: 3}, times(1, 0, 100, 200, 300, 500, 1000), "[2 3 3 3]"},
		{"from before 0", s, times(1, -500, 500), "[1 1 1 2]"},
		{"all of int64", s, times(1, math.MinInt64, math.MaxInt64), "[1 1 1 2]"},
	} {
		blocks, _ := encode(t, c.s, c.b, event.Window{Hi: c.b.Len()})
		if got := fmt.Sprint(pixel(c.s, blocks[0].Data)); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestEntry(t *testing.T) {
	for call, want := range map[string]string{
		"mixed_density":                        "mixed_density(bins=10, cutoff=none)",
		"mixed_density:cutoff=32,downsample=2": "mixed_density(bins=10, cutoff=32, downsample=2)",
		"mixed_density:bins=32,cutoff=none":    "mixed_density(bins=32, cutoff=none)",
		"mixed_density:bins=33":                "",
		"mixed_density:bins=0":                 "",
		"mixed_density:cutoff=0":               "",
		"mixed_density:cutoff=128":             "",
		"mixed_density:downsample=3":           "",
		"mixed_density:timebase=window":        "",
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
}

func TestOpenRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		s Stack
		g event.Geometry
	}{
		"bins":       {Stack{Bins: 33}, sensor},
		"cutoff":     {Stack{Bins: 1, Cutoff: -1}, sensor},
		"downsample": {Stack{Bins: 1, Downsample: 4}, sensor},
		"unknown":    {Stack{Bins: 1}, event.Geometry{}},
		"nothing":    {Stack{Bins: 1, Downsample: 2}, event.Geometry{Width: 1, Height: 9}},
		"too large":  {Stack{Bins: 32}, event.Geometry{Width: 1 << 14, Height: 1 << 14}},
	} {
		if _, err := c.s.Open(c.g, cpu.Device); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}

func TestEncodeRefuses(t *testing.T) {
	s := Stack{Bins: 2}
	e, err := s.Open(sensor, cpu.Device)
	if err != nil {
		t.Fatal(err)
	}
	b := times(1, 1, 2)
	block := []tensor.Block{{Data: make([]byte, s.Layout(sensor).Bytes())}}
	for want, w := range map[string]event.Windowed{
		"read all columns":   {Events: event.New([]int64{1}, nil, nil, nil), Windows: []event.Window{{Hi: 1}}},
		"1 blocks for 0":     {Events: b},
		"events 0 to 3 of 2": {Events: b, Windows: []event.Window{{Hi: 3}}},
		"events 2 to 1 of 2": {Events: b, Windows: []event.Window{{Lo: 2, Hi: 1}}},
		"neither 0 nor 1":    {Events: times(-1, 1, 2), Windows: []event.Window{{Hi: 2}}},
	} {
		if err := e.Encode(context.Background(), w, block); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	good := event.Windowed{Events: b, Windows: []event.Window{{Hi: 2}}}
	if err := e.Encode(context.Background(), good, []tensor.Block{{Data: make([]byte, 3)}}); err == nil {
		t.Error("a short block was accepted")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := e.Encode(ctx, good, block); !errors.Is(err, context.Canceled) {
		t.Errorf("after a cancel: %v", err)
	}
}

func BenchmarkEncode(b *testing.B) {
	g := event.Geometry{Width: 1280, Height: 720}
	rec := eventtest.Recording(1, 500_000, g)
	for _, s := range []Stack{{Bins: 10, Downsample: 2}, {Bins: 10}, {Bins: 10, Cutoff: 32}} {
		b.Run(s.String(), func(b *testing.B) {
			e, err := s.Open(g, cpu.Device)
			if err != nil {
				b.Fatal(err)
			}
			block := []tensor.Block{{Data: make([]byte, s.Layout(g).Bytes())}}
			w := event.Windowed{Events: rec, Windows: []event.Window{{Hi: rec.Len()}}}
			for b.Loop() {
				if err := e.Encode(context.Background(), w, block); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(rec.Len())*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mev/s")
		})
	}
}
