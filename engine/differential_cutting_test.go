package engine_test

import (
	"fmt"
	"slices"
	"sort"
	"time"

	"github.com/evq-project/evq/engine"
)

// A win is one window as the plain loops cut it.
type win struct {
	start, end int64
	evs        []ev
}

func micros(n int64) time.Duration { return time.Duration(n) * time.Microsecond }

// windows draws how the events are cut, and cuts them.
func (g *generator) windows() {
	kinds := []func() engine.Windowing{g.every, g.every, g.every, g.count, g.count, g.ends, g.endsCount, g.intervals, g.whole}
	w := kinds[g.r.IntN(len(kinds))]()
	frame := g.frame
	g.window = func(f engine.Frame) engine.Windowed { return frame(f).Window(w) }
	for range g.r.IntN(5) / 3 {
		c := g.telling(1, g.inWindows())
		g.say("in windows %v", c.e)
		before := g.window
		g.window = func(f engine.Frame) engine.Windowed { return before(f).Filter(c.e) }
		for i, w := range g.wins {
			g.evs = w.evs
			g.keep(c.holds)
			g.wins[i].evs = g.evs
		}
	}
}

// inWindows returns the events of all windows.
func (g *generator) inWindows() (out []ev) {
	for _, w := range g.wins {
		out = append(out, w.evs...)
	}
	return out
}

// span returns the first and the last time of the events.
func (g *generator) span() (first, last int64) {
	if len(g.evs) == 0 {
		return 0, 1000
	}
	return g.evs[0].t, g.evs[len(g.evs)-1].t
}

// between returns the events with from <= t < to.
func (g *generator) between(from, to int64) []ev {
	var out []ev
	for _, e := range g.evs {
		if e.t >= from && e.t < to {
			out = append(out, e)
		}
	}
	return out
}

func (g *generator) every() engine.Windowing {
	first, last := g.span()
	length := max((last-first)/(1+g.r.Int64N(12)), 1) + g.r.Int64N(3)
	hop := []int64{length, length, length, length/2 + 1, length + length/3, max(length/3, 1)}[g.r.IntN(6)]
	origin := []int64{0, 0, first, first + 3, -g.r.Int64N(1000)}[g.r.IntN(5)]
	w := engine.Every(micros(length)).Hop(micros(hop)).Origin(origin)
	text := fmt.Sprintf("window every %d hop %d origin %d", length, hop, origin)
	fromFirst := g.r.IntN(4) == 0
	if fromFirst {
		w, origin, text = w.OriginFirst(), first, text+" from the first"
	}
	from, to := first, last+1
	ranged := g.r.IntN(3) == 0
	if ranged {
		from = first + (last-first)/4 - g.r.Int64N(3)
		to = []int64{from, from + 1, last, last + 2*length}[g.r.IntN(4)]
		to = max(to, from)
		w, text = w.Between(from, to), text+fmt.Sprintf(" between %d and %d", from, to)
	}
	g.say("%s", text)
	if len(g.evs) == 0 && (fromFirst || !ranged) {
		return w
	}
	// Every window that holds a moment of [from, to), from one that surely lies before.
	for start := origin + (floorDiv(from-origin, hop)-length/hop-2)*hop; start < to; start += hop {
		if start+length > from {
			g.wins = append(g.wins, win{start, start + length, g.between(start, start+length)})
		}
	}
	return w
}

func (g *generator) count() engine.Windowing {
	n := 1 + g.r.IntN(len(g.evs)/3+20)
	step := []int{n, n, n/2 + 1, n + n/2, 3 * n}[g.r.IntN(5)]
	step = max(step, len(g.evs)/40, 1)
	w, complete := engine.Count(int64(n), int64(step)), g.r.IntN(3) == 0
	if complete {
		w = w.Complete()
	}
	g.say("window count %d step %d complete %v", n, step, complete)
	for lo := 0; lo < len(g.evs); lo += step {
		hi := min(lo+n, len(g.evs))
		if hi-lo < n && complete {
			break
		}
		g.wins = append(g.wins, win{g.evs[lo].t, g.evs[hi-1].t, slices.Clone(g.evs[lo:hi])})
		if hi == len(g.evs) {
			break
		}
	}
	return w
}

// ticks draws times around the events.
func (g *generator) ticks() []int64 {
	first, last := g.span()
	out := make([]int64, 1+g.r.IntN(9))
	for i := range out {
		out[i] = first + g.r.Int64N(last-first+3) - 1
		switch {
		case len(g.evs) > 0 && g.r.IntN(3) == 0:
			out[i] = g.evs[g.r.IntN(len(g.evs))].t
		case g.r.IntN(9) == 0:
			out[i] = first - 5000
		case g.r.IntN(9) == 0:
			out[i] = last + 5000
		}
	}
	slices.Sort(out)
	return out
}

func (g *generator) length() int64 {
	first, last := g.span()
	return g.r.Int64N((last-first)/[]int64{1, 4, 20}[g.r.IntN(3)] + 2)
}

func (g *generator) ends() engine.Windowing {
	times, span := g.ticks(), g.length()
	g.say("window ends %d span %d", times, span)
	for _, end := range times {
		g.wins = append(g.wins, win{end - span, end, g.between(end-span, end+1)})
	}
	return engine.Ends(times, micros(span))
}

func (g *generator) endsCount() engine.Windowing {
	times, n := g.ticks(), 1+g.r.IntN(200)
	g.say("window ends %d count %d", times, n)
	for _, end := range times {
		hi := sort.Search(len(g.evs), func(i int) bool { return g.evs[i].t > end })
		w := win{end, end, slices.Clone(g.evs[max(hi-n, 0):hi])}
		if len(w.evs) > 0 {
			w.start = w.evs[0].t
		}
		g.wins = append(g.wins, w)
	}
	return engine.EndsCount(times, int64(n))
}

func (g *generator) intervals() engine.Windowing {
	starts := g.ticks()
	if g.r.IntN(12) == 0 {
		starts = nil
	}
	ends := make([]int64, len(starts))
	for i, start := range starts {
		ends[i] = start + g.length()
		if i+1 < len(starts) && g.r.IntN(2) == 0 {
			ends[i] = starts[i+1] // without overlap
		}
		g.wins = append(g.wins, win{start, ends[i], g.between(start, ends[i])})
	}
	g.say("window intervals %d to %d", starts, ends)
	return engine.Intervals(starts, ends, "a test")
}

func (g *generator) whole() engine.Windowing {
	g.say("window whole")
	w := win{evs: slices.Clone(g.evs)}
	if len(g.evs) > 0 {
		w.start, w.end = g.span()
	}
	g.wins = []win{w}
	return engine.WholeRecording()
}
