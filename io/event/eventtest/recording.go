package eventtest

import (
	"math"
	"math/rand/v2"

	"github.com/evq-project/evq/io/event"
)

// Recording makes n events in time order with all that troubles a reader: bursts of one microsecond, ties,
// steps of single microseconds, gaps of up to some seconds, hot pixels, the sensor's corners, and a start far
// from 0. The same arguments always give the same events.
func Recording(seed uint64, n int, g event.Geometry) event.Batch {
	r := rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15))
	b := event.NewBuffer(n)
	hot := pixels(r, 8, g)
	t := r.Int64N(1 << 40)
	for b.Len() < n {
		for range min(burst(r), n-b.Len()) {
			p := pixel{uint16(r.IntN(g.Width)), uint16(r.IntN(g.Height))}
			if r.IntN(8) == 0 {
				p = hot[r.IntN(len(hot))]
			}
			b.Append(t, p.x, p.y, int8(r.IntN(2)))
			if r.IntN(3) == 0 {
				t += r.Int64N(4)
			}
		}
		t += pause(r)
	}
	corners(b, g)
	return b.Batch()
}

type pixel struct{ x, y uint16 }

func pixels(r *rand.Rand, n int, g event.Geometry) []pixel {
	out := make([]pixel, n)
	for i := range out {
		out[i] = pixel{uint16(r.IntN(g.Width)), uint16(r.IntN(g.Height))}
	}
	return out
}

// burst draws how many events come without a pause: mostly a few, sometimes hundreds.
func burst(r *rand.Rand) int {
	if r.IntN(16) == 0 {
		return 100 + r.IntN(900)
	}
	return 1 + r.IntN(20)
}

// pause draws the time to the next burst: mostly short, seldom long enough to leave windows empty.
func pause(r *rand.Rand) int64 {
	switch r.IntN(200) {
	case 0:
		return 1_000_000 + r.Int64N(3_000_000)
	case 1, 2, 3:
		return r.Int64N(200_000)
	default:
		return r.Int64N(300)
	}
}

// corners puts events on the corners of the sensor.
func corners(b *event.Buffer, g event.Geometry) {
	w, h := uint16(g.Width-1), uint16(g.Height-1)
	for i, c := range []pixel{{0, 0}, {w, 0}, {0, h}, {w, h}} {
		if at := b.Len() * (i + 1) / 6; at < b.Len() {
			b.X[at], b.Y[at] = c.x, c.y
		}
	}
}

// Scene makes n events in time order as a camera sees them: discs that move and bounce, whose leading edges
// fire ON and trailing edges OFF in short runs along a row, with background noise and a few hot pixels, at
// about two events per microsecond. The same arguments always give the same events.
func Scene(seed uint64, n int, g event.Geometry) event.Batch {
	r := rand.New(rand.NewPCG(seed, 0xd1b54a32d192ed03))
	b := event.NewBuffer(n)
	discs := make([]disc, 6)
	for i := range discs {
		discs[i] = newDisc(r, g)
	}
	hot := pixels(r, 4, g)
	for t := int64(0); b.Len() < n; t += r.Int64N(5) {
		switch k := r.IntN(64); {
		case k < 2:
			b.Append(t, uint16(r.IntN(g.Width)), uint16(r.IntN(g.Height)), int8(r.IntN(2)))
		case k < 4:
			h := hot[r.IntN(len(hot))]
			b.Append(t, h.x, h.y, 1)
		default:
			discs[r.IntN(len(discs))].fire(r, b, t, n, g)
		}
	}
	return b.Batch()
}

// A disc moves at vx, vy pixels per second.
type disc struct{ x, y, radius, vx, vy float64 }

func newDisc(r *rand.Rand, g event.Geometry) disc {
	speed := func(size int) float64 { return (r.Float64()*2 - 1) * 2 * float64(size) }
	return disc{
		x: r.Float64() * float64(g.Width), y: r.Float64() * float64(g.Height),
		radius: 1 + float64(min(g.Width, g.Height))*(0.05+0.15*r.Float64()),
		vx:     speed(g.Width), vy: speed(g.Height),
	}
}

// fire appends one run of events on a row of one of the disc's edges.
func (d disc) fire(r *rand.Rand, b *event.Buffer, t int64, n int, g event.Geometry) {
	at := float64(t) / 1e6
	cx, cy := bounce(d.x+d.vx*at, g.Width), bounce(d.y+d.vy*at, g.Height)
	dy := (r.Float64()*2 - 1) * d.radius
	y := int(cy + dy)
	side := float64(r.IntN(2)*2 - 1)
	x := int(cx + side*math.Sqrt(max(d.radius*d.radius-dy*dy, 0)))
	if y < 0 || y >= g.Height {
		return
	}
	p := int8(0)
	if side*d.vx > 0 {
		p = 1
	}
	for end := x + 1 + r.IntN(7); x < end && b.Len() < n; x++ {
		if x >= 0 && x < g.Width {
			b.Append(t, uint16(x), uint16(y), p)
		}
	}
}

// bounce folds a coordinate into [0, size).
func bounce(v float64, size int) float64 {
	s := float64(size)
	v = math.Mod(math.Abs(v), 2*s)
	return min(v, 2*s-v)
}
