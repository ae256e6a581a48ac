package exec

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evq-project/evq/accel"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/tensor"
	"github.com/evq-project/evq/udf"
)

// Windows on a grid are right up to the farthest times that they reach, and an error beyond.
func TestFarthestTimes(t *testing.T) {
	for _, at := range []int64{-farthest, farthest} {
		for _, b := range []EveryBounds{{Origin: -at}, {FromFirst: true, Origin: at}, {FromFirst: true, Ranged: true, From: -at, To: -at + 10}} {
			b.Length, b.Hop = farthest, farthest
			op := &TimeWindow{In: &batches{[]int64{at}, 1}, Bounds: &b, Max: 10}
			var n int
			for _, w := range collect(t, op) {
				if w.Start > w.End || len(w.T) > 0 && (at < w.Start || at >= w.End) {
					t.Errorf("%d in %v: window %+v", at, b, w)
				}
				n += len(w.T)
			}
			if n != 1 && !b.Ranged {
				t.Errorf("%d in %v: %d events", at, b, n)
			}
		}
	}
	for _, ts := range [][]int64{{-farthest - 1, 0}, {math.MinInt64}, {0, farthest + 1}, {math.MaxInt64}} {
		op := &TimeWindow{In: &batches{ts, 2}, Bounds: &EveryBounds{Length: 10, Hop: 10}, Max: 10}
		var far *OutOfReachError
		if w, err := op.Next(context.Background()); !errors.As(err, &far) {
			t.Errorf("%v: %v, %v", ts, w, err)
		}
	}
	// Windows with given ends only compare.
	op := &TimeWindow{In: &batches{[]int64{math.MinInt64, 5, math.MaxInt64}, 2}, Bounds: &EndsBounds{[]int64{6}, 3}, Max: 10}
	if d := cmp.Diff([]seenWindow{{0, 3, 6, []int64{5}}}, collect(t, op)); d != "" {
		t.Error(d)
	}
}

// A step that passes every recording leaves one window.
func TestHugeStep(t *testing.T) {
	for _, step := range []int64{math.MaxInt64, math.MaxInt64 - 1, math.MaxInt64 / 2} {
		op := &CountWindow{In: &batches{[]int64{1, 2, 3, 4, 5}, 2}, N: 3, Step: step, Max: 10}
		if d := cmp.Diff([]seenWindow{{0, 1, 3, []int64{1, 2, 3}}}, collect(t, op)); d != "" {
			t.Errorf("step %d: %s", step, d)
		}
	}
}

// A refusing representation cannot be opened.
type refusing struct{}

var errRefused = errors.New("refused")

func (refusing) String() string                                         { return "refusing" }
func (refusing) Layout(event.Geometry) tensor.Layout                    { return tensor.Layout{Shape: tensor.Shape{1}} }
func (refusing) Columns() event.Columns                                 { return event.AllColumns }
func (refusing) Open(event.Geometry, accel.Device) (udf.Encoder, error) { return nil, errRefused }

// A representation that cannot start ends with its error, and can be closed.
func TestRepresentThatCannotStart(t *testing.T) {
	r := &Represent{In: WholeRecording(&batches{[]int64{1}, 1}, 10), Reps: []udf.Representation{refusing{}}, Threads: 2}
	for range 2 {
		if _, err := r.Next(t.Context()); !errors.Is(err, errRefused) {
			t.Error(err)
		}
	}
	done := make(chan error)
	go func() { done <- r.Close() }()
	if err := <-done; err != nil {
		t.Error(fmt.Errorf("closing: %w", err))
	}
}
