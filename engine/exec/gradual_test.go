package exec

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/evq-project/evq/accel"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/tensor"
	"github.com/evq-project/evq/udf"
)

// sums is a gradual representation: what it was foretold, the number of its events, and the sum of their times.
type sums struct{ foretold bool }

func (sums) String() string { return "sums" }
func (sums) Layout(event.Geometry) tensor.Layout {
	return tensor.Layout{Name: "sums", Shape: tensor.Shape{4}, DType: tensor.Int64}
}
func (sums) Columns() event.Columns         { return event.ColT }
func (s sums) Gradual() (ok, foretold bool) { return true, s.foretold }
func (s sums) Open(event.Geometry, accel.Device) (udf.Encoder, error) {
	return &sumsEncoder{}, nil
}

type sumsEncoder struct {
	udf.Encoder
	got  [4]int64
	data []byte
}

func (e *sumsEncoder) Begin(_ event.Window, first, last int64, data []byte) error {
	e.got, e.data = [4]int64{first, last}, data
	return nil
}

func (e *sumsEncoder) Add(_ context.Context, b event.Batch) error {
	for _, t := range b.T() {
		e.got[2]++
		e.got[3] += t
	}
	return nil
}

func (e *sumsEncoder) Finish(event.Window) error {
	for i, v := range e.got {
		binary.LittleEndian.PutUint64(e.data[8*i:], uint64(v))
	}
	return nil
}

func (e *sumsEncoder) OffSensor() int64 { return e.got[2] }
func (e *sumsEncoder) Close() error     { return nil }

// Blocks are made with the recording's own times, whatever was foretold, and in no more passes than that takes.
func TestGradualTimes(t *testing.T) {
	times := []int64{3, 4, 4, 9, 11}
	for name, c := range map[string]struct {
		foretold *Span
		reps     []udf.Representation
		times    []int64
		passes   int // beside the first
		want     string
	}{
		"told right":            {&Span{3, 11}, []udf.Representation{sums{true}}, times, 0, "[[3 11 5 31]]"},
		"not told":              {nil, []udf.Representation{sums{true}}, times, 1, "[[3 11 5 31]]"},
		"told a later end":      {&Span{3, 12}, []udf.Representation{sums{true}}, times, 1, "[[3 11 5 31]]"},
		"told an earlier end":   {&Span{3, 4}, []udf.Representation{sums{true}}, times, 1, "[[3 11 5 31]]"},
		"told another begin":    {&Span{2, 11}, []udf.Representation{sums{true}}, times, 1, "[[3 11 5 31]]"},
		"not told, no need":     {nil, []udf.Representation{sums{false}}, times, 0, "[[0 0 5 31]]"},
		"two, one of them asks": {nil, []udf.Representation{sums{false}, sums{true}}, times, 1, "[[3 11 5 31] [3 11 5 31]]"},
		"empty":                 {nil, []udf.Representation{sums{true}}, nil, 1, "[[0 0 0 0]]"},
		"empty, but told":       {&Span{3, 4}, []udf.Representation{sums{true}}, nil, 0, "[[3 4 0 0]]"},
	} {
		for _, size := range []int{1, 2, 100} {
			passes := 0
			again := func() (EventOp, error) { passes++; return &batches{slices.Clone(c.times), size}, nil }
			g := &Gradual{In: &batches{slices.Clone(c.times), size}, Reps: c.reps, Foretold: c.foretold, Times: again, Again: again}
			var got [][]int64
			for {
				b, err := g.Next(context.Background())
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				var v []int64
				for i := range 4 {
					v = append(v, int64(binary.LittleEndian.Uint64(b.Data[8*i:])))
				}
				got = append(got, v)
				if b.Part != len(got)-1 || b.Events != int64(len(c.times)) || b.Events > 0 && (b.Start != 3 || b.End != 11) {
					t.Errorf("%s: block %+v", name, b)
				}
			}
			if fmt.Sprint(got) != c.want || passes != c.passes {
				t.Errorf("%s, in batches of %d: %v in %d more passes, want %s in %d", name, size, got, passes, c.want, c.passes)
			}
			if g.OffSensor() != int64(len(c.times)) {
				t.Errorf("%s: %d events off the sensor; those of another pass count no more", name, g.OffSensor())
			}
			if err := g.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// A recording that is another one when it is read again is an error.
func TestGradualChanged(t *testing.T) {
	g := &Gradual{In: &batches{[]int64{1, 5}, 1}, Reps: []udf.Representation{sums{true}},
		Times: func() (EventOp, error) { return &batches{[]int64{1, 2}, 1}, nil },
		Again: func() (EventOp, error) { return &batches{[]int64{1, 7}, 1}, nil }}
	for range 2 {
		if _, err := g.Next(context.Background()); err == nil || errors.Is(err, io.EOF) {
			t.Errorf("it was accepted: %v", err)
		}
	}
}
