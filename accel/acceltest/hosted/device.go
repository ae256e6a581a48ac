package hosted

import (
	"context"
	"testing"
	"unsafe"

	"github.com/evq-project/evq/accel"
	"github.com/evq-project/evq/accel/dl"
	"github.com/evq-project/evq/accel/scatter"
)

// A Device counts with a kernel compiled for the processor: a library with the functions
//
//	evq_host_scatter(blocks, threads, workers, counts, events, runs, columns, half_size, plane_step, wrap, cutoff)
//	evq_host_clip(blocks, threads, workers, counts, events, runs, columns, half_size, plane_step, cutoff)
type Device struct {
	Threads, Workers int // of a block, and of the system
	Limit            scatter.Limit

	scatter, clip uintptr
}

// Open returns a device of a library that Compile made.
func Open(t testing.TB, library string, d Device) Device {
	t.Helper()
	l, err := dl.Open(library)
	if err != nil {
		t.Fatal(err)
	}
	for name, at := range map[string]*uintptr{"evq_host_scatter": &d.scatter, "evq_host_clip": &d.clip} {
		if *at, err = l.Symbol(name); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

// Name returns hosted.
func (d Device) Name() string { return "hosted" }

// Probe returns nil.
func (d Device) Probe() error { return nil }

// Open readies a kernel.
func (d Device) Open(g accel.Grid) (accel.Kernel, error) {
	if err := g.Validate(); err != nil {
		return nil, err
	}
	return &kernel{Device: d, planner: scatter.NewPlanner(g), params: scatter.ParamsOf(g)}, nil
}

type kernel struct {
	Device
	planner *scatter.Planner
	params  scatter.Params
}

// Scatter counts batch after batch.
func (k *kernel) Scatter(ctx context.Context, job accel.Job, dst []uint8) (off int64, err error) {
	if err := k.planner.Start(job, dst); err != nil {
		return 0, err
	}
	for {
		b, more := k.planner.Next(k.Limit)
		if !more {
			return off, ctx.Err()
		}
		n, err := k.batch(ctx, b, dst[:b.Counts])
		if err != nil {
			return 0, err
		}
		off += n
		dst = dst[b.Counts:]
		k.planner.Advance(b)
	}
}

// batch counts one batch in buffers of just its size.
func (k *kernel) batch(ctx context.Context, b scatter.Batch, dst []uint8) (off int64, err error) {
	events, runs := make([]uint32, b.Events), make([]scatter.Run, b.Runs)
	_, n, off, err := k.planner.Pack(ctx, b, events, runs)
	if err != nil {
		return 0, err
	}
	words := make([]uint32, (b.Counts+3)/4)
	counts := unsafe.Slice((*uint8)(unsafe.Pointer(unsafe.SliceData(words))), b.Counts)
	if p := k.params; n > 0 {
		dl.Call(k.scatter, uintptr(n), uintptr(k.Threads), uintptr(k.Workers), uintptr(unsafe.Pointer(&words[0])),
			uintptr(unsafe.Pointer(&events[0])), uintptr(unsafe.Pointer(&runs[0])),
			uintptr(p.Columns), uintptr(p.HalfSize), uintptr(p.PlaneStep), uintptr(p.Wrap), uintptr(p.Cutoff))
		if p.Clips() {
			dl.Call(k.clip, uintptr(n), uintptr(k.Threads), uintptr(k.Workers), uintptr(unsafe.Pointer(&words[0])),
				uintptr(unsafe.Pointer(&events[0])), uintptr(unsafe.Pointer(&runs[0])),
				uintptr(p.Columns), uintptr(p.HalfSize), uintptr(p.PlaneStep), uintptr(p.Cutoff))
		}
	}
	copy(dst, counts)
	return off, nil
}

// Close does nothing.
func (k *kernel) Close() error { return nil }
