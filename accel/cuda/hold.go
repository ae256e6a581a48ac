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

// A resident is counts that stay on the device. It has a reference to the device's context, and a stream, of its own, so
// that it outlives its kernel.
type resident struct {
	*driver
	device  int32
	context uintptr // 0 after Close
	stream  uintptr
	memory  uintptr
	bytes   int
	tensor  *accel.DLTensor
	pin     runtime.Pinner // of the tensor and what it points to
}

// Hold counts a job into memory of the device's own: windows, and in each what the kernel's grid or table says. Two
// batches are in work at a time; the device's memory is asked for in one piece, and too little of it is an error that says
// how much is needed.
func (k *kernel) Hold(ctx context.Context, job accel.Job) (accel.Resident, int64, error) {
	if err := job.Validate(accel.Grid{Bins: k.planner.Bins()}); err != nil {
		return nil, 0, err
	}
	if err := k.planner.Start(job, job.Windows*k.planner.Size()); err != nil {
		return nil, 0, err
	}
	if job.Windows == 0 {
		return nil, 0, errors.New("accel: no windows, and so no counts to hold; ask for one at least")
	}
	r, err := k.newResident(job.Windows)
	if err != nil {
		return nil, 0, err
	}
	var pin runtime.Pinner
	pin.Pin(k.args)
	defer pin.Unpin()
	off := int64(0)
	err = k.bound(func() error {
		off, err = k.fill(ctx, r)
		if err != nil { // nothing may read what will be packed next
			_ = k.call(cuStreamSynchronize, r.stream)
		}
		return err
	})
	if err != nil {
		return nil, 0, errors.Join(err, r.Close())
	}
	return r, off, nil
}

// newResident makes the memory, the stream and the description of so many windows.
func (k *kernel) newResident(windows int) (*resident, error) {
	bytes := windows * k.planner.Size() * k.width
	r := &resident{driver: k.driver, device: k.device, bytes: bytes}
	if err := k.call(cuDevicePrimaryCtxRetain, uintptr(unsafe.Pointer(&r.context)), uintptr(k.device)); err != nil {
		return nil, err
	}
	err := k.bound(func() error {
		const nonBlocking = 1
		if err := k.call(cuStreamCreate, uintptr(unsafe.Pointer(&r.stream)), nonBlocking); err != nil {
			return err
		}
		allocate := func() error {
			return k.call(cuMemAlloc, uintptr(unsafe.Pointer(&r.memory)), uintptr(bytes+3)&^3)
		}
		err := allocate()
		var failed *Error
		if errors.As(err, &failed) && failed.Code == outOfMemory { // once more without what is kept for batches
			for i := range k.slots {
				if err := k.slots[i].release(k.driver); err != nil {
					return err
				}
			}
			err = allocate()
		}
		if errors.As(err, &failed) && failed.Code == outOfMemory {
			err = fmt.Errorf("accel: %d windows need %d MiB of the device at once: %w; hold fewer windows", windows, bytes>>20, failed)
		}
		return err
	})
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	r.describe(append([]int64{int64(windows)}, k.shape...), k.element)
	return r, nil
}

// describe makes the DLTensor.
func (r *resident) describe(shape []int64, element accel.DLType) {
	strides := make([]int64, len(shape))
	n := int64(1)
	for i := len(shape) - 1; i >= 0; i-- {
		strides[i] = n
		n *= shape[i]
	}
	r.tensor = &accel.DLTensor{Device: accel.DLDevice{Kind: accel.DLCUDA, Number: r.device}, NDim: int32(len(shape)), Type: element,
		Shape: &shape[0], Strides: &strides[0]}
	*(*uintptr)(unsafe.Pointer(&r.tensor.Data)) = r.memory // an address of the device, which Go's collector finds nothing at
	r.pin.Pin(r.tensor)
	r.pin.Pin(&shape[0])
	r.pin.Pin(&strides[0])
}

// fill counts batch after batch into the memory.
func (k *kernel) fill(ctx context.Context, r *resident) (off int64, err error) {
	for n := 0; ; n++ {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		b, more := k.planner.Next(k.limit)
		if !more {
			return off, nil
		}
		dropped, err := k.fillBatch(ctx, r, &k.slots[n%2], b)
		if err != nil {
			return 0, err
		}
		off += dropped
		k.planner.Advance(b)
	}
}

// fillBatch queues one batch. The slot's memory is in use until the stream has come by its event.
func (k *kernel) fillBatch(ctx context.Context, r *resident, s *slot, b scatter.Batch) (off int64, err error) {
	if err := s.reserveInput(k.driver, b); err != nil {
		return 0, err
	}
	events, runs := s.room(b)
	nEvents, nRuns, off, err := k.planner.Pack(ctx, b, events, runs)
	if err != nil {
		return 0, err
	}
	to := target{r.memory + uintptr(b.Window*k.planner.Size()*k.width), b.Counts * k.width, r.stream}
	if err := s.begin(k, b, nEvents, nRuns, to); err != nil {
		return 0, err
	}
	return off, s.lend(k.driver, r.stream)
}

// DLTensor describes the counts.
func (r *resident) DLTensor() (*accel.DLTensor, error) {
	if r.context == 0 {
		return nil, accel.ErrReleased
	}
	return r.tensor, nil
}

// Stream returns the CUstream that counts.
func (r *resident) Stream() (uintptr, error) {
	if r.context == 0 {
		return 0, accel.ErrReleased
	}
	return r.stream, nil
}

// Wait waits for the stream.
func (r *resident) Wait() error {
	if r.context == 0 {
		return accel.ErrReleased
	}
	return r.bind(r.context, func() error { return r.call(cuStreamSynchronize, r.stream) })
}

// Read copies the counts back.
func (r *resident) Read(dst []byte) error {
	switch {
	case r.context == 0:
		return accel.ErrReleased
	case len(dst) != r.bytes:
		return fmt.Errorf("accel: room for %d bytes; the counts have %d", len(dst), r.bytes)
	}
	return r.bind(r.context, func() error {
		err := r.call(cuMemcpyDtoHAsync, uintptr(unsafe.Pointer(&dst[0])), r.memory, uintptr(r.bytes), r.stream)
		return errors.Join(err, r.call(cuStreamSynchronize, r.stream))
	})
}

// Close gives the memory, the stream and the context back. It goes on where a call fails, and returns all errors.
func (r *resident) Close() error {
	if r.context == 0 {
		return nil
	}
	var errs []error
	errs = append(errs, r.bind(r.context, func() error {
		if r.stream != 0 {
			errs = append(errs, r.call(cuStreamSynchronize, r.stream))
		}
		if r.memory != 0 {
			errs = append(errs, r.call(cuMemFree, r.memory))
		}
		if r.stream != 0 {
			errs = append(errs, r.call(cuStreamDestroy, r.stream))
		}
		return nil
	}))
	errs = append(errs, r.call(cuDevicePrimaryCtxRelease, uintptr(r.device)))
	r.pin.Unpin()
	r.context, r.stream, r.memory = 0, 0, 0
	return errors.Join(errs...)
}
