package order

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
)

func times(t ...int64) event.Batch {
	b := event.NewBuffer(len(t))
	for i, v := range t {
		b.Append(v, uint16(i), uint16(2*i), int8(i&1))
	}
	return b.Batch()
}

// inPlaceOracle treats one event after the other.
func inPlaceOracle(b event.Batch, p Policy) event.Batch {
	out, now := event.NewBuffer(b.Len()), int64(math.MinInt64)
	for i, t := range b.T() {
		if p == Keep {
			out.Append(t, b.X()[i], b.Y()[i], b.P()[i])
			continue
		}
		if t < now && p == Drop {
			continue
		}
		now = max(now, t)
		out.Append(now, b.X()[i], b.Y()[i], b.P()[i])
	}
	return out.Batch()
}

func TestInPlacePolicies(t *testing.T) {
	for _, in := range []event.Batch{
		{}, times(5), times(1, 1, 1), times(3, 2, 1, 0, -1), times(math.MaxInt64, math.MinInt64, 0), times(math.MinInt64, math.MaxInt64, math.MinInt64),
		jitter(1, 5000, 3, 0, 0), jitter(2, 5000, 3, 10, 0.01), jitter(3, 5000, 3, 1<<40, 1),
	} {
		_, late := oracle(in)
		for _, p := range []Policy{Clamp, Drop, Keep} {
			for _, batch := range []int{1, 10, 10_000} {
				var rep event.Report
				got, err := drain(t, &tape{events: in, batch: batch}, Options{Policy: p}, &rep)
				if err != nil {
					t.Fatal(err)
				}
				if d := eventtest.Diff(got, inPlaceOracle(in, p)); d != "" {
					t.Errorf("%s, %d events, batches of %d: %s", p, in.Len(), batch, d)
				}
				if u := rep.Get(event.Unsorted); u.N != late || rep.Lost() != (late > 0 && p == Drop) {
					t.Errorf("%s: %+v, want %d", p, u, late)
				}
			}
		}
	}
}

func TestErrorPolicy(t *testing.T) {
	var rep event.Report
	for _, batch := range []int{1, 2, 3, 100} {
		s := &tape{events: times(10, 20, 15, 30, 1), batch: batch, steady: true}
		_, err := drain(t, s, Options{Policy: Error}, &rep)
		var u *UnsortedError
		if !errors.As(err, &u) || u.Index != 2 || u.Step != 5 {
			t.Fatalf("batches of %d: %v", batch, err)
		}
		if !strings.Contains(err.Error(), "--on-unsorted") || !strings.Contains(err.Error(), "event 2") {
			t.Errorf("no hint in %q", err)
		}
	}
	if _, err := drain(t, &tape{events: times(1, 1, 2), batch: 2}, Options{Policy: Error}, &rep); err != nil {
		t.Error(err)
	}
	if _, err := drain(t, &tape{}, Options{Policy: "shuffle"}, &rep); err == nil {
		t.Error("an unknown policy was taken")
	}
}

func TestClockSees(t *testing.T) {
	var c clock
	l := c.see([]int64{5, 3, 9, 8, 9})
	if l != (late{n: 2, first: 1, firstStep: 2, step: 2}) {
		t.Errorf("%+v", l)
	}
	if l = c.see([]int64{9, 10}); l.n != 0 || c.now() != 10 {
		t.Errorf("%+v", l)
	}
	if l = c.see([]int64{math.MinInt64}); l != (late{n: 1, first: 7, firstStep: math.MaxInt64, step: math.MaxInt64}) {
		t.Errorf("%+v", l)
	}
	for n := range 40 { // every place of a descent in the unrolled loop
		in := make([]int64, 40)
		for i := range in {
			in[i] = int64(i)
		}
		in[n]--
		if got := ascends(0, in); got != (n > 0) {
			t.Errorf("descent at %d: %v", n, got)
		}
		if n > 0 {
			in[n]--
			if ascends(0, in) {
				t.Errorf("descent at %d was missed", n)
			}
		}
	}
}
