package merge

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
)

var sensor = event.Geometry{Width: 40, Height: 30}

// A merged recording holds the events of all, by time, ties in the order of the recordings, however they are cut.
func TestMergeIsAStableSort(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for range 40 {
		var sources []event.Source
		all := event.NewBuffer(0)
		for i := range 1 + r.IntN(4) {
			b := eventtest.Recording(r.Uint64(), r.IntN(3000), sensor)
			all.AppendBatch(b)
			sources = append(sources, eventtest.Source(b, sensor, 1+r.IntN(500)))
			_ = i
		}
		want := sorted(all.Batch())
		got := event.NewBuffer(0)
		rep, err := event.Each(context.Background(), New(sources...), event.All, func(b event.Batch) error {
			got.AppendBatch(b)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if d := eventtest.Diff(want, got.Batch()); d != "" || rep.Events != int64(want.Len()) {
			t.Fatalf("%d events of %d: %s", rep.Events, want.Len(), d)
		}
	}
}

func sorted(b event.Batch) event.Batch {
	order := make([]int, b.Len())
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		switch {
		case b.T()[i] < b.T()[j]:
			return -1
		case b.T()[i] > b.T()[j]:
			return 1
		}
		return 0
	})
	out := event.NewBuffer(0)
	for _, i := range order {
		out.Append(b.T()[i], b.X()[i], b.Y()[i], b.P()[i])
	}
	return out.Batch()
}

func TestMergedInfo(t *testing.T) {
	small := event.Geometry{Width: 10, Height: 50}
	a := eventtest.Source(eventtest.Recording(1, 100, sensor), sensor, 10)
	m := New(a, eventtest.Source(eventtest.Recording(2, 50, small), small, 10))
	if g := m.Geometry(); g != (event.Geometry{Width: 40, Height: 50}) {
		t.Errorf("the sensor is %v", g)
	}
	if g := New(a, eventtest.Source(eventtest.Recording(2, 50, small), event.Geometry{}, 10)).Geometry(); g.Known() {
		t.Errorf("a size was made up: %v", g)
	}
}
