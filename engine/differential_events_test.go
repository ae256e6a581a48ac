package engine_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/evq-project/evq/engine"
	"github.com/evq-project/evq/exprs"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/udf"
	"github.com/evq-project/evq/udf/builtins"
)

// A generator draws a recording and a query over it, and computes the answer by plain loops on the way.
type generator struct {
	r     *rand.Rand
	rec   event.Batch
	size  event.Geometry // of the recording
	steps []string       // the query in words

	frame  func(engine.Frame) engine.Frame
	window func(engine.Frame) engine.Windowed

	exact bool // evs and wins are what the query yields; otherwise only about that
	evs   []ev
	at    event.Geometry // the sensor of evs
	wins  []win
}

func newGenerator(seed uint64) *generator {
	r := rand.New(rand.NewPCG(seed, 0xe7c))
	rec, size := randomRecording(r)
	return &generator{r: r, rec: rec, size: size, frame: func(f engine.Frame) engine.Frame { return f }, exact: true, evs: eventsOf(rec), at: size}
}

func (g *generator) say(format string, args ...any) {
	g.steps = append(g.steps, fmt.Sprintf(format, args...))
}

// then adds a step to the frame.
func (g *generator) then(step func(engine.Frame) engine.Frame) {
	before := g.frame
	g.frame = func(f engine.Frame) engine.Frame { return step(before(f)) }
}

// keep keeps the events of which a test holds.
func (g *generator) keep(holds func(ev) bool) {
	var out []ev
	for _, e := range g.evs {
		if holds(e) {
			out = append(out, e)
		}
	}
	g.evs = out
}

// events draws the steps over events.
func (g *generator) events() {
	for range g.r.IntN(5) {
		switch g.r.IntN(11) {
		case 0, 1, 2, 3:
			g.filter()
		case 4, 5, 6:
			g.transform()
		case 7, 8:
			g.remember()
		case 9:
			n, seed := 1+g.r.Int64N(300), g.r.Uint64()
			g.say("add %d random events by %d", n, seed)
			g.then(func(f engine.Frame) engine.Frame { return f.AddRandom(n, seed) })
			g.exact = false
		default:
			n := g.r.Int64N(int64(len(g.evs)) + 20)
			g.say("limit %d", n)
			g.then(func(f engine.Frame) engine.Frame { return f.Limit(n) })
			g.evs = g.evs[:min(int(n), len(g.evs))]
		}
	}
}

func (g *generator) filter() {
	c := g.telling(2, g.evs)
	g.say("filter %v", c.e)
	g.then(func(f engine.Frame) engine.Frame { return f.Filter(c.e) })
	g.keep(c.holds)
}

// telling draws a condition that mostly holds for some of the events: queries that yield nothing tell little.
func (g *generator) telling(depth int, evs []ev) (c condition) {
	for range 6 {
		if c = g.condition(depth); slices.ContainsFunc(evs, c.holds) || g.r.IntN(12) == 0 {
			break
		}
	}
	return c
}

// transform draws one of exprs.Transforms.
func (g *generator) transform() {
	e := exprs.Transforms[g.r.IntN(len(exprs.Transforms))]
	t, err := e.New(g.transformParam(e.Name))
	if err != nil {
		panic(err)
	}
	g.say("%v", t)
	g.then(func(f engine.Frame) engine.Frame { return f.Map(t) })
	g.move(t)
}

func (g *generator) transformParam(name string) string {
	pick := func(of ...string) string { return of[g.r.IntN(len(of))] }
	switch name {
	case "flip":
		return pick("x", "y")
	case "rotate":
		return pick("90", "180", "270")
	case "crop":
		w, h := max(g.at.Width, 1), max(g.at.Height, 1)
		x, y := g.r.IntN(w), g.r.IntN(h)
		return fmt.Sprintf("%d,%d,%d,%d", x, y, x+g.r.IntN(w-x), y+g.r.IntN(h-y))
	case "downsample":
		return pick("1", "2", "3", "2:sum", "3:sum", "5:sum")
	case "shift-time":
		return pick("-1.5s", "1us", "77ms", "-12345us")
	case "scale-time":
		return pick("2", "1/3", "7/5", "1000/999", "1")
	}
	return ""
}

