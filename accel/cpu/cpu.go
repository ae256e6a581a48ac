// Package cpu counts events on the processor, in Go: a plain reference and a fast variant that must equal it.
//
// It knows slices and the grid; it refuses to know times, files and plans.
package cpu

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/evq-project/evq/accel"
)

// Device is the processor. It runs everywhere.
var Device accel.Device = device{}

type device struct{}

func (device) Name() string { return "cpu" }
func (device) Probe() error { return nil }

// calibration holds the rates of the processor. What is assumed is what BenchmarkSparse and BenchmarkDense take apart on a
// 2-core EPYC guest.
var calibration = accel.Calibration{Assumed: accel.Rates{Event: 1.9, Count: 0.055}}

// Cost estimates a job by the rates.
func (device) Cost(events, counts int64) time.Duration {
	return calibration.Rates().Cost(events, counts)
}

// Calibrate measures the rates.
func (d device) Calibrate() error { return calibration.Calibrate(d) }

// Open readies a kernel; the error is that of accel.Grid.Validate.
func (device) Open(g accel.Grid) (accel.Kernel, error) {
	if err := g.Validate(); err != nil {
		return nil, err
	}
	plane := g.Rows() * g.Columns()
	return &kernel{grid: g, columns: uint32(g.Columns()), plane: uint32(plane), on: uint32(g.Bins * plane),
		hot: make([]uint32, 0, hotCells)}, nil
}

// Scatter counts window after window, each bin of it in turn.
func (k *kernel) Scatter(ctx context.Context, job accel.Job, dst []uint8) (offSensor int64, err error) {
	if err := job.Validate(k.grid); err != nil {
		return 0, err
	}
	size := k.grid.Len()
	if len(dst)/size != job.Windows || len(dst)%size != 0 {
		return 0, fmt.Errorf("accel: room for %d counts; %d windows of %d are asked for", len(dst), job.Windows, size)
	}
	rest := k.inOrder(job.Segments)
	for w := range job.Windows {
		n := 0
		for n < len(rest) && int(rest[n].Window) == w {
			n++
		}
		off, err := k.window(ctx, job, rest[:n], dst[w*size:(w+1)*size])
		if err != nil {
			return 0, err
		}
		offSensor += off
		rest = rest[n:]
	}
	return offSensor, nil
}

func (k *kernel) Close() error { return nil }

// inOrder returns the segments by window and bin. Hosts make them so; others are sorted in a copy.
func (k *kernel) inOrder(segments []accel.Segment) []accel.Segment {
	byBin := func(a, b accel.Segment) int {
		if a.Window != b.Window {
			return cmp.Compare(a.Window, b.Window)
		}
		return cmp.Compare(a.Bin, b.Bin)
	}
	if slices.IsSortedFunc(segments, byBin) {
		return segments
	}
	k.sorted = append(k.sorted[:0], segments...)
	slices.SortFunc(k.sorted, byBin)
	return k.sorted
}
