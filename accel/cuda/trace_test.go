package cuda

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/evq-project/evq/accel"
	"github.com/evq-project/evq/accel/acceltest"
	"github.com/evq-project/evq/accel/check"
	"github.com/evq-project/evq/accel/cpu"
)

// A traced job counts the same, and has the stages of all its batches in order.
func TestTrace(t *testing.T) {
	f := newFake(t)
	f.do("fakeCapacity", 1<<17)
	for _, clips := range []bool{false, true} {
		c := manyBatches()
		c.Grid.Wrap = clips
		want, _ := acceltest.Want(c.Grid, c.Job)
		k, err := f.device().Open(c.Grid)
		if err != nil {
			t.Fatal(err)
		}
		got := make([]byte, len(want))
		stages, err := k.(accel.Tracer).Trace(context.Background(), c.Job, got)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("traced: error %v, right %v", err, bytes.Equal(got, want))
		}
		names := []string{"pack", "clear", "upload", "count", "clip", "download"}
		if !clips {
			names = []string{"pack", "clear", "upload", "count", "download"}
		}
		if len(stages) != len(names) {
			t.Fatalf("stages %v", stages)
		}
		for i, s := range stages {
			if s.Name != names[i] || s.Took < 0 || s.Name == "count" && s.Took == 0 {
				t.Errorf("stage %d is %v, want %s", i, s, names[i])
			}
		}
		events := f.stats().LiveEvent
		if _, err := k.Scatter(context.Background(), c.Job, got); err != nil || events != 0 || f.stats().LiveEvent != 0 {
			t.Errorf("after that: %v, %d events", err, events)
		}
		if err := k.Close(); err != nil {
			t.Error(err)
		}
	}
}

// Each call for the times fails in turn.
func TestEveryCallOfTraceFailing(t *testing.T) {
	f := newFake(t)
	c := manyBatches()
	f.do("fakeCapacity", 1<<17)
	for _, name := range []function{cuEventCreate, cuEventRecord, cuEventElapsedTime, cuEventDestroy, cuCtxSetCurrent} {
		for nth := 1; ; nth++ {
			before := f.stats().Faults
			k, err := f.device().Open(c.Grid)
			if err != nil {
				t.Fatal(err)
			}
			f.fail(symbols[name], nth, 1, false)
			_, err = k.(accel.Tracer).Trace(context.Background(), c.Job, make([]byte, c.Job.Windows*c.Grid.Len()))
			f.fail("", 0, 0, false)
			happened := f.stats().Faults > before
			var failed *Error
			if happened && (!errors.As(err, &failed) || failed.Call != symbols[name]) {
				t.Errorf("call %d of %s failed with %v", nth, symbols[name], err)
			}
			if err := k.Close(); err != nil {
				t.Error(err)
			}
			if s := f.stats(); s.live() > 0 {
				t.Fatalf("after call %d of %s: %+v", nth, symbols[name], s)
			}
			if !happened {
				break
			}
		}
	}
}

// The stand-in passes the check that hardware is held to.
func TestCheck(t *testing.T) {
	f := newFake(t)
	rep, err := check.Run(context.Background(), f.device(), cpu.Device, check.Options{Events: 6000, Width: 64, Height: 48, Sparse: 5, Dense: 1, Rounds: 2})
	if err != nil || !rep.Equal() || len(rep.Cases) != 15 {
		t.Fatalf("error %v, report %+v", err, rep)
	}
	if h := rep.Hardware; h.Name != "stand-in 0" || h.Capability != "7.5" || h.Bandwidth != 256e9 || h.Memory != 8<<30 {
		t.Errorf("%+v", h)
	}
	for _, c := range rep.Cases {
		if c.Kernel <= 0 || c.Floor <= 0 || c.EndToEnd <= 0 || c.Resident <= 0 {
			t.Errorf("%+v", c)
		}
	}
}

// What the driver says of a device may fail.
func TestDescribeFails(t *testing.T) {
	f := newFake(t)
	for _, name := range []function{cuDeviceGetName, cuDeviceTotalMem, cuDeviceGetAttribute} {
		for nth := 1; nth <= 2; nth++ {
			before := f.stats().Faults
			f.fail(symbols[name], nth, 1, false)
			var failed *Error
			if _, err := f.device().(accel.Described).Describe(); f.stats().Faults > before && (!errors.As(err, &failed) || failed.Call != symbols[name]) {
				t.Errorf("call %d of %s failed with %v", nth, symbols[name], err)
			}
		}
	}
}
