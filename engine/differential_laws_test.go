package engine_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/evq-project/evq/engine"
	"github.com/evq-project/evq/engine/enginetest"
	"github.com/evq-project/evq/exprs"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/udf"
	"github.com/evq-project/evq/udf/aggregates"
)

// lawful calls do with recordings of many kinds that hold events, all of them on their sensor.
func lawful(t *testing.T, do func(t *testing.T, r *rand.Rand, rec event.Batch, f engine.Frame)) {
	for seed := range uint64(25) {
		r := rand.New(rand.NewPCG(seed, 77))
		evs := eventsOf(eventtest.Recording(seed, 200+r.IntN(1500), small))
		moveTimes(r, evs)
		rec := batchOf(evs)
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			do(t, r, rec, engine.Scan(eventtest.Source(rec, small, 1+r.IntN(400))))
		})
	}
}

// apart draws windows that do not overlap and leave no event out.
func apart(r *rand.Rand, rec event.Batch) engine.Windowing {
	span := rec.T()[rec.Len()-1] - rec.T()[0]
	switch r.IntN(3) {
	case 0:
		return engine.Count(1+r.Int64N(300), 0)
	case 1:
		return engine.WholeRecording()
	}
	return engine.Every(micros(1 + span/(1+r.Int64N(20)))).Origin(r.Int64N(1000))
}

