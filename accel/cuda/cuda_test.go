package cuda

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/evq-project/evq/accel"
	"github.com/evq-project/evq/accel/acceltest"
)

// The whole way, from a job through the driver's functions to the shipped PTX, counts what every device counts.
func TestConformance(t *testing.T) {
	f := newFake(t)
	acceltest.Run(t, f.device())
	t.Run("tables", func(t *testing.T) { acceltest.RunTables(t, f.device().(accel.Tabler)) })
	s := f.stats()
	if s.PageableUploads > 0 {
		t.Errorf("%d copies from memory that is not pinned would not be asynchronous", s.PageableUploads)
	}
	if s.HastyFrees > 0 {
		t.Errorf("memory was given back %d times while work was queued", s.HastyFrees)
	}
	t.Logf("%d instructions, %d atomics, %d launches", s.Instructions, s.Atomics, s.Launches)
}

// With memory for a few windows only, jobs are cut into many batches.
func TestSmallMemory(t *testing.T) {
	f := newFake(t)
	for seed := range uint64(60) {
		f.do("fakeSeed", uintptr(seed+2))
		c := acceltest.Random(seed)
		f.do("fakeCapacity", uintptr(1<<18+2*c.Grid.Len()))
		acceltest.Check(t, f.device(), c)
	}
}

// Kernels of several goroutines share a driver, and each device has a context of its own.
func TestManyAtOnce(t *testing.T) {
	f := newFake(t)
	first := f.device()
	second, err := accel.Pick([]accel.Device{first}, "cuda:1")
	if err != nil {
		t.Fatal(err)
	}
	if second.Name() != "cuda:1" || first.Name() != "cuda" {
		t.Errorf("names %q and %q", first.Name(), second.Name())
	}
	var wg sync.WaitGroup
	for i := range 6 {
		wg.Go(func() {
			for seed := range uint64(10) {
				acceltest.Check(t, []accel.Device{first, second}[i%2], acceltest.Random(seed+100*uint64(i)))
			}
		})
	}
	wg.Wait()
}

// A window that does not fit is an error that says what to do, and smaller jobs go on.
func TestOutOfMemory(t *testing.T) {
	f := newFake(t)
	f.do("fakeCapacity", 1<<17)
	g := accel.Grid{Bins: 10, Width: 200, Height: 200, Downsample: 1, Cutoff: 10}
	k, err := f.device().Open(g)
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	job := accel.Job{X: make([]uint16, 1), Y: make([]uint16, 1), P: make([]int8, 1), Segments: []accel.Segment{{Len: 1}}, Windows: 1}
	dst := make([]uint8, g.Len())
	_, err = k.Scatter(context.Background(), job, dst)
	var failed *Error
	if !errors.Is(err, accel.ErrFailed) || !errors.As(err, &failed) || failed.Code != outOfMemory || !strings.Contains(err.Error(), "use shorter windows") {
		t.Errorf("a window of %d counts in 128 KiB: %v", g.Len(), err)
	}
	f.do("fakeCapacity", 1<<30)
	if _, err := k.Scatter(context.Background(), job, dst); err != nil || dst[0] != 1 {
		t.Errorf("with memory again: count %d, error %v", dst[0], err)
	}
}

// The PTX is what `make cuda-kernel` makes of the sources as they are.
func TestPTXIsNotStale(t *testing.T) {
	sum := sha256.New()
	for _, name := range []string{"kernel/scatter.cu", "../scatter/kernel/body.h"} {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		sum.Write(bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n")))
	}
	if want := hex.EncodeToString(sum.Sum(nil)); !bytes.Contains(kernelPTX, []byte("sha256 of scatter.cu and body.h: "+want)) {
		t.Error("kernel/scatter.ptx was made from other sources; run make cuda-kernel")
	}
	for _, want := range []string{".version 6.3", ".target sm_75"} {
		if !bytes.Contains(kernelPTX, []byte(want)) {
			t.Errorf("kernel/scatter.ptx has no %q", want)
		}
	}
}

// Outputs beyond 2^31 bytes are written in batches, each to its place.
func TestLargeOutput(t *testing.T) {
	if testing.Short() {
		t.Skip("asks for 2.6 GB of address space")
	}
	f := newFake(t)
	f.do("fakeIdle", 1) // so that only the ends of batches are touched
	g := accel.Grid{Bins: 20, Width: 1280, Height: 1280, Downsample: 1, Cutoff: 10}
	const windows = 40
	job := accel.Job{X: make([]uint16, 1), Y: make([]uint16, 1), P: make([]int8, 1), Windows: windows}
	for w := range windows {
		job.Segments = append(job.Segments, accel.Segment{Window: uint32(w), Len: 1})
	}
	k, err := f.device().Open(g)
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	dst := make([]uint8, windows*g.Len())
	if _, err := k.Scatter(context.Background(), job, dst); err != nil {
		t.Fatal(err)
	}
	for w := range windows {
		if dst[w*g.Len()] != 1 || dst[(w+1)*g.Len()-1] != 1 {
			t.Errorf("window %d at byte %d was not written", w, w*g.Len())
		}
	}
}
