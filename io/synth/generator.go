package synth

import (
	"math/rand/v2"

	"github.com/evq-project/evq/io/event"
)

// Shares of what fires, in parts of 65536.
const (
	noiseShare = 65536 * 12 / 100
	hotLimit   = 65536 / 4 // hot pixels never make more than a quarter of the events
)

// A generator draws the events of one scan.
type generator struct {
	scene  *scene
	random *rand.PCG
	world  world
	hot    []hotPixel

	step     int64  // the step being drawn
	done     uint64 // the weight of the steps up to and with it
	made     int64  // events drawn in all
	first    int64  // made when the step began
	until    int64  // made when it ends
	begin    int64  // when it began, microseconds
	noise    uint64 // an item is noise where a 16-bit draw lies below it,
	hotBelow uint64 // and a hot pixel where it lies below this
	shares   [hotTable]uint8

	run run
}

// A run is one firing: a number of events at one time on one row.
type run struct {
	t    int64
	x    uint16
	y    uint16
	p    int8
	left int
	gaps uint64 // two bits an event: a gap follows where both are zero
}

func newGenerator(s *scene) *generator {
	g := &generator{scene: s, random: rand.NewPCG(s.Seed, 0x6576712d73796e74), step: -1, world: world{size: s.Size}}
	g.run.t = s.Start
	g.world.start(g.random)
	g.hot = hotPixels(g.random, s.Size)
	return g
}

// fill draws events into the columns and returns how many, fewer than fit only at the end, and the largest
// coordinates.
func (g *generator) fill(t []int64, x, y []uint16, p []int8) (n int, largestX, largestY uint16) {
	right := uint16(g.scene.Size.Width - 1)
	x, y, p = x[:len(t)], y[:len(t)], p[:len(t)]
	for n < len(t) {
		if g.run.left == 0 && !g.next() {
			break
		}
		r := &g.run
		for ; r.left > 0 && n < len(t); n++ {
			t[n], x[n], y[n], p[n] = r.t, r.x, r.y, r.p
			largestX, largestY = max(largestX, r.x), max(largestY, r.y)
			r.x++
			if r.gaps&3 == 0 {
				r.x++
			}
			r.gaps >>= 2
			r.left--
			if r.x > right {
				r.x = right
			}
		}
	}
	return n, largestX, largestY
}

// next draws the next run; false after the last.
func (g *generator) next() bool {
	for g.made == g.until {
		if g.step++; g.step >= g.scene.rate.steps {
			return false
		}
		g.enter()
	}
	v := g.random.Uint64()
	length := g.scene.rate.length(g.step)
	t := g.begin + (g.made-g.first)*length/(g.until-g.first) + int64(v&7)
	g.run.t = max(g.run.t, min(t, g.begin+length-1))
	g.run.left = 1
	switch kind := v >> 3 & 0xffff; {
	case kind < g.noise:
		g.run.x = uint16((v >> 32) * uint64(g.scene.Size.Width) >> 32)
		g.run.y = uint16((v >> 19 & 0x1fff) * uint64(g.scene.Size.Height) >> 13)
		if g.scene.Size.Height > 1<<13 {
			g.run.y = uint16(below(g.random, uint64(g.scene.Size.Height)))
		}
		g.run.p = int8(g.random.Uint64() & 1)
	case kind < g.hotBelow:
		h := g.hot[g.shares[v>>32%hotTable]]
		g.run.x, g.run.y, g.run.p = h.x, h.y, 1
	default:
		g.edge(v >> 19)
	}
	if rest := g.until - g.made; int64(g.run.left) > rest {
		g.run.left = int(rest)
	}
	g.made += int64(g.run.left)
	return true
}

// edge draws a run from a segment. The 45 random bits v choose which and where.
func (g *generator) edge(v uint64) {
	w := g.random.Uint64()
	s := &g.world.all[g.world.table[v%tableLen]]
	along := s.length / one * (int64(v>>10&0xffff) - one/2)
	x := (s.x+along*s.cos/one)/one + int64(v>>26&3) - int64(v>>28&3)
	y := (s.y+along*s.sin/one)/one + int64(v>>30&1) - int64(v>>31&1)
	g.run.p = s.p
	if v>>32&7 == 0 { // one of eight fires the other way
		g.run.p ^= 1
	}
	g.run.left = 1 + int(v>>37*(w>>56)*s.run>>16)
	g.run.gaps = w
	wide := int64(g.run.left) * 2
	g.run.x = uint16(min(max(x, 0), max(int64(g.scene.Size.Width)-wide, 0)))
	g.run.y = uint16(min(max(y, 0), int64(g.scene.Size.Height)-1))
}

// enter readies the step g.step: the world moves, and hot pixels and noise get their share.
func (g *generator) enter() {
	rate := g.scene.rate
	length := rate.length(g.step)
	g.done += rate.weight(g.step)
	g.begin = g.scene.Start + g.step*step
	g.first, g.until = g.made, rate.share(g.done)
	if g.step > 0 {
		g.world.move(g.random, step)
	}
	n := g.until - g.first
	if n == 0 {
		return
	}
	hot := heat(g.hot, g.step, rate, &g.shares) * length / 1_000_000
	// Segments fire several events a time, so that of what fires more is noise and hot than of the events.
	hot = min(hot, n*hotLimit>>16)
	noise := n * noiseShare >> 16
	fired := hot + noise + max((n-hot-noise)/meanRun, 1)
	g.noise = uint64(noise * 65536 / fired)
	g.hotBelow = g.noise + uint64(hot*65536/fired)
}

// meanRun is about how many events a segment fires at a time.
const meanRun = 3

// A hotPixel fires whatever it sees, rate times per second.
type hotPixel struct {
	x, y uint16
	rate int64
}

// hotTable is the resolution by which hot pixels share their events.
const hotTable = 1 << 10

// The first two hot pixels stand at odd x and odd y, so that halving the resolution keeps them, and each has
// one time in which it passes 256 counts in 5 ms, where a byte wraps.
const hotRate = 80_000

func hotPixels(r *rand.PCG, size event.Geometry) []hotPixel {
	hot := make([]hotPixel, 24)
	for i := range hot {
		hot[i] = hotPixel{uint16(below(r, uint64(size.Width))), uint16(below(r, uint64(size.Height))), 100 + int64(below(r, 3900))}
	}
	odd := func(at, side int) uint16 { return uint16(min(at|1, side-1)) }
	hot[0].x, hot[0].y = odd(size.Width/2, size.Width), odd(size.Height/2, size.Height)
	hot[1].x, hot[1].y = odd(size.Width*3/4, size.Width), odd(size.Height/9, size.Height)
	return hot
}

// heat shares the table out by the rates that hold in a step, and returns their sum, events per second.
func heat(hot []hotPixel, i int64, r rate, table *[hotTable]uint8) int64 {
	rates := [24]int64{}
	var sum int64
	for k, h := range hot {
		rates[k] = h.rate
		if k < 2 && inBurst(i, r.steps, int64(k)) {
			rates[k] = hotRate
		}
		sum += rates[k]
	}
	var done, at int64
	for k := range hot {
		done += rates[k]
		for ; at < done*hotTable/sum; at++ {
			table[at] = uint8(k)
		}
	}
	return sum
}

// inBurst reports whether hot pixel k has its burst: a fiftieth of the scene, at least 100 ms, after one and
// two thirds of it.
func inBurst(i, steps, k int64) bool {
	from := steps * (k + 1) / 3
	return i >= from && i < from+max(steps/50, 100_000/step)
}
