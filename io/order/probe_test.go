package order

import (
	"context"
	"errors"
	"testing"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
)

// A spy remembers the buffers it hands out.
type spy struct {
	Input
	given map[*event.Buffer]bool
}

func (s *spy) Next(ctx context.Context) (*event.Buffer, error) {
	b, err := s.Input.Next(ctx)
	if err == nil {
		s.given[b] = true
	}
	return b, err
}

func TestRestartsOnce(t *testing.T) {
	in := jitter(5, 20_000, 100, 50_000, 0.01)
	s := &tape{events: in, batch: 100}
	o := Options{Policy: Sort, Memory: 1 << 20, TempDir: tempDir(t), Learned: &Learned{}, Whole: true, Restartable: true}
	var rep event.Report
	if _, err := drainOnce(t, s, o, &rep); !errors.Is(err, event.ErrRestart) {
		t.Fatalf("a step of 50 ms under a horizon of 10: %v", err)
	}
	step, known := o.Learned.Step()
	if !known || step <= 10_000 || step > 50_000 {
		t.Errorf("learned %d, %v", step, known)
	}
	if _, err := drainOnce(t, s, o, &rep); err != nil {
		t.Errorf("after the restart: %v", err)
	}
	o.Whole, o.Learned = false, &Learned{} // a part shows nothing of the whole: no restart, but a probe
	if _, err := drainOnce(t, s, o, &rep); err != nil || s.probes != 1 {
		t.Errorf("a part: %v, %d probes", err, s.probes)
	}
}

func TestChangedRecording(t *testing.T) {
	o := Options{Policy: Sort, Memory: 1 << 20, Learned: &Learned{}}
	o.Learned.Set(0)
	if _, err := drain(t, &tape{events: times(1, 2, 9, 3), batch: 1}, o, &event.Report{}); !errors.Is(err, errChanged) {
		t.Errorf("disorder in a recording known to be in order: %v", err)
	}
}

// What was decoded before an error comes first, in order; then the error.
func TestInputError(t *testing.T) {
	broken := errors.New("broken")
	in := jitter(6, 5000, 2, 3000, 0.5)
	want, _ := oracle(in)
	for _, memory := range []int64{1, 1 << 20} {
		for _, restartable := range []bool{false, true} {
			o := Options{Policy: Sort, Memory: memory, TempDir: tempDir(t), Learned: &Learned{}, Whole: true, Restartable: restartable}
			got, err := drain(t, &tape{events: in, batch: 100, fail: broken}, o, &event.Report{})
			if !errors.Is(err, broken) {
				t.Fatalf("%v", err)
			}
			if d := eventtest.Diff(got, want); d != "" {
				t.Errorf("memory %d: %s", memory, d)
			}
		}
	}
}
