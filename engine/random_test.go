package engine_test

import (
	"context"
	"testing"

	"github.com/evq-project/evq/engine"
	"github.com/evq-project/evq/exprs"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
)

// Random events are added where and when they may be, in order, the same for a seed and any cut into batches; the
// recording's own stay as they are.
func TestAddRandom(t *testing.T) {
	rec := eventtest.Recording(3, 5000, small)
	var want event.Batch
	for _, size := range []int{1, 7, 5000} {
		f := engine.Scan(eventtest.Source(rec, small, size)).AddRandomIn(3000, 9, 2, 3, 5, 4)
		got, err := f.Collect(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if want.Len() == 0 {
			want = got
		} else if d := eventtest.Diff(want, got); d != "" {
			t.Fatalf("batches of %d: %s", size, d)
		}
	}
	if want.Len() != 8000 {
		t.Fatalf("%d events", want.Len())
	}
	first, last := rec.T()[0], rec.T()[rec.Len()-1]
	own, late := 0, 0
	for i, at := range want.T() {
		if i > 0 && at < want.T()[i-1] {
			t.Fatalf("event %d lies before the one before", i)
		}
		if own < rec.Len() && at == rec.T()[own] && want.X()[i] == rec.X()[own] && want.Y()[i] == rec.Y()[own] && want.P()[i] == rec.P()[own] {
			own++
			continue
		}
		if x, y := want.X()[i], want.Y()[i]; x < 2 || x > 5 || y < 3 || y > 4 || at < first || at > last {
			t.Fatalf("a random event at %d, %d,%d", at, x, y)
		}
		if at > first+(last-first)/2 {
			late++
		}
	}
	if own != rec.Len() {
		t.Errorf("%d of %d events of the recording are left", own, rec.Len())
	}
	if late < 1300 || late > 1700 { // 11 standard deviations from the half
		t.Errorf("%d of 3000 random events lie in the second half of the time", late)
	}
	other, err := engine.Scan(eventtest.Source(rec, small, 100)).AddRandomIn(3000, 10, 2, 3, 5, 4).Collect(context.Background())
	if err != nil || eventtest.Diff(want, other) == "" {
		t.Errorf("another seed gave the same events: %v", err)
	}
	none, err := engine.Scan(eventtest.Source(rec, small, 100)).Filter(exprs.False).AddRandom(50, 1).Collect(context.Background())
	if err != nil || none.Len() != 0 {
		t.Errorf("%d random events without any other: %v", none.Len(), err)
	}
}
