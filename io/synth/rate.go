package synth

import (
	"math/bits"
	"time"
)

// step is how long the scene stands still while it is sampled, in microseconds.
const step = 10_000

// A rate spreads a number of events over the steps of a scene, exactly and without keeping a list of them.
type rate struct {
	seed     uint64
	events   uint64
	duration int64 // microseconds
	steps    int64
	total    uint64 // the weight of all steps
}

func newRate(o Options) rate {
	us := int64(o.Duration / time.Microsecond)
	r := rate{seed: o.Seed, events: uint64(o.Events), duration: us, steps: (us + step - 1) / step}
	for i := range r.steps {
		r.total += r.weight(i)
	}
	return r
}

// length returns the microseconds of a step; the last may be shorter.
func (r rate) length(i int64) int64 { return min(step, r.duration-i*step) }

// weight is what a step gets of the events, relative to the others: two swells of different periods, and a
// burst of 60 ms now and then.
func (r rate) weight(i int64) uint64 {
	w := 1024 + wave(i, 127, int64(r.seed%127))*3/8 + wave(i, 461, int64(r.seed%461))/4
	if mix(r.seed^uint64(i/6)*0x9e3779b97f4a7c15)%40 == 0 {
		w = w * 5 / 2
	}
	return uint64(w * r.length(i))
}

// share returns how many of the events come before the weight done is reached.
func (r rate) share(done uint64) int64 {
	hi, lo := bits.Mul64(done, r.events)
	q, _ := bits.Div64(hi, lo, r.total)
	return int64(q)
}

// wave is a triangle between -1024 and 1024.
func wave(i, period, phase int64) int64 {
	at := (i + phase) % period * 4096 / period // 0..4095
	if at >= 2048 {
		at = 4095 - at
	}
	return at - 1024
}

// mix turns a number into one that looks random (the finaliser of SplitMix64; Steele, Lea, Flood 2014).
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