// move moves the events as a transform says, by plain arithmetic.
func (g *generator) move(t exprs.Transform) {
	w, h := int64(g.at.Width), int64(g.at.Height)
	known, old := g.at.Known(), g.evs
	g.evs = nil
	on := func(v, size int64) bool { return v >= 0 && v < size }
	for _, e := range old {
		ok := true
		switch t := t.(type) {
		case exprs.Flip:
			if t.Vertical {
				e.y = h - 1 - e.y
				ok = on(e.y, h)
			} else {
				e.x = w - 1 - e.x
				ok = on(e.x, w)
			}
		case exprs.Rotate:
			switch t.Degrees {
			case 90:
				e.x, e.y = h-1-e.y, e.x
				ok = on(e.x, h)
			case 180:
				e.x, e.y = w-1-e.x, h-1-e.y
				ok = on(e.x, w) && on(e.y, h)
			case 270:
				e.x, e.y = e.y, w-1-e.x
				ok = on(e.y, w)
			}
		case exprs.Transpose:
			e.x, e.y = e.y, e.x
		case exprs.Crop:
			ok = e.x >= int64(t.X0) && e.x <= int64(t.X1) && e.y >= int64(t.Y0) && e.y <= int64(t.Y1)
			e.x, e.y = e.x-int64(t.X0), e.y-int64(t.Y0)
		case exprs.Downsample:
			n := int64(t.N)
			if n > 1 && !t.Sum {
				ok = e.x%n == n/2 && e.y%n == n/2 && (!known || e.x/n < w/n && e.y/n < h/n)
			} else if n > 1 && known {
				ok = e.x/n < (w+n-1)/n && e.y/n < (h+n-1)/n
			}
			e.x, e.y = e.x/n, e.y/n
		case exprs.ShiftTime:
			e.t += t.By
		case exprs.ScaleTime:
			e.t = floorDiv(e.t*t.Num, t.Den)
		case exprs.MergePolarity:
			e.p = 1
		}
		if ok {
			g.evs = append(g.evs, e)
		}
	}
	if p, err := t.Project(g.at); err == nil {
		g.at = p.Geometry
	}
}

// filterCalls are filters with memory, beside all of them with their defaults.
var filterCalls = []string{
	"refractory:period=700us", "refractory:period=5ms,against=seen", "refractory:period=0us", "hot_pixel:percentile=90",
	"hot_pixel:sigma=1", "hot_pixel:rate=2000", "hot_pixel:percentile=80,from=1ms,to=2s", "background_activity:window=200us",
	"background_activity:neighbours=2,neighbourhood=4", "stc:threshold=700us", "stc:cut_trail=false,threshold=300us",
	"trail:threshold=700us", "rate_limit:rate=50000", "decimate:n=3", "decimate:n=3,by=stream", "drop:p=0.3,seed=7", "dedup",
}

// remember draws a filter with memory. Some are simple enough for a plain loop.
func (g *generator) remember() {
	call := filterCalls[g.r.IntN(len(filterCalls))]
	if g.r.IntN(4) == 0 {
		call = builtins.Filters[g.r.IntN(len(builtins.Filters))].Name
	}
	f, err := engine.Filter(call)
	if err != nil {
		panic(err)
	}
	g.say("apply %v", f)
	g.then(func(frame engine.Frame) engine.Frame { return frame.Apply(f) })
	name, args, _ := udf.ParseCall(call)
	switch {
	case name == "dedup" && g.at.Known():
		seen := map[ev]bool{}
		g.keep(func(e ev) bool { again := seen[e]; seen[e] = true; return !again || !g.onSensor(e) })
	case name == "decimate" && args["by"] == "stream":
		n := 0
		g.keep(func(ev) bool { n++; return n%3 == 0 })
	case name == "refractory" && strings.HasPrefix(call, "refractory:") && g.at.Known():
		g.refractory(args)
	default:
		g.exact = false
	}
}

func (g *generator) onSensor(e ev) bool { return e.x < int64(g.at.Width) && e.y < int64(g.at.Height) }

func (g *generator) refractory(args udf.Args) {
	period, err := args.Micros("period", 0, 1<<40)
	if err != nil {
		panic(err)
	}
	type pixel struct{ x, y int64 }
	last := map[pixel]int64{}
	g.keep(func(e ev) bool {
		if !g.onSensor(e) {
			return true
		}
		before, any := last[pixel{e.x, e.y}]
		pass := !any || e.t-before > period
		if pass || args["against"] == "seen" {
			last[pixel{e.x, e.y}] = e.t
		}
		return pass
	})
}
