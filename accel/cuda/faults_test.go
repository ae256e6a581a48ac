package cuda

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/evq-project/evq/accel"
	"github.com/evq-project/evq/accel/acceltest"
	"github.com/evq-project/evq/accel/cpu"
)

// manyBatches is a job that takes several batches where there is memory for one window at a time, and clips.
func manyBatches() acceltest.Case {
	g := accel.Grid{Bins: 2, Width: 64, Height: 64, Downsample: 1, Cutoff: 3, Wrap: true}
	n := 600
	job := accel.Job{X: make([]uint16, n), Y: make([]uint16, n), P: make([]int8, n), Windows: 4}
	for i := range n {
		job.X[i], job.Y[i], job.P[i] = uint16(i*i%9), uint16(i%5), int8(i%2)
	}
	for w := range 4 {
		job.Segments = append(job.Segments, accel.Segment{Window: uint32(w), Bin: uint32(w % 2), Start: uint32(100 * w), Len: 250})
	}
	return acceltest.Case{Name: "many batches", Grid: g, Job: job}
}

var errDiffers = errors.New("counts differ, and there is no error")

// count goes the whole way with a device, and returns the first error, or errDiffers.
func count(d accel.Device, c acceltest.Case, want []uint8) error {
	if err := d.Probe(); err != nil {
		return err
	}
	k, err := d.Open(c.Grid)
	if err != nil {
		return err
	}
	dst := make([]uint8, len(want))
	_, err = k.Scatter(context.Background(), c.Job, dst)
	if err == nil && !bytes.Equal(dst, want) {
		err = errDiffers
	}
	return errors.Join(err, k.Close())
}

// once is count, but counts that differ fail the test.
func once(t *testing.T, d accel.Device, c acceltest.Case) error {
	t.Helper()
	want, _ := acceltest.Want(c.Grid, c.Job)
	err := count(d, c, want)
	if errors.Is(err, errDiffers) {
		t.Error(err)
	}
	return err
}

// Each call of each function fails in turn. The error names the call and the code, nothing is left behind, and the next
// job is right.
func TestEveryCallFailing(t *testing.T) {
	f := newFake(t)
	c := manyBatches()
	f.do("fakeCapacity", 1<<17)
	calls := 0
	for _, name := range symbols[:cuGetErrorName] {
		for nth := 1; ; nth++ {
			before := f.stats()
			f.fail(name, nth, 1, false)
			err := once(t, f.device(), c)
			f.fail("", 0, 0, false)
			if f.stats().Faults == before.Faults {
				if nth == 1 {
					t.Errorf("%s is never called", name)
				}
				break
			}
			calls++
			var failed *Error
			if !errors.As(err, &failed) || failed.Call != name || failed.Code != 1 {
				t.Errorf("call %d of %s failed with %v", nth, name, err)
			} else if !strings.Contains(err.Error(), name+": CUDA_ERROR_INVALID_VALUE (1)") {
				t.Errorf("the error of %s reads %q", name, err)
			}
			if name == symbols[cuDevicePrimaryCtxRelease] {
				f.do(name, 0) // as the driver does when the process ends
			}
			after := f.stats()
			if after.live() > 0 {
				t.Fatalf("after call %d of %s: %+v", nth, name, after)
			}
			// What cannot be given back one by one goes with the context.
			giving := strings.Contains(name, "Free") || strings.Contains(name, "Destroy") || strings.Contains(name, "Unload") ||
				strings.Contains(name, "Release") || strings.Contains(name, "SetCurrent")
			if after.Left > before.Left && !giving {
				t.Errorf("after call %d of %s, %d things were left to the context", nth, name, after.Left-before.Left)
			}
			if err := once(t, f.device(), c); err != nil {
				t.Fatalf("the job after call %d of %s: %v", nth, name, err)
			}
		}
	}
	t.Logf("%d calls failed in turn", calls)
}

// Memory that is short for a moment costs a smaller batch, and no error.
func TestMemoryShortForAMoment(t *testing.T) {
	f := newFake(t)
	c := manyBatches()
	for nth := 1; nth <= 3; nth++ {
		for _, f1 := range []function{cuMemAlloc, cuMemHostAlloc} {
			before := f.stats().Faults
			f.fail(symbols[f1], nth, outOfMemory, false)
			if err := once(t, f.device(), c); err != nil {
				t.Errorf("allocation %d by %s: %v", nth, symbols[f1], err)
			}
			if nth == 1 && f.stats().Faults == before {
				t.Errorf("%s was not called", symbols[f1])
			}
		}
	}
}

