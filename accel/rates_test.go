package accel

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// timed is a device in a time of its own: a job takes what its rates say, and that is all that happens.
type timed struct {
	fake
	truth       Rates
	clock       *time.Time
	calibration *Calibration
	fails       error
}

func (d *timed) Open(g Grid) (Kernel, error) { return timedKernel{d}, nil }
func (d *timed) Cost(events, counts int64) time.Duration {
	return d.calibration.Rates().Cost(events, counts)
}
func (d *timed) Calibrate() error {
	d.calibration.once.Do(func() {
		r, err := measure(d, func() time.Time { return *d.clock })
		if d.calibration.err = errors.Join(err, d.fails); d.calibration.err == nil {
			d.calibration.measured = &r
		}
	})
	return d.calibration.err
}

type timedKernel struct{ *timed }

func (k timedKernel) Close() error { return nil }
func (k timedKernel) Scatter(_ context.Context, job Job, dst []uint8) (int64, error) {
	events := int64(0)
	for _, s := range job.Segments {
		events += int64(s.Len)
	}
	*k.clock = k.clock.Add(k.truth.Cost(events, int64(len(dst))))
	return 0, nil
}

func newTimed(name string, clock *time.Time, truth Rates) *timed {
	return &timed{fake{name: name}, truth, clock, &Calibration{Assumed: Rates{Event: 1, Count: 0.1}}, nil}
}

// What is measured is what a device takes.
func TestMeasure(t *testing.T) {
	clock := time.Unix(0, 0)
	for _, truth := range []Rates{{}, {Job: 30_000, Event: 1.4, Count: 0.1}, {Event: 1.9, Count: 0.055}, {Job: 1e6, Event: 0.01, Count: 2}} {
		d := newTimed("gpu", &clock, truth)
		if err := d.Calibrate(); err != nil {
			t.Fatal(err)
		}
		got := d.calibration.Rates()
		if math.Abs(got.Job-truth.Job) > 100 || math.Abs(got.Event-truth.Event) > 0.01 || math.Abs(got.Count-truth.Count) > 0.001 {
			t.Errorf("measured %+v, want %+v", got, truth)
		}
	}
}

// Whatever two devices take, auto is slower than the processor by no more than a tenth, beside what it takes to measure:
// its choices are right but for what the rates are rounded to.
func TestAutoIsNotSlower(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	used, room := map[string]int{}, make([]uint8, 5_000_000)
	for range 60 {
		var clock time.Time
		host := newTimed("cpu", &clock, Rates{Event: 0.5 + 3*r.Float64(), Count: 0.1 * r.Float64()})
		gpu := newTimed("gpu", &clock, Rates{Job: 1e5 * r.Float64(), Event: 3 * r.Float64(), Count: 0.2 * r.Float64()})
		d, err := Pick([]Device{gpu, host}, Auto)
		if err != nil {
			t.Fatal(err)
		}
		k, err := d.Open(Grid{Bins: 1, Width: 4, Height: 4, Downsample: 1, Cutoff: 9})
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(gpu.Calibrate(), host.Calibrate()); err != nil {
			t.Fatal(err)
		}
		for range 200 {
			events, counts := r.Uint32N(5_000_000), r.IntN(5_000_000)
			before := clock
			if _, err := k.Scatter(context.Background(), Job{Segments: []Segment{{Len: events}}}, room[:counts]); err != nil {
				t.Fatal(err)
			}
			took, alone := clock.Sub(before), host.truth.Cost(int64(events), int64(counts))
			if took > alone*11/10 {
				t.Fatalf("%d events and %d counts took %v, and %v on the processor; %+v and %+v", events, counts, took, alone, gpu.truth, host.truth)
			}
			if took < alone {
				used["gpu"]++
			} else {
				used["cpu"]++
			}
		}
	}
	if used["gpu"] < 1000 || used["cpu"] < 1000 {
		t.Errorf("jobs by device: %v", used)
	}
}

// Devices that must be measured are left alone until the jobs are worth it, and given up where they cannot be.
func TestAutoIsPatient(t *testing.T) {
	for _, fails := range []error{nil, errors.New("no context")} {
		var clock time.Time
		host, gpu := newTimed("cpu", &clock, Rates{Event: 1}), newTimed("gpu", &clock, Rates{Event: 0.1})
		gpu.fails = fails
		d, err := Pick([]Device{gpu, host}, Auto)
		if err != nil {
			t.Fatal(err)
		}
		k, err := d.Open(Grid{Bins: 1, Width: 4, Height: 4, Downsample: 1, Cutoff: 9})
		if err != nil {
			t.Fatal(err)
		}
		job := Job{Segments: []Segment{{Len: 100_000_000}}} // 100 ms
		var last time.Duration
		for i := range 8 {
			before := clock
			if _, err := k.Scatter(context.Background(), job, nil); err != nil {
				t.Fatal(err)
			}
			last = clock.Sub(before)
			if measured := gpu.calibration.measured != nil || gpu.calibration.err != nil; measured != (i >= 4) {
				t.Errorf("job %d: measured %v", i, measured)
			}
		}
		want := 10 * time.Millisecond
		if fails != nil {
			want = 100 * time.Millisecond
		}
		if math.Abs(float64(last-want)) > 1e5 {
			t.Errorf("the last job took %v, want %v (%v)", last, want, fails)
		}
	}
}
