package check_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/evq-project/evq/accel"
	"github.com/evq-project/evq/accel/check"
	"github.com/evq-project/evq/accel/cpu"
	"github.com/evq-project/evq/accel/devices"
)

// Where there is hardware it counts what the processor counts.
func TestHardware(t *testing.T) {
	for _, d := range devices.All {
		if d.Name() == cpu.Device.Name() {
			continue
		}
		t.Run(d.Name(), func(t *testing.T) {
			if err := d.Probe(); err != nil {
				t.Skip(err)
			}
			o := check.Options{Events: 500_000, Sparse: 24, Dense: 2}
			if os.Getenv("EVQ_CUDA_LIB") != "" {
				o = check.Options{Events: 3000, Width: 64, Height: 48, Sparse: 4, Dense: 1, Rounds: 1} // a stand-in, perhaps
			}
			rep, err := check.Run(context.Background(), d, cpu.Device, o)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range rep.Cases {
				if !c.Equal {
					t.Errorf("counts differ: %+v", c)
				}
			}
		})
	}
}

var small = check.Options{Events: 600_000, Width: 64, Height: 48, Sparse: 12, Dense: 2, Rounds: 1}

// A device is equal to itself, in every case, whether windows are in memory at once or not; others are compared with the
// case they measure.
func TestEqual(t *testing.T) {
	var seen []check.Data
	o := small
	o.Reference = func(d check.Data) []check.Peer {
		seen = append(seen, d)
		return []check.Peer{{Name: "wrong", SHA256: "0"}, {Name: "broken", Failure: "no torch"}}
	}
	rep, err := check.Run(context.Background(), cpu.Device, cpu.Device, o)
	if err != nil {
		t.Fatal(err)
	}
	if !rep.Equal() || len(rep.Cases) != 12 || len(seen) != 3 || len(rep.Peers) != 6 || rep.Peers[0].Equal || rep.Peers[1].Equal {
		t.Errorf("%+v", rep)
	}
	sums := map[string]bool{}
	for _, c := range rep.Cases {
		sums[c.SHA256] = true
		if c.Events != 600_000 || c.EndToEnd <= 0 || c.CPU <= 0 || c.Bytes <= 0 {
			t.Errorf("%+v", c)
		}
	}
	// Each set at each resolution, and the hot pixel, which passes 256, by either rule.
	if len(sums) < 8 {
		t.Errorf("only %d different results", len(sums))
	}
	for _, d := range seen {
		end := 0
		for _, w := range d.Windows {
			if w[0] != end || w[1] < w[0] {
				t.Fatalf("%s: windows %v", d.Name, d.Windows)
			}
			end = w[1]
		}
		if end != len(d.T) {
			t.Errorf("%s: the windows end at event %d of %d", d.Name, end, len(d.T))
		}
	}
}

// A wrongful device is off by one in one count of the last window.
type wrongful struct{ accel.Device }

type wrongfulKernel struct{ accel.Kernel }

func (d wrongful) Open(g accel.Grid) (accel.Kernel, error) {
	k, err := d.Device.Open(g)
	return wrongfulKernel{k}, err
}

func (k wrongfulKernel) Scatter(ctx context.Context, job accel.Job, dst []uint8) (int64, error) {
	off, err := k.Kernel.Scatter(ctx, job, dst)
	dst[len(dst)-1]++
	return off, err
}

func TestDiffers(t *testing.T) {
	rep, err := check.Run(context.Background(), wrongful{cpu.Device}, cpu.Device, small)
	if err != nil || rep.Equal() {
		t.Errorf("a wrong count passes, error %v", err)
	}
	for _, c := range rep.Cases {
		if c.Equal {
			t.Errorf("equal: %+v", c)
		}
	}
}

func TestRefuses(t *testing.T) {
	for want, o := range map[string]check.Options{"from 1 on": {Events: -1}, "2^28": {Events: 1 << 30}, "sensor": {Width: 1 << 16}} {
		if _, err := check.Run(context.Background(), cpu.Device, cpu.Device, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}
