package accel

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"
)

// Rates are what counting costs on a device, in nanoseconds.
type Rates struct {
	Job   float64 // of a job without anything in it
	Event float64 // to pack, copy and count an event
	Count float64 // to clear a count and to hand it over
}

// Cost estimates a job.
func (r Rates) Cost(events, counts int64) time.Duration {
	return time.Duration(r.Job + r.Event*float64(events) + r.Count*float64(counts))
}

// A Calibrator is a device whose costs are assumptions until it has measured them on this machine.
type Calibrator interface {
	Coster
	// Calibrate measures once for the whole process; later calls return what the first did. It takes as long as a
	// device takes to start, and some 50 ms.
	Calibrate() error
}

// A Calibration is the rates of one device: assumptions until they are measured.
type Calibration struct {
	Assumed Rates

	once     sync.Once
	mu       sync.Mutex
	measured *Rates
	err      error
}

// Rates returns what was measured, or else what is assumed.
func (c *Calibration) Rates() Rates {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.measured != nil {
		return *c.measured
	}
	return c.Assumed
}

// Calibrate measures the device, which is the one whose rates these are, the first time it is called.
func (c *Calibration) Calibrate(d Device) error {
	c.once.Do(func() {
		r, err := measure(d, time.Now)
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.err = err; err == nil {
			c.measured = &r
		}
	})
	return c.err
}

// measure counts three jobs: with next to nothing in it, with many events, and with many counts.
func measure(d Device, now func() time.Time) (r Rates, err error) {
	const many = 1 << 19
	little := Grid{Bins: 1, Width: 256, Height: 256, Downsample: 1, Cutoff: 10, Wrap: true}
	large := little
	large.Bins, large.Width, large.Height = 8, 1024, 1024
	rnd := rand.New(rand.NewPCG(3, 5))
	job := Job{X: make([]uint16, many), Y: make([]uint16, many), P: make([]int8, many), Windows: 1}
	for i := range many {
		job.X[i], job.Y[i], job.P[i] = uint16(rnd.IntN(256)), uint16(rnd.IntN(256)), int8(rnd.IntN(2))
	}
	var took [3]float64
	for i, c := range []struct {
		grid   Grid
		events uint32
	}{{little, 1}, {little, many}, {large, 1}} {
		job.Segments = []Segment{{Len: c.events}}
		if took[i], err = shortest(d, c.grid, job, now); err != nil {
			return r, fmt.Errorf("measuring %s: %w", d.Name(), err)
		}
	}
	r.Event = max(took[1]-took[0], 0) / (many - 1)
	r.Count = max(took[2]-took[0], 0) / float64(large.Len()-little.Len())
	r.Job = max(took[0]-r.Event-r.Count*float64(little.Len()), 0)
	return r, nil
}

// shortest returns the nanoseconds that a job takes at least; the first time does not count.
func shortest(d Device, g Grid, job Job, now func() time.Time) (least float64, err error) {
	k, err := d.Open(g)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, k.Close()) }()
	dst := make([]uint8, g.Len())
	for i := range 4 {
		began := now()
		if _, err := k.Scatter(context.Background(), job, dst); err != nil {
			return 0, err
		}
		if took := float64(now().Sub(began)); i == 1 || i > 1 && took < least {
			least = took
		}
	}
	return least, nil
}
