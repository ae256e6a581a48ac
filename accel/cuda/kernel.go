package cuda

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"github.com/evq-project/evq/accel"
	"github.com/evq-project/evq/accel/scatter"
)

// What a batch holds where the device has the memory: enough that starting it costs little beside its work.
const (
	batchCounts = 64 << 20
	batchEvents = 4 << 20
)

// A kernel counts jobs on one device. While one batch is copied back, the next is copied there and counted.
type kernel struct {
	*driver
	device  int32
	context uintptr
	module  uintptr
	scatter uintptr
	clip    uintptr
	planner *scatter.Planner
	params  scatter.Params
	limit   scatter.Limit
	slots   [2]slot
	args    *arguments
}

// openKernel readies everything but the buffers; those grow with the jobs.
func openKernel(d *driver, device int32, ptx []byte, g accel.Grid) (accel.Kernel, error) {
	k := &kernel{driver: d, device: device, planner: scatter.NewPlanner(g), params: scatter.ParamsOf(g), args: new(arguments)}
	if err := k.call(cuDevicePrimaryCtxRetain, uintptr(unsafe.Pointer(&k.context)), uintptr(device)); err != nil {
		return nil, err
	}
	if err := k.bound(func() error { return k.load(ptx) }); err != nil {
		return nil, errors.Join(err, k.Close())
	}
	return k, nil
}

// load loads the kernel's code, and looks how much memory there is.
func (k *kernel) load(ptx []byte) error {
	if err := k.call(cuModuleLoadDataEx, uintptr(unsafe.Pointer(&k.module)), uintptr(unsafe.Pointer(&ptx[0])), 0, 0, 0); err != nil {
		return err
	}
	for _, f := range []struct {
		name string
		at   *uintptr
	}{{"evq_scatter\x00", &k.scatter}, {"evq_clip\x00", &k.clip}} {
		name := []byte(f.name)
		if err := k.call(cuModuleGetFunction, uintptr(unsafe.Pointer(f.at)), k.module, uintptr(unsafe.Pointer(&name[0]))); err != nil {
			return err
		}
	}
	for i := range k.slots {
		const nonBlocking = 1
		if err := k.call(cuStreamCreate, uintptr(unsafe.Pointer(&k.slots[i].stream)), nonBlocking); err != nil {
			return err
		}
	}
	var free, total uintptr
	if err := k.call(cuMemGetInfo, uintptr(unsafe.Pointer(&free)), uintptr(unsafe.Pointer(&total))); err != nil {
		return err
	}
	// Two batches are in work at a time, and others want memory as well.
	k.limit = scatter.Limit{Counts: min(batchCounts, int(free/8)), Events: min(batchEvents, int(free/8/4))}
	return nil
}

// bound runs f on a thread of the system that the device's context is current on.
func (k *kernel) bound(f func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := k.call(cuCtxSetCurrent, k.context); err != nil {
		return err
	}
	return f()
}

// Scatter counts batch after batch. Errors of the device are accel.ErrFailed.
func (k *kernel) Scatter(ctx context.Context, job accel.Job, dst []uint8) (offSensor int64, err error) {
	if err := k.planner.Start(job, dst); err != nil {
		return 0, err
	}
	if len(dst) == 0 {
		return 0, ctx.Err()
	}
	var pin runtime.Pinner
	pin.Pin(&dst[0])
	pin.Pin(k.args)
	defer pin.Unpin()
	r := run{kernel: k, ctx: ctx, dst: dst, limit: k.limit}
	err = k.bound(func() error {
		err := r.batches()
		if err != nil { // nothing may be on its way to dst, or read what will be packed next
			for i := range k.slots {
				_ = k.call(cuStreamSynchronize, k.slots[i].stream)
			}
		}
		return err
	})
	if err != nil {
		return 0, err
	}
	return r.off, nil
}

// Close gives everything back. It goes on where a call fails, and returns all errors.
func (k *kernel) Close() error {
	if k.context == 0 {
		return nil
	}
	var errs []error
	try := func(f function, arg uintptr) {
		if arg != 0 {
			errs = append(errs, k.call(f, arg))
		}
	}
	errs = append(errs, k.bound(func() error {
		for i := range k.slots {
			s := &k.slots[i]
			try(cuStreamSynchronize, s.stream)
			errs = append(errs, s.release(k.driver))
			try(cuStreamDestroy, s.stream)
			s.stream = 0
		}
		try(cuModuleUnload, k.module)
		return nil
	}))
	errs = append(errs, k.call(cuDevicePrimaryCtxRelease, uintptr(k.device)))
	k.context, k.module = 0, 0
	return errors.Join(errs...)
}

// A run is one job on its way.
type run struct {
	*kernel
	ctx     context.Context
	dst     []uint8
	limit   scatter.Limit
	off     int64
	n       int   // batches begun
	waiting *slot // counted, perhaps, and not copied back
}

// batches counts the whole job: each batch is begun before the one before it is copied back.
func (r *run) batches() error {
	for {
		b, more := r.planner.Next(r.limit)
		if !more {
			return r.collect()
		}
		if err := r.ctx.Err(); err != nil {
			return err
		}
		size := len(r.dst) / r.planner.Windows()
		to := r.dst[b.Window*size:][:b.Counts]
		if b.Events == 0 {
			clear(to)
			r.planner.Advance(b)
			continue
		}
		s := &r.slots[r.n%2]
		smaller, err := r.reserve(s, b)
		if err != nil {
			return err
		}
		if smaller {
			continue
		}
		if err := r.begin(s, b, to); err != nil {
			return err
		}
		r.planner.Advance(b)
		if err := r.collect(); err != nil {
			return err
		}
		r.waiting, r.n = s, r.n+1
	}
}

// reserve sees to it that a slot has room for a batch. Where the device has no more memory it lets go of the other slot,
// then asks for a smaller batch.
func (r *run) reserve(s *slot, b scatter.Batch) (smaller bool, err error) {
	err = s.reserve(r.driver, b)
	var failed *Error
	if !errors.As(err, &failed) || failed.Code != outOfMemory {
		return false, err
	}
	if err := r.collect(); err != nil {
		return false, err
	}
	for i := range r.slots {
		if err := r.slots[i].release(r.driver); err != nil {
			return false, err
		}
	}
	if err = s.reserve(r.driver, b); !errors.As(err, &failed) || failed.Code != outOfMemory {
		return false, err
	}
	if b.Windows == 1 {
		return false, fmt.Errorf("accel: window %d needs %d MiB of the device for %d events and %d counts: %w; use shorter windows, fewer bins or --device cpu",
			b.Window, need(b)>>20, b.Events, b.Counts, failed)
	}
	r.limit = scatter.Limit{Counts: b.Counts / 2, Events: b.Events / 2}
	r.kernel.limit = r.limit // the next job need not find out again
	return true, nil
}

// begin packs a batch and hands it to the slot's stream.
func (r *run) begin(s *slot, b scatter.Batch, to []uint8) error {
	events, runs := s.room(b)
	nEvents, nRuns, off, err := r.planner.Pack(r.ctx, b, events, runs)
	if err != nil {
		return err
	}
	r.off += off
	s.to = to
	return s.begin(r.kernel, b, nEvents, nRuns)
}

// collect copies back what the waiting batch counted.
func (r *run) collect() error {
	s := r.waiting
	r.waiting = nil
	if s == nil {
		return nil
	}
	return s.collect(r.driver)
}
