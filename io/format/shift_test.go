package format

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
)

func TestZero(t *testing.T) {
	in := batch([4]int64{9, 9, 1, 700}, [4]int64{1, 1, 1, 500}, [4]int64{2, 2, 1, 900}, [4]int64{5000, 2, 1, 100})
	plain, _, err := Drain(t.Context(), (&fake{events: in, batch: 2}).source(hd, Policy{}))
	if err != nil {
		t.Fatal(err)
	}
	src := (&fake{events: in, batch: 2}).source(hd, Policy{Zero: true})
	part := event.All
	part.Box.T0, part.Box.X1 = 200, 2 // the recording's first event lies outside
	for scan := range 2 {             // before the shift is known, and after
		got := eventtest.Drain(t, src, part)
		i := slices.Index(got.T(), 400)
		if i < 0 || got.X()[i] != 2 {
			t.Errorf("scan %d: times %v, want 400 among them", scan, got.T())
		}
	}
	got, rep, err := Drain(t.Context(), src)
	if err != nil || rep.Shift != 500 || got.Len() != plain.Len() {
		t.Fatalf("shift %d, %d events, %v", rep.Shift, got.Len(), err)
	}
	for i, v := range got.T() {
		if plain.T()[i]-v != rep.Shift {
			t.Errorf("event %d: %d is not %d less than %d", i, v, rep.Shift, plain.T()[i])
		}
	}
}

// Times that are further apart than int64 holds cannot be shifted.
func TestZeroOverflow(t *testing.T) {
	s := shift{start: &start{}}
	if err := s.apply([]int64{math.MinInt64, -1}, &event.Report{}); err != nil {
		t.Error(err)
	}
	if err := s.apply([]int64{-1, 0}, &event.Report{Events: 2}); err == nil || !strings.Contains(err.Error(), "--zero") {
		t.Errorf("a difference of 2^63: %v", err)
	}
}

func TestZeroShiftsTriggers(t *testing.T) {
	in := batch([4]int64{1, 1, 1, 700}, [4]int64{1, 1, 1, 500}, [4]int64{2, 2, 1, 900_000})
	src := (&fake{events: in, batch: 1}).source(hd, Policy{Zero: true})
	for scan := range 2 {
		var got []int64
		want := event.All
		want.Triggers = func(tr []event.Trigger) error {
			for _, v := range tr {
				got = append(got, v.T)
			}
			return nil
		}
		eventtest.Drain(t, src, want)
		if !slices.Equal(got, []int64{200, 0, 899_500}) {
			t.Errorf("scan %d: triggers at %v", scan, got)
		}
	}
	// Without events there is nothing to subtract.
	var held shift
	var got []event.Trigger
	held.init(&start{}, func(tr []event.Trigger) error { got = append(got, tr...); return nil })
	if err := errors.Join(held.triggers([]event.Trigger{{T: 7}}), held.flush()); err != nil || len(got) != 1 || got[0].T != 7 {
		t.Errorf("%v, %v", got, err)
	}
}

func TestAddSaturated(t *testing.T) {
	lo, hi := int64(math.MinInt64), int64(math.MaxInt64)
	for _, c := range [][3]int64{{1, 2, 3}, {hi, -5, hi}, {lo, 5, lo}, {hi - 1, 5, hi}, {lo + 1, -5, lo}, {-3, 1, -2}} {
		if got := addSaturated(c[0], c[1]); got != c[2] {
			t.Errorf("%d + %d = %d, want %d", c[0], c[1], got, c[2])
		}
	}
}
