package cuda

import (
	"context"
	"errors"
	"testing"

	"github.com/evq-project/evq/accel"
	"github.com/evq-project/evq/accel/acceltest"
	"github.com/evq-project/evq/accel/cpu"
)

// Rates are measured once for each device, and stay.
func TestCalibrate(t *testing.T) {
	f := newFake(t)
	f.do("fakeIdle", 1)
	d := f.device().(accel.Calibrator)
	if d.Cost(1000, 1000) != assumed.Cost(1000, 1000) {
		t.Error("the first cost is not the assumption")
	}
	if err := d.Calibrate(); err != nil {
		t.Fatal(err)
	}
	cost, launches := d.Cost(1<<20, 1<<20), f.stats().Launches
	if cost <= 0 || cost == assumed.Cost(1<<20, 1<<20) {
		t.Errorf("a million of each cost %v", cost)
	}
	if err := d.Calibrate(); err != nil || d.Cost(1<<20, 1<<20) != cost || f.stats().Launches != launches {
		t.Errorf("measured again: %v", err)
	}
	second := d.(accel.Numbered).Number(1).(accel.Coster)
	if second.Cost(1000, 1000) != assumed.Cost(1000, 1000) {
		t.Error("the second device has the first one's rates")
	}
}

// A device that fails when it is measured is given up, and the processor goes on.
func TestCalibrateFails(t *testing.T) {
	f := newFake(t)
	f.fail(symbols[cuLaunchKernel], 1, 719, true)
	d := f.device()
	if err := d.(accel.Calibrator).Calibrate(); !errors.Is(err, accel.ErrFailed) {
		t.Errorf("error %v", err)
	}
	f.fail("", 0, 0, false)
	auto, err := accel.Pick([]accel.Device{d, cpu.Device}, accel.Auto)
	if err != nil {
		t.Fatal(err)
	}
	acceltest.Check(t, auto, acceltest.Random(3))
	k, err := auto.Open(accel.Grid{Bins: 1, Width: 640, Height: 480, Downsample: 1, Cutoff: 9})
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	job := accel.Job{Windows: 1, X: []uint16{5}, Y: []uint16{0}, P: []int8{0}, Segments: []accel.Segment{{Len: 1}}}
	dst := make([]uint8, 2*640*480)
	launches := f.stats().Launches
	for range 20 { // 33 µs each as assumed, so never patience enough; what matters is that the counts are right
		if _, err := k.Scatter(context.Background(), job, dst); err != nil || dst[5] != 1 {
			t.Fatalf("count %d, error %v", dst[5], err)
		}
	}
	if f.stats().Launches != launches {
		t.Error("the device was used")
	}
}
