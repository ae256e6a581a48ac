package synth

import (
	"math"
	"math/rand/v2"

	"github.com/evq-project/evq/io/event"
)

// one is a pixel in the fixed-point numbers of the scene.
const one = 1 << 16

// segments is how many line segments the scene has; tableLen the resolution by which they share the events.
const (
	segments = 110
	tableLen = 1 << 10
)

// A segment is an edge that moves. Lengths are in fixed-point pixels.
type segment struct {
	x, y     int64 // its middle
	vx, vy   int64 // per second
	cos, sin int64 // its direction, fixed point
	length   int64
	growth   int64 // per second, relative, fixed point
	age      int64 // microseconds
	run      uint64
	p        int8
}

// A world is the segments as they stand, and who fires how often.
type world struct {
	size  event.Geometry
	all   [segments]segment
	table [tableLen]uint8
}

// start spawns every segment and spreads their ages.
func (w *world) start(r *rand.PCG) {
	for i := range w.all {
		w.spawn(r, &w.all[i])
		w.all[i].age = int64(below(r, 2_000_000))
	}
	w.shareOut()
}

// move lets dt microseconds pass. Segments that have grown old or left the sensor start anew.
func (w *world) move(r *rand.PCG, dt int64) {
	margin := int64(60 * one)
	width, height := int64(w.size.Width)*one, int64(w.size.Height)*one
	for i := range w.all {
		s := &w.all[i]
		s.x += s.vx * dt / 1_000_000
		s.y += s.vy * dt / 1_000_000
		s.length += s.length * s.growth / one * dt / 1_000_000
		s.age += dt
		if s.age > 3_000_000 || s.x < -margin || s.x > width+margin || s.y < -margin || s.y > height+margin {
			w.spawn(r, s)
		}
	}
	w.shareOut()
}

// spawn puts a new segment somewhere around the vanishing point. Six of ten stand nearly upright.
func (w *world) spawn(r *rand.PCG, s *segment) {
	width, height := int64(w.size.Width)*one, int64(w.size.Height)*one
	s.x = width/2 + bell(r)*width/one
	s.y = height*5/9 + bell(r)*height*2/3/one
	angle := float64(below(r, one)) / one * math.Pi
	if below(r, 10) < 6 {
		angle = math.Pi/2 + float64(bell(r))/one/3
	}
	s.cos, s.sin = int64(math.Round(math.Cos(angle)*one)), int64(math.Round(math.Sin(angle)*one))
	a, b := int64(below(r, one)), int64(below(r, one))
	s.length = max(height/48, a*b/one*height/2/one)
	speed := int64(below(r, one))*3/4 + int64(below(r, one))*3/4 // per second, relative to the distance
	s.vx = (s.x - width/2) / 256 * speed / 256
	s.vy = (s.y - height*17/36) / 256 * speed / 256 * 3 / 5
	s.growth = speed * 2 / 5
	s.age = 0
	s.p = int8(below(r, 2))
	s.run = 6 + uint64(abs(s.cos))*10/one // flat edges fire in longer runs
}

// shareOut gives each segment a share of the events by its length and speed.
func (w *world) shareOut() {
	var sum, done int64
	weight := func(s *segment) int64 { return (s.length/one + 1) * (20 + (abs(s.vx)+abs(s.vy))/one) }
	for i := range w.all {
		sum += weight(&w.all[i])
	}
	at := int64(0)
	for i := range w.all {
		done += weight(&w.all[i])
		for ; at < done*tableLen/sum; at++ {
			w.table[at] = uint8(i)
		}
	}
}

// below returns a random number in [0, n).
func below(r *rand.PCG, n uint64) uint64 { return (r.Uint64() >> 32) * n >> 32 }

// bell returns a random number around 0 in [-one/2, one/2): the mean of four.
func bell(r *rand.PCG) int64 {
	v := r.Uint64()
	return int64(v&0xffff+v>>16&0xffff+v>>32&0xffff+v>>48)/4 - one/2
}

func abs(v int64) int64 {
	if v < 0 {
		return -v
	}
	return v
}
