// Package enginetest holds every way of running a query to one answer.
package enginetest

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/evq-project/evq/accel/devices"
	"github.com/evq-project/evq/engine"
	"github.com/evq-project/evq/io/tensor"
	"github.com/evq-project/evq/plan/optimize"
)

// Agree runs q as written (by the plain hash group, where it is one), with all rules, with each rule left
// out, with one and with several goroutines, and on every device that can run; it fails where two answers
// differ, and returns the answer.
func Agree(t testing.TB, q engine.Tensors) []tensor.Block {
	t.Helper()
	want := run(t, "unoptimised", q, engine.Rules())
	check := func(how string, opts ...engine.Option) {
		t.Helper()
		if diff := Diff(want, run(t, how, q, opts...)); diff != "" {
			t.Errorf("%s differs from the plan as written: %s", how, diff)
		}
	}
	check("with all rules")
	check("on one goroutine", engine.Threads(1))
	check("on five goroutines", engine.Threads(5))
	for _, r := range optimize.Default {
		check("without "+r.Name, engine.WithoutRule(r.Name))
	}
	for _, d := range devices.All {
		if err := d.Probe(); err != nil {
			t.Logf("%s: %v", d.Name(), err)
			continue
		}
		check("on "+d.Name(), engine.Device(d.Name()))
	}
	return want
}

func run(t testing.TB, how string, q engine.Tensors, opts ...engine.Option) []tensor.Block {
	t.Helper()
	got, err := q.Collect(context.Background(), opts...)
	if err != nil {
		t.Fatalf("%s: %v", how, err)
	}
	return got
}

// Diff names the first difference of two answers, or returns "".
func Diff(a, b []tensor.Block) string {
	if len(a) != len(b) {
		return fmt.Sprintf("%d blocks and %d", len(a), len(b))
	}
	for i := range a {
		x, y := a[i], b[i]
		if x.Index != y.Index || x.Start != y.Start || x.End != y.End || x.Events != y.Events {
			return fmt.Sprintf("block %d: window %d [%d, %d] of %d events and window %d [%d, %d] of %d",
				i, x.Index, x.Start, x.End, x.Events, y.Index, y.Start, y.End, y.Events)
		}
		if !x.Shape.Equal(y.Shape) || x.DType != y.DType {
			return fmt.Sprintf("block %d: %v %v and %v %v", i, x.Shape, x.DType, y.Shape, y.DType)
		}
		if bytes.Equal(x.Data, y.Data) {
			continue
		}
		for j := range x.Data {
			if x.Data[j] != y.Data[j] {
				return fmt.Sprintf("block %d, byte %d of shape %v: %d and %d", i, j, x.Shape, x.Data[j], y.Data[j])
			}
		}
	}
	return ""
}
