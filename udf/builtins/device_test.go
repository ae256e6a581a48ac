package builtins

import (
	"bytes"
	"context"
	"testing"

	"github.com/evq-project/evq/accel"
	"github.com/evq-project/evq/accel/acceltest/hosted"
	"github.com/evq-project/evq/accel/cpu"
	"github.com/evq-project/evq/accel/scatter"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/tensor"
	"github.com/evq-project/evq/udf"
)

// counting tells whether a device counted.
type counting struct {
	hosted.Device
	opened *int
}

func (d counting) Open(g accel.Grid) (accel.Kernel, error) {
	*d.opened++
	return d.Device.Open(g)
}

func (d counting) OpenTable(t accel.Table) (accel.Kernel, error) {
	*d.opened++
	return d.Device.OpenTable(t)
}

// What a device counts is what the processor counts, byte for byte, with the events off the sensor and the notes. The
// device is the kernel's source compiled for the processor.
func TestOnDevice(t *testing.T) {
	const kernels = "../../accel/cuda/kernel/"
	library := hosted.Compile(t, t.TempDir(), []string{"-std=c++17", "-I", kernels, "-I", "../../accel/scatter/kernel"}, kernels+"host.cpp")
	opened := 0
	d := counting{hosted.Open(t, library, hosted.Device{Threads: 64, Workers: 2, Limit: scatter.Limit{Counts: 1 << 30, Events: 1 << 30}}), &opened}
	b := recording(5, 6000, -300_000)
	w := windows(b, 40_000)
	w.Windows = append(w.Windows, event.Window{Lo: 7, Hi: 7}, event.Window{Lo: 0, Hi: 4}, event.Window{Lo: 50, Hi: b.Len(), Start: b.T()[50] - 9, End: b.T()[b.Len()-1] + 9})
	for call, on := range map[string]bool{
		"event_count": true, "event_frame": true, "event_frame:bins=7": true, "event_frame:bins=5,variant=tonic": true,
		"event_frame:bins=3,signed=true": true, "event_frame:signed=true,cutoff=2": true, "event_frame:bins=2,signed=true,mode=binary": true,
		"event_frame:bins=4,cutoff=3": true, "event_frame:mode=binary,timebase=window": true, "rvt": true, "sae": false, "voxel_grid": false,
	} {
		rep := made(t, call)
		opened = 0
		got := encoded(t, rep, d, w)
		if (opened > 0) != on {
			t.Errorf("%s: counted on the device: %v", call, opened > 0)
		}
		want := encoded(t, rep, cpu.Device, w)
		for i := range want.blocks {
			if !bytes.Equal(got.blocks[i], want.blocks[i]) {
				t.Errorf("%s: window %d has other bytes on the device", call, i)
			}
		}
		if got.off != want.off || len(got.notes) != len(want.notes) || len(want.notes) > 0 && got.notes[0] != want.notes[0] {
			t.Errorf("%s: %d events off the sensor and %q, want %d and %q", call, got.off, got.notes, want.off, want.notes)
		}
	}
}

type outcome struct {
	blocks [][]byte
	off    int64
	notes  []string
}

// encoded encodes windows, twice on one encoder, on a device.
func encoded(t *testing.T, rep udf.Representation, d accel.Device, w event.Windowed) (o outcome) {
	t.Helper()
	e, err := rep.Open(sensor, d)
	if err != nil {
		t.Fatal(err)
	}
	var blocks []tensor.Block
	for range w.Windows {
		blocks = append(blocks, tensor.Block{Data: bytes.Repeat([]byte{0x5a}, rep.Layout(sensor).Bytes())})
	}
	for range 2 {
		if err := e.Encode(context.Background(), w, blocks); err != nil {
			t.Fatalf("%v on %s: %v", rep, d.Name(), err)
		}
	}
	for _, b := range blocks {
		o.blocks = append(o.blocks, b.Data)
	}
	o.off = e.OffSensor()
	if n, ok := e.(udf.Noter); ok {
		o.notes = n.Notes()
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	return o
}