func collected(t *testing.T, f engine.Frame) event.Batch {
	t.Helper()
	b, err := f.Collect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func same(t *testing.T, law string, a, b engine.Frame) {
	t.Helper()
	if d := eventtest.Diff(collected(t, a), collected(t, b)); d != "" {
		t.Errorf("%s: %s", law, d)
	}
}

// Windows that do not overlap hold every event once, in tables and in blocks.
func TestWindowsPartTheEvents(t *testing.T) {
	lawful(t, func(t *testing.T, r *rand.Rand, rec event.Batch, f engine.Frame) {
		w := f.Window(apart(r, rec))
		a, err := ofTable(w.Group().Table).run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		rows, pixels := int64(0), int64(0)
		for _, row := range a.table.rows {
			rows += row[len(row)-1].n
		}
		blocks, err := w.Represent(made(t, engine.Represent, "event_count")).Collect(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range blocks {
			for i := range b.Shape.Len() {
				pixels += int64(binary.LittleEndian.Uint32(b.Data[4*i:]))
			}
		}
		if n := int64(rec.Len()); rows != n || pixels != n {
			t.Errorf("%d events in rows, %d in blocks, %d in the recording", rows, pixels, n)
		}
	})
}

// A voxel grid whose last bin lies at the window's end shares every event out among two bins: its sum is that of the
// polarities, and the halves of an unsigned one are the two counts.
func TestVoxelSums(t *testing.T) {
	lawful(t, func(t *testing.T, r *rand.Rand, rec event.Batch, f engine.Frame) {
		w := f.Window(apart(r, rec))
		bins := 1 + r.IntN(6)
		var reps []udf.Representation
		for _, signed := range []string{"true", "false"} {
			reps = append(reps, made(t, engine.Represent, fmt.Sprintf("voxel_grid:variant=b-1,bins=%d,signed=%s", bins, signed)))
		}
		blocks, err := w.Represent(append(reps, made(t, engine.Represent, "event_frame"))...).Collect(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		sum := func(data []byte) (s float64) {
			for ; len(data) > 0; data = data[4:] {
				s += float64(math.Float32frombits(binary.LittleEndian.Uint32(data)))
			}
			return s
		}
		for i := 0; i < len(blocks); i += 3 {
			counts, half := [2]float64{}, blocks[i+2].Shape.Len()/2
			for j := range 2 * half {
				counts[j/half] += float64(binary.LittleEndian.Uint32(blocks[i+2].Data[4*j:]))
			}
			unsigned := blocks[i+1].Data
			off, on := sum(unsigned[:len(unsigned)/2]), sum(unsigned[len(unsigned)/2:])
			near := func(a, b float64) bool { return math.Abs(a-b) < 1e-3 }
			if !near(off, counts[0]) || !near(on, counts[1]) || !near(sum(blocks[i].Data), counts[1]-counts[0]) {
				t.Errorf("window %d of %v events: %v OFF, %v ON, together %v", blocks[i].Index, counts, off, on, sum(blocks[i].Data))
			}
		}
	})
}

// Predicates may change places with each other; with filters with memory those of places may where the filter looks at
// one pixel at a time; and with transforms where they say the same of what moved.
func TestFilterOrder(t *testing.T) {
	a, b := exprs.X.Between(2, 12), exprs.Or(exprs.P.Eq(1), exprs.Y.Mod(3).Eq(0))
	place := exprs.InRect(3, 1, 14, 9)
	lawful(t, func(t *testing.T, _ *rand.Rand, _ event.Batch, f engine.Frame) {
		same(t, "two predicates change places", f.Filter(a).Filter(b), f.Filter(b).Filter(a))
		same(t, "two predicates are one", f.Filter(a).Filter(b), f.Filter(exprs.And(a, b)))
		same(t, "twice is once", f.Filter(a).Filter(a), f.Filter(a))
		for _, call := range []string{"refractory:period=3ms", "decimate:n=3", "stc:threshold=2ms", "trail:threshold=2ms", "dedup"} {
			by := made(t, engine.Filter, call)
			same(t, call+" and a place", f.Apply(by).Filter(place), f.Filter(place).Apply(by))
		}
		same(t, "a flip and a place", f.Map(exprs.Flip{}).Filter(exprs.X.Le(3)), f.Filter(exprs.X.Ge(13)).Map(exprs.Flip{}))
		same(t, "a turn around", f.Map(exprs.Rotate{Degrees: 90}, exprs.Rotate{Degrees: 270}), f)
	})
}

// What was filtered stays as it is when it is filtered once more.
func TestFiltersAreIdempotent(t *testing.T) {
	lawful(t, func(t *testing.T, r *rand.Rand, _ event.Batch, f engine.Frame) {
		for _, call := range []string{fmt.Sprintf("refractory:period=%dus", r.IntN(9000)), "dedup", "drop:p=0"} {
			by := made(t, engine.Filter, call)
			same(t, call, f.Apply(by).Apply(by), f.Apply(by))
		}
	})
}

// Events at one time stay in their order, through filters, transforms, windows, a store and back.
func TestTiesKeepTheirOrder(t *testing.T) {
	var evs []ev
	for i := range int64(3000) {
		evs = append(evs, ev{7 + i/1000, i % 1000, i * 7 % 10, i & 1})
	}
	size := event.Geometry{Width: 1000, Height: 10}
	src := eventtest.Source(batchOf(evs), size, 77)
	path := filepath.Join(t.TempDir(), "ties.parquet")
	toStore(t, src, path)
	store, err := engine.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close() //nolint:errcheck // only read
	for _, f := range []engine.Frame{engine.Scan(src), store.Frame()} {
		same(t, "all", f, engine.Scan(src))
		kept := collected(t, f.Filter(exprs.X.Mod(3).Eq(1)).Map(exprs.ShiftTime{By: 5}).Apply(made(t, engine.Filter, "decimate:n=2,by=stream")))
		for i := 1; i < kept.Len(); i++ {
			if kept.T()[i] == kept.T()[i-1] && kept.X()[i] < kept.X()[i-1] {
				t.Fatalf("event %d at x=%d comes before one at x=%d", i-1, kept.X()[i-1], kept.X()[i])
			}
		}
		for _, opts := range [][]engine.Option{nil, {engine.Rules()}} {
			q := f.Window(engine.Every(micros(1))).Group(exprs.P).Agg(engine.Agg(aggregates.First, exprs.X), engine.Agg(aggregates.Last, exprs.X))
			a, err := ofTable(q).run(t.Context(), opts...)
			if err != nil || len(a.table.rows) != 6 {
				t.Fatal(err, a.table)
			}
			for _, row := range a.table.rows {
				p := row[4].n
				if row[5].n != p || row[6].n != 998+p {
					t.Errorf("window %d, p=%d: from x=%d to x=%d, want %d to %d", row[0].n, p, row[5].n, row[6].n, p, 998+p)
				}
			}
		}
	}
}

// A grid's windows are the same whether they are cut as every, as intervals, or, but for the border, as ends.
func TestWindowsOfOneGrid(t *testing.T) {
	lawful(t, func(t *testing.T, r *rand.Rand, rec event.Batch, f engine.Frame) {
		first, last := rec.T()[0], rec.T()[rec.Len()-1]
		length := 1 + (last-first)/(1+r.Int64N(9))
		var starts, ends, closed []int64
		for start := first; start <= last; start += length {
			starts, ends, closed = append(starts, start), append(ends, start+length), append(closed, start+length-1)
		}
		rep := made(t, engine.Represent, "event_frame:bins=3")
		want, err := f.Window(engine.Every(micros(length)).OriginFirst()).Represent(rep).Collect(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for i, w := range []engine.Windowing{engine.Intervals(starts, ends, ""), engine.Ends(closed, micros(length-1))} {
			got, err := f.Window(w).Represent(rep).Collect(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for j := range got {
				got[j].End += int64(i)
			}
			if d := enginetest.Diff(want, got); d != "" {
				t.Errorf("windowing %d: %s", i, d)
			}
		}
	})
}
