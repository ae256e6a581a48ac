package cuda

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"unsafe"

	"github.com/evq-project/evq/accel"
	"github.com/evq-project/evq/accel/acceltest"
)

// bytesOf reads counts on the stand-in's device, as a consumer on the same stream would.
func (f *fake) bytesOf(r accel.Resident) []byte {
	f.t.Helper()
	d, err := r.DLTensor()
	if err != nil {
		f.t.Fatal(err)
	}
	n := int(d.Type.Bits) / 8
	for _, l := range unsafe.Slice(d.Shape, d.NDim) {
		n *= int(l)
	}
	at, err := f.library.Symbol("fakePeek")
	if err != nil {
		f.t.Fatal(err)
	}
	out := make([]byte, n)
	if err := peek(at, d, out); err != 0 {
		f.t.Fatalf("%d bytes at %v are none of the device's", n, d.Data)
	}
	return out
}

// hold counts a job on a device and reads what stays there.
func hold(f *fake, k accel.Kernel, job accel.Job) ([]byte, error) {
	r, _, err := k.(accel.Holder).Hold(context.Background(), job)
	if err != nil {
		return nil, err
	}
	if err := r.Wait(); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return f.bytesOf(r), r.Close()
}

// What stays on the device is what Scatter copies back, from batches of any size.
func TestHold(t *testing.T) {
	f := newFake(t)
	before := f.stats()
	for seed := range uint64(80) {
		f.do("fakeSeed", uintptr(seed+2))
		c := acceltest.Random(seed)
		f.do("fakeCapacity", uintptr(1<<19+(c.Job.Windows+2)*c.Grid.Len()))
		k, err := f.device().Open(c.Grid)
		if err != nil {
			t.Fatal(err)
		}
		want, wantOff := acceltest.Want(c.Grid, c.Job)
		r, off, err := k.(accel.Holder).Hold(context.Background(), c.Job)
		if c.Job.Windows == 0 {
			if err == nil || !strings.Contains(err.Error(), "no windows") {
				t.Errorf("no windows: %v", err)
			}
			_ = k.Close()
			continue
		}
		if err != nil || off != wantOff {
			t.Fatalf("%s: %d off the sensor, want %d; error %v", c.Name, off, wantOff, err)
		}
		// The slots' memory is packed again at once; the kernel goes before its counts.
		dst := make([]byte, len(want))
		if _, err := k.Scatter(context.Background(), c.Job, dst); err != nil || !bytes.Equal(dst, want) {
			t.Errorf("%s: Scatter after Hold: %v", c.Name, err)
		}
		if err := errors.Join(k.Close(), r.Wait()); err != nil {
			t.Error(err)
		}
		if got := f.bytesOf(r); !bytes.Equal(got, want) {
			t.Errorf("%s: %+v: the counts on the device differ", c.Name, c.Grid)
		}
		clear(dst)
		if err := r.Read(dst); err != nil || !bytes.Equal(dst, want) {
			t.Errorf("%s: copied back, they differ; error %v", c.Name, err)
		}
		if err := r.Read(dst[1:]); err == nil {
			t.Error("room for less was accepted")
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	if s := f.stats(); s.HastyFrees > before.HastyFrees || s.PageableUploads > before.PageableUploads {
		t.Errorf("%+v", s)
	}
}

// The description is DLPack's: shape, strides, type, device, and an address that is not the processor's.
func TestDLTensor(t *testing.T) {
	f := newFake(t)
	second, err := accel.Pick([]accel.Device{f.device()}, "cuda:1")
	if err != nil {
		t.Fatal(err)
	}
	tb := accel.Table{Bins: 3, Width: 10, Height: 7, TileX: 4, TileY: 2, Polarity: accel.Signed}
	k, err := second.(accel.Tabler).OpenTable(tb)
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	job := accel.Job{X: []uint16{9, 1}, Y: []uint16{6, 1}, P: []int8{0, 1}, Windows: 2, Segments: []accel.Segment{{Window: 1, Bin: 2, Len: 2}}}
	r, _, err := k.(accel.Holder).Hold(context.Background(), job)
	if err != nil {
		t.Fatal(err)
	}
	d, err := r.DLTensor()
	if err != nil {
		t.Fatal(err)
	}
	shape, strides := unsafe.Slice(d.Shape, d.NDim), unsafe.Slice(d.Strides, d.NDim)
	for i, want := range [][2]int64{{2, 36}, {3, 12}, {4, 3}, {3, 1}} {
		if int(d.NDim) != 4 || shape[i] != want[0] || strides[i] != want[1] {
			t.Fatalf("shape %v, strides %v", shape, strides)
		}
	}
	if d.Device != (accel.DLDevice{Kind: accel.DLCUDA, Number: 1}) || d.Type != (accel.DLType{Code: accel.DLInt, Bits: 32, Lanes: 1}) || d.ByteOffset != 0 {
		t.Errorf("%+v", *d)
	}
	// dlpack.h on 64 bits: data, device, ndim, dtype, shape, strides, byte_offset.
	for i, at := range []uintptr{unsafe.Offsetof(d.Device), unsafe.Offsetof(d.NDim), unsafe.Offsetof(d.Type), unsafe.Offsetof(d.Shape),
		unsafe.Offsetof(d.Strides), unsafe.Offsetof(d.ByteOffset), unsafe.Sizeof(*d)} {
		if want := []uintptr{8, 16, 20, 24, 32, 40, 48}[i]; at != want {
			t.Errorf("field %d of DLTensor lies at %d, want %d", i, at, want)
		}
	}
	if stream, err := r.Stream(); err != nil || stream == 0 {
		t.Errorf("stream %d, %v", stream, err)
	}
	if err := r.Wait(); err != nil {
		t.Fatal(err)
	}
	want, _ := acceltest.WantTable(tb, job)
	if got := f.bytesOf(r); !bytes.Equal(got, want) {
		t.Errorf("counts %v, want %v", got, want)
	}
	// After Close there is nothing to use.
	if err := errors.Join(r.Close(), r.Close()); err != nil {
		t.Error(err)
	}
	_, tensorErr := r.DLTensor()
	_, streamErr := r.Stream()
	for _, err := range []error{tensorErr, streamErr, r.Wait(), r.Read(nil)} {
		if !errors.Is(err, accel.ErrReleased) {
			t.Errorf("after Close: %v", err)
		}
	}
}

// Each call of each function fails in turn: an error that names it, nothing left behind, and the next job is right.
func TestEveryCallOfHoldFailing(t *testing.T) {
	f := newFake(t)
	c := manyBatches()
	want, _ := acceltest.Want(c.Grid, c.Job)
	f.do("fakeCapacity", 1<<18)
	try := func() error {
		k, err := f.device().Open(c.Grid)
		if err != nil {
			return err
		}
		got, err := hold(f, k, c.Job)
		if err == nil && !bytes.Equal(got, want) {
			t.Error("the counts on the device differ")
		}
		if err == nil { // once more into the slots that were lent
			_, err = hold(f, k, c.Job)
		}
		return errors.Join(err, k.Close())
	}
	failures := 0
	for _, name := range []function{cuDevicePrimaryCtxRetain, cuStreamCreate, cuMemAlloc, cuMemHostAlloc, cuMemsetD8Async, cuMemcpyHtoDAsync,
		cuLaunchKernel, cuEventCreate, cuEventRecord, cuEventSynchronize, cuStreamSynchronize, cuStreamDestroy, cuEventDestroy, cuMemFree,
		cuDevicePrimaryCtxRelease, cuCtxSetCurrent} {
		for nth := 1; ; nth++ {
			before := f.stats().Faults
			f.fail(symbols[name], nth, 1, false)
			err := try()
			f.fail("", 0, 0, false)
			if f.stats().Faults == before {
				if nth == 1 {
					t.Errorf("%s is never called", symbols[name])
				}
				break
			}
			failures++
			var failed *Error
			if !errors.As(err, &failed) || failed.Call != symbols[name] {
				t.Errorf("call %d of %s failed with %v", nth, symbols[name], err)
			}
			for range f.stats().LiveContext { // a reference that could not be given back keeps the context alive
				if name != cuDevicePrimaryCtxRelease {
					t.Errorf("after call %d of %s: %+v", nth, symbols[name], f.stats())
				}
				f.do(symbols[cuDevicePrimaryCtxRelease], 0)
			}
			if s := f.stats(); s.live() > 0 {
				t.Fatalf("after call %d of %s: %+v", nth, symbols[name], s)
			}
		}
	}
	t.Logf("%d calls failed in turn", failures)
}

// Too little memory is an error that says how much is needed.
func TestHoldOutOfMemory(t *testing.T) {
	f := newFake(t)
	c := manyBatches()
	f.do("fakeCapacity", 1<<15)
	k, err := f.device().Open(c.Grid)
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	if _, err := hold(f, k, c.Job); !errors.Is(err, accel.ErrFailed) || !strings.Contains(err.Error(), "hold fewer windows") {
		t.Errorf("64 KiB of counts in 32 KiB: %v", err)
	}
	f.do("fakeCapacity", 1<<20)
	if _, err := hold(f, k, c.Job); err != nil {
		t.Error(err)
	}
}

// Cancelled, or refused, nothing is held.
func TestHoldRefuses(t *testing.T) {
	f := newFake(t)
	c := manyBatches()
	k, err := f.device().Open(c.Grid)
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := k.(accel.Holder).Hold(ctx, c.Job); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	bad := c.Job
	bad.P = append([]int8{7}, bad.P[1:]...)
	if _, _, err := k.(accel.Holder).Hold(context.Background(), bad); err == nil || !strings.Contains(err.Error(), "polarity 7") {
		t.Errorf("an odd polarity: %v", err)
	}
	bad.Segments = []accel.Segment{{Window: 9, Len: 1}}
	if _, _, err := k.(accel.Holder).Hold(context.Background(), bad); err == nil {
		t.Error("a window too many was accepted")
	}
}
