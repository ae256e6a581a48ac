package hosted

import (
	"context"
	"runtime"
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
//	evq_host_count(blocks, threads, workers, counts, events, runs, columns, x_by, x_shift, y_by, y_shift, plane_step, is_signed)
type Device struct {
	Threads, Workers int // of a block, and of the system
	Limit            scatter.Limit

	scatter, clip, count uintptr
}

// Open returns a device of a library that Compile made.
func Open(t testing.TB, library string, d Device) Device {
	t.Helper()
	l, err := dl.Open(library)
	if err != nil {
		t.Fatal(err)
	}
	for name, at := range map[string]*uintptr{"evq_host_scatter": &d.scatter, "evq_host_clip": &d.clip, "evq_host_count": &d.count} {
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
	p := scatter.ParamsOf(g)
	k := &kernel{Device: d, planner: scatter.NewPlanner(g), width: 1, launches: []launch{{d.scatter, p.Words()}}}
	if p.Clips() {
		k.launches = append(k.launches, launch{d.clip, p.ClipWords()})
	}
	return k, nil
}

// OpenTable readies a kernel for a table.
func (d Device) OpenTable(t accel.Table) (accel.Kernel, error) {
	if err := t.Validate(); err != nil {
		return nil, err
	}
	return &kernel{Device: d, planner: scatter.NewTablePlanner(t), width: 4, launches: []launch{{d.count, scatter.TableParamsOf(t).Words()}}}, nil
}

// A launch is a function of the library and its last arguments.
type launch struct {
	function uintptr
	words    []uint32
}

type kernel struct {
	Device
	planner  *scatter.Planner
	width    int // bytes of a count
	launches []launch
}

// Scatter counts batch after batch.
func (k *kernel) Scatter(ctx context.Context, job accel.Job, dst []uint8) (off int64, err error) {
	counts := len(dst) / k.width
	if len(dst)%k.width != 0 {
		counts = -1
	}
	if err := k.planner.Start(job, counts); err != nil {
		return 0, err
	}
	for {
		b, more := k.planner.Next(k.Limit)
		if !more {
			return off, ctx.Err()
		}
		n, err := k.batch(ctx, b, dst[:b.Counts*k.width])
		if err != nil {
			return 0, err
		}
		off += n
		dst = dst[b.Counts*k.width:]
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
	words := make([]uint32, (len(dst)+3)/4)
	counts := unsafe.Slice((*uint8)(unsafe.Pointer(unsafe.SliceData(words))), len(dst))
	if n == 0 {
		copy(dst, counts)
		return off, nil
	}
	var pin runtime.Pinner // what addresses alone refer to must not move, as a short slice on the stack would
	defer pin.Unpin()
	pin.Pin(&words[0])
	pin.Pin(&events[0])
	pin.Pin(&runs[0])
	for _, l := range k.launches {
		args := []uintptr{uintptr(n), uintptr(k.Threads), uintptr(k.Workers), uintptr(unsafe.Pointer(&words[0])),
			uintptr(unsafe.Pointer(&events[0])), uintptr(unsafe.Pointer(&runs[0]))}
		for _, w := range l.words {
			args = append(args, uintptr(w))
		}
		dl.Call(l.function, args...)
	}
	copy(dst, counts)
	return off, nil
}

// Close does nothing.
func (k *kernel) Close() error { return nil }
