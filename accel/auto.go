package accel

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// A Coster is a device that can tell roughly how long it takes. What does not tell is taken to be slow.
type Coster interface {
	Device
	// Cost estimates the time to count so many events into so many counts, the counts handed over included.
	Cost(events, counts int64) time.Duration
}

// auto is several devices, the best first. Each job goes to the one with the least cost; where that fails, the next
// counts the job and all after it.
type auto []Device

// Name returns the names of the devices.
func (a auto) Name() string {
	names := make([]string, len(a))
	for i, d := range a {
		names[i] = d.Name()
	}
	return strings.Join(names, " or ")
}

// Probe returns nil: the devices were asked.
func (a auto) Probe() error { return nil }

// Open readies a kernel. Those of the devices are opened when a job is theirs.
func (a auto) Open(g Grid) (Kernel, error) {
	if err := g.Validate(); err != nil {
		return nil, err
	}
	return &autoKernel{grid: g, left: append([]Device(nil), a...), open: make([]Kernel, len(a))}, nil
}

type autoKernel struct {
	grid Grid
	left []Device // those that have not failed
	open []Kernel // theirs, or nil
	why  []error  // how others failed

	spent    time.Duration // what the jobs so far should have cost on the device that can do without measuring
	measured bool
}

// patience is how long devices that must start and be measured first are left alone: a short query would be done before
// they are.
const patience = 500 * time.Millisecond

// Scatter counts on one device after another until one does not fail.
func (k *autoKernel) Scatter(ctx context.Context, job Job, dst []uint8) (offSensor int64, err error) {
	events := int64(0)
	for _, s := range job.Segments {
		events += int64(s.Len)
	}
	for len(k.left) > 0 {
		i := k.choose(events, int64(len(dst)))
		off, err := k.scatter(ctx, i, job, dst)
		if !errors.Is(err, ErrFailed) && !errors.Is(err, ErrUnavailable) {
			return off, err
		}
		k.drop(i, err)
	}
	return 0, fmt.Errorf("accel: every device failed: %w", errors.Join(k.why...))
}

// choose returns the device for a job. Where others must be measured first, that is the last device, which is the
// processor, until the jobs have cost enough; then all are measured, and those that cannot be are given up.
func (k *autoKernel) choose(events, counts int64) int {
	last := len(k.left) - 1
	if !k.measured && k.mustMeasure() {
		if c, ok := k.left[last].(Coster); ok {
			if k.spent += c.Cost(events, counts); k.spent < patience {
				return last
			}
		}
		k.measure()
	}
	return k.cheapest(events, counts)
}

// mustMeasure reports whether a device beside the last has rates to measure.
func (k *autoKernel) mustMeasure() bool {
	for _, d := range k.left[:len(k.left)-1] {
		if _, ok := d.(Calibrator); ok {
			return true
		}
	}
	return false
}

// measure measures all devices.
func (k *autoKernel) measure() {
	k.measured = true
	for i := len(k.left) - 1; i >= 0; i-- {
		if c, ok := k.left[i].(Calibrator); ok {
			if err := c.Calibrate(); err != nil && len(k.left) > 1 {
				k.drop(i, err)
			}
		}
	}
}

// cheapest returns the device with the least cost, the first of several.
func (k *autoKernel) cheapest(events, counts int64) int {
	best, least := 0, time.Duration(1<<63-1)
	for i, d := range k.left {
		if c, ok := d.(Coster); ok {
			if cost := c.Cost(events, counts); cost < least {
				best, least = i, cost
			}
		}
	}
	return best
}

func (k *autoKernel) scatter(ctx context.Context, i int, job Job, dst []uint8) (int64, error) {
	if k.open[i] == nil {
		kernel, err := k.left[i].Open(k.grid)
		if err != nil {
			return 0, err
		}
		k.open[i] = kernel
	}
	return k.open[i].Scatter(ctx, job, dst)
}

// drop gives a device up.
func (k *autoKernel) drop(i int, err error) {
	k.why = append(k.why, fmt.Errorf("%s: %w", k.left[i].Name(), err))
	if k.open[i] != nil {
		_ = k.open[i].Close() // it has failed already
	}
	k.left = append(k.left[:i], k.left[i+1:]...)
	k.open = append(k.open[:i], k.open[i+1:]...)
}

// Close closes the kernels of all devices.
func (k *autoKernel) Close() error {
	var errs []error
	for _, kernel := range k.open {
		if kernel != nil {
			errs = append(errs, kernel.Close())
		}
	}
	return errors.Join(errs...)
}
