package cuda

import (
	"context"
	"errors"
	"runtime"
	"unsafe"

	"github.com/evq-project/evq/accel"
	"github.com/evq-project/evq/accel/scatter"
)

// What a batch holds where the device has the memory: enough that starting it costs little beside its work.
const (
	batchBytes  = 64 << 20
	batchEvents = 4 << 20
)

// A kernel counts jobs on one device. While one batch is copied back, the next is copied there and counted.
type kernel struct {
	*driver
	program
	device  int32
	context uintptr
	module  uintptr
	limit   scatter.Limit
	slots   [2]slot
	args    *arguments
}

// openKernel readies everything but the buffers; those grow with the jobs.
func openKernel(d *driver, device int32, ptx []byte, p program) (accel.Kernel, error) {
	k := &kernel{driver: d, program: p, device: device, args: newArguments()}
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
	for i := range k.steps {
		name := []byte(k.steps[i].name + "\x00")
		if err := k.call(cuModuleGetFunction, uintptr(unsafe.Pointer(&k.steps[i].function)), k.module, uintptr(unsafe.Pointer(&name[0]))); err != nil {
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
	k.limit = scatter.Limit{Counts: min(batchBytes, int(free/8)) / k.width, Events: min(batchEvents, int(free/8/4))}
	return nil
}

// bound runs f on a thread of the system that the device's context is current on.
func (k *kernel) bound(f func() error) error { return k.bind(k.context, f) }

// bind runs f on a thread of the system that a context is current on.
func (d *driver) bind(context uintptr, f func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := d.call(cuCtxSetCurrent, context); err != nil {
		return err
	}
	return f()
}

// Scatter counts batch after batch. Errors of the device are accel.ErrFailed.
func (k *kernel) Scatter(ctx context.Context, job accel.Job, dst []uint8) (offSensor int64, err error) {
	return k.scatter(ctx, job, dst, nil)
}

// Trace counts one batch at a time and takes the times.
func (k *kernel) Trace(ctx context.Context, job accel.Job, dst []uint8) ([]accel.Stage, error) {
	c := new(clock)
	_, err := k.scatter(ctx, job, dst, c)
	err = errors.Join(err, k.bound(func() error { return c.close(k.driver) }))
	return c.stages, err
}

func (k *kernel) scatter(ctx context.Context, job accel.Job, dst []uint8, c *clock) (offSensor int64, err error) {
	counts := len(dst) / k.width
	if len(dst)%k.width != 0 {
		counts = -1 // no number of windows has that many
	}
	if err := k.planner.Start(job, counts); err != nil {
		return 0, err
	}
	if len(dst) == 0 {
		return 0, ctx.Err()
	}
	var pin runtime.Pinner
	pin.Pin(&dst[0])
	pin.Pin(k.args)
	defer pin.Unpin()
	r := run{kernel: k, ctx: ctx, dst: dst, limit: k.limit, clock: c}
	err = k.bound(func() error { return k.settle(r.batches()) })
	if err != nil {
		return 0, err
	}
	return r.off, nil
}

// settle waits for all that is queued where a job failed: nothing may be on its way to the caller's memory, or read what
// will be packed next.
func (k *kernel) settle(err error) error {
	if err != nil {
		for i := range k.slots {
			_ = k.call(cuStreamSynchronize, k.slots[i].stream)
		}
	}
	for i := range k.slots {
		k.slots[i].clock = nil
	}
	return err
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
			try(cuEventDestroy, s.done)
			s.stream, s.done = 0, 0
		}
		try(cuModuleUnload, k.module)
		return nil
	}))
	errs = append(errs, k.call(cuDevicePrimaryCtxRelease, uintptr(k.device)))
	k.context, k.module = 0, 0
	return errors.Join(errs...)
}
