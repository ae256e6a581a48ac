package accel

import (
	"context"
	"errors"
	"testing"
	"time"
)

// slow is a device that only tells who was asked.
type slow struct {
	fake
	perEvent, perCall time.Duration
	fails             error
	asked, closed     *[]string
}

func (s slow) Open(Grid) (Kernel, error) { return s, nil }
func (s slow) Close() error              { *s.closed = append(*s.closed, s.name); return nil }
func (s slow) Cost(events, _ int64) time.Duration {
	return s.perCall + time.Duration(events)*s.perEvent
}
func (s slow) Scatter(context.Context, Job, []uint8) (int64, error) {
	*s.asked = append(*s.asked, s.name)
	return 0, s.fails
}

// Each job goes to the device with the least cost, and none goes again to one that failed. Other errors are the job's own.
func TestAuto(t *testing.T) {
	var asked, closed []string
	gpu := slow{fake{name: "gpu"}, 1, 1000, nil, &asked, &closed}
	host := slow{fake{name: "host"}, 10, 0, nil, &asked, &closed}
	few, many := Job{Segments: []Segment{{Len: 5}}}, Job{Segments: []Segment{{Len: 500}, {Len: 500}}}
	try := func(want error, jobs ...Job) {
		t.Helper()
		asked, closed = nil, nil
		d, err := Pick([]Device{gpu, host}, Auto)
		if err != nil {
			t.Fatal(err)
		}
		k, err := d.Open(Grid{Bins: 1, Width: 4, Height: 4, Downsample: 1, Cutoff: 9})
		if err != nil {
			t.Fatal(err)
		}
		for _, j := range jobs {
			if _, err := k.Scatter(context.Background(), j, nil); !errors.Is(err, want) {
				t.Errorf("%v, want %v", err, want)
			}
		}
		if err := k.Close(); err != nil {
			t.Error(err)
		}
	}
	expect := func(got []string, want ...string) {
		t.Helper()
		if len(got) != len(want) {
			t.Fatalf("%v, want %v", got, want)
		}
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("%v, want %v", got, want)
			}
		}
	}
	try(nil, few, many, few)
	expect(asked, "host", "gpu", "host")
	expect(closed, "gpu", "host")

	gpu.fails = ErrFailed
	try(nil, many, many)
	expect(asked, "gpu", "host", "host")

	bad := errors.New("a polarity of 2")
	gpu.fails = bad
	try(bad, many)
	expect(asked, "gpu")

	gpu.fails, host.fails = ErrFailed, ErrFailed
	try(ErrFailed, many)
	expect(asked, "gpu", "host")
}