// Where memory is short for good, batches are halved until they fit.
func TestHalvedBatches(t *testing.T) {
	f := newFake(t)
	c := manyBatches()
	k, err := f.device().Open(c.Grid) // with room for all windows at once
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	want, _ := acceltest.Want(c.Grid, c.Job)
	f.do("fakeCapacity", 1<<16+uintptr(c.Grid.Len())) // now for one and its events, in one slot
	for range 2 {
		dst := make([]uint8, len(want))
		if _, err := k.Scatter(context.Background(), c.Job, dst); err != nil || !bytes.Equal(dst, want) {
			t.Errorf("error %v, right %v", err, bytes.Equal(dst, want))
		}
	}
	if peak := f.stats().PeakBytes; peak > 1<<16+uint64(c.Grid.Len()) {
		t.Errorf("%d bytes in use", peak)
	}
}

// cheap makes a device the first choice of auto.
type cheap struct{ accel.Device }

func (cheap) Cost(int64, int64) time.Duration { return 0 }

// A device that is lost in the middle of a job is an error where it was asked for by name; with auto the processor counts
// the job and all after it.
func TestLostDevice(t *testing.T) {
	f := newFake(t)
	c := manyBatches()
	for _, name := range []function{cuDevicePrimaryCtxRetain, cuModuleLoadDataEx, cuMemAlloc, cuMemcpyHtoDAsync, cuLaunchKernel, cuStreamSynchronize} {
		t.Run(symbols[name], func(t *testing.T) {
			all := []accel.Device{cheap{f.device()}, cpu.Device}
			f.fail(symbols[name], 1, 999, true)
			if err := once(t, f.device(), c); !errors.Is(err, accel.ErrFailed) {
				t.Errorf("asked for by name: %v", err)
			}
			f.fail(symbols[name], 1, 999, true)
			d, err := accel.Pick(all, accel.Auto)
			if err != nil {
				t.Fatal(err)
			}
			if d.Name() != "cuda or cpu" {
				t.Errorf("auto is %q", d.Name())
			}
			k, err := d.Open(c.Grid)
			if err != nil {
				t.Fatal(err)
			}
			launches := f.stats().Launches
			want, _ := acceltest.Want(c.Grid, c.Job)
			for range 3 {
				dst := bytes.Repeat([]byte{0x77}, len(want))
				if _, err := k.Scatter(context.Background(), c.Job, dst); err != nil || !bytes.Equal(dst, want) {
					t.Errorf("with auto: error %v, right %v", err, bytes.Equal(dst, want))
				}
				f.fail("", 0, 0, false)
			}
			if n := f.stats().Launches - launches; n > 2 {
				t.Errorf("%d launches: the device was asked again after it was lost", n)
			}
			if err := k.Close(); err != nil {
				t.Error(err)
			}
			for range f.stats().LiveContext { // what a lost device could not give back
				f.do(symbols[cuDevicePrimaryCtxRelease], 0)
			}
		})
	}
}

// A kernel that writes out of bounds ends in the driver's error, at the first call that waits for it.
func TestBadKernel(t *testing.T) {
	f := newFake(t)
	c := manyBatches()
	for what, change := range map[string][2]string{
		"an address too far": {"and.b32  \t%r52, %r74, -4;", "or.b32  \t%r52, %r74, 2147483644;"},
		"no PTX at all":      {".version 6.3", "hello"},
		"no such function":   {".entry evq_clip(", ".entry evq_clap("},
	} {
		t.Run(what, func(t *testing.T) {
			text := strings.Replace(string(kernelPTX), change[0], change[1], 1)
			if text == string(kernelPTX) {
				t.Skipf("the PTX has no %q", change[0])
			}
			err := once(t, New(Options{Library: f.path, Kernel: writePTX(t, text)}), c)
			f.fail("", 0, 0, false)
			for range f.stats().LiveContext {
				f.do(symbols[cuDevicePrimaryCtxRelease], 0)
			}
			if !errors.Is(err, accel.ErrFailed) {
				t.Error(err)
			}
			t.Log(fmt.Sprint(err))
		})
	}
}
