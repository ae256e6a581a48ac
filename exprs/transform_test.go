package exprs_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/evq-project/evq/exprs"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
)

var sensor = event.Geometry{Width: 17, Height: 11}

func onSensor(r *rand.Rand, g event.Geometry, n int) event.Batch {
	b := event.NewBuffer(n)
	t := int64(-5000)
	for range n {
		t += r.Int64N(4)
		b.Append(t, uint16(r.IntN(g.Width)), uint16(r.IntN(g.Height)), int8(r.IntN(2)))
	}
	return b.Batch()
}

func project(t *testing.T, tr exprs.Transform, g event.Geometry) exprs.Projection {
	t.Helper()
	p, err := tr.Project(g)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func apply(t *testing.T, p exprs.Projection, b event.Batch) event.Batch {
	t.Helper()
	dst := event.NewBuffer(0)
	if lost := p.Apply(b, dst); lost != 0 {
		t.Fatalf("%d events were dropped", lost)
	}
	return dst.Batch()
}

// A naive transform returns the new event, or false where there is none.
type naive func(e row, w, h int64) (row, bool)

func TestTransforms(t *testing.T) {
	b := onSensor(rand.New(rand.NewPCG(1, 3)), sensor, 3000)
	for _, c := range []struct {
		name, param, text string
		w, h              int
		naive             naive
	}{
		{"flip", "x", "flip x", 17, 11, func(e row, w, _ int64) (row, bool) { return row{e[0], w - 1 - e[1], e[2], e[3]}, true }},
		{"flip", "y", "flip y", 17, 11, func(e row, _, h int64) (row, bool) { return row{e[0], e[1], h - 1 - e[2], e[3]}, true }},
		{"rotate", "90", "rotate 90", 11, 17, func(e row, _, h int64) (row, bool) { return row{e[0], h - 1 - e[2], e[1], e[3]}, true }},
		{"rotate", "180", "rotate 180", 17, 11, func(e row, w, h int64) (row, bool) {
			return row{e[0], w - 1 - e[1], h - 1 - e[2], e[3]}, true
		}},
		{"rotate", "270", "rotate 270", 11, 17, func(e row, w, _ int64) (row, bool) { return row{e[0], e[2], w - 1 - e[1], e[3]}, true }},
		{"transpose", "", "transpose", 11, 17, func(e row, _, _ int64) (row, bool) { return row{e[0], e[2], e[1], e[3]}, true }},
		{"crop", "3,2,9,7", "crop 3,2,9,7", 7, 6, func(e row, _, _ int64) (row, bool) {
			return row{e[0], e[1] - 3, e[2] - 2, e[3]}, 3 <= e[1] && e[1] <= 9 && 2 <= e[2] && e[2] <= 7
		}},
		{"crop", "0,0,16,10", "crop 0,0,16,10", 17, 11, func(e row, _, _ int64) (row, bool) { return e, true }},
		{"downsample", "2", "downsample 2:nearest", 8, 5, nearestBy(2)},
		{"downsample", "3:nearest", "downsample 3:nearest", 5, 3, nearestBy(3)},
		{"downsample", "4", "downsample 4:nearest", 4, 2, nearestBy(4)},
		{"downsample", "6", "downsample 6:nearest", 2, 1, nearestBy(6)},
		{"downsample", "1", "downsample 1:nearest", 17, 11, nearestBy(1)},
		{"downsample", "3:sum", "downsample 3:sum", 6, 4, func(e row, _, _ int64) (row, bool) { return row{e[0], e[1] / 3, e[2] / 3, e[3]}, true }},
		{"shift-time", "-1.5ms", "shift-time -1500us", 17, 11, func(e row, _, _ int64) (row, bool) { return row{e[0] - 1500, e[1], e[2], e[3]}, true }},
		{"scale-time", "2/3", "scale-time 2/3", 17, 11, func(e row, _, _ int64) (row, bool) {
			return row{int64(math.Floor(float64(e[0]) * 2 / 3)), e[1], e[2], e[3]}, true
		}},
		{"scale-time", "5", "scale-time 5/1", 17, 11, func(e row, _, _ int64) (row, bool) { return row{e[0] * 5, e[1], e[2], e[3]}, true }},
		{"merge-polarity", "", "merge-polarity", 17, 11, func(e row, _, _ int64) (row, bool) { return row{e[0], e[1], e[2], 1}, true }},
	} {
		tr, err := exprs.NewTransform(c.name, c.param)
		if err != nil {
			t.Fatal(err)
		}
		p := project(t, tr, sensor)
		if tr.String() != c.text || p.Geometry != (event.Geometry{Width: c.w, Height: c.h}) {
			t.Errorf("%v on %v, want %s on %dx%d", tr, p.Geometry, c.text, c.w, c.h)
		}
		var want []row
		for i := range b.Len() {
			if e, ok := c.naive(row{b.T()[i], int64(b.X()[i]), int64(b.Y()[i]), int64(b.P()[i])}, 17, 11); ok {
				want = append(want, e)
			}
		}
		got := apply(t, p, b)
		if d := eventtest.Diff(got, batchOf(want)); d != "" || len(want) == 0 {
			t.Errorf("%v: %s", tr, d)
		}
		for i := range got.Len() {
			if int(got.X()[i]) >= c.w || int(got.Y()[i]) >= c.h {
				t.Fatalf("%v: %d, %d lies off %v", tr, got.X()[i], got.Y()[i], p.Geometry)
			}
		}
	}
}

// nearestBy is torch's nearest-exact: output i reads input floor((i + 0.5) * n).
func nearestBy(n int64) naive {
	return func(e row, w, h int64) (row, bool) {
		for i := range w / n {
			for j := range h / n {
				if e[1] == int64((float64(i)+0.5)*float64(n)) && e[2] == int64((float64(j)+0.5)*float64(n)) {
					return row{e[0], i, j, e[3]}, true
				}
			}
		}
		return e, false
	}
}

func TestTransformsUndoEachOther(t *testing.T) {
	b := onSensor(rand.New(rand.NewPCG(9, 3)), sensor, 2500)
	for name, list := range map[string][]exprs.Transform{
		"flip x twice":                          {exprs.Flip{}, exprs.Flip{}},
		"flip y twice":                          {exprs.Flip{Vertical: true}, exprs.Flip{Vertical: true}},
		"a quarter four times":                  {exprs.Rotate{Degrees: 90}, exprs.Rotate{Degrees: 90}, exprs.Rotate{Degrees: 90}, exprs.Rotate{Degrees: 90}},
		"there and back":                        {exprs.Rotate{Degrees: 90}, exprs.Rotate{Degrees: 270}},
		"half and half":                         {exprs.Rotate{Degrees: 180}, exprs.Rotate{Degrees: 180}},
		"a quarter is a flip of the transposed": {exprs.Transpose{}, exprs.Flip{}, exprs.Rotate{Degrees: 270}},
		"transpose twice":                       {exprs.Transpose{}, exprs.Transpose{}},
		"shift and back":                        {exprs.ShiftTime{By: 77}, exprs.ShiftTime{By: -77}},
		"scale and back":                        {exprs.ScaleTime{Num: 7, Den: 1}, exprs.ScaleTime{Num: 1, Den: 7}},
	} {
		g, moved := sensor, b
		for _, tr := range list {
			p := project(t, tr, g)
			g, moved = p.Geometry, apply(t, p, moved)
		}
		if d := eventtest.Diff(moved, b); d != "" || g != sensor {
			t.Errorf("%s: %s on %v", name, d, g)
		}
	}
}

// TestFiltersMoveBelowTransforms is what substitution is for.
func TestFiltersMoveBelowTransforms(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 3))
	b := onSensor(r, sensor, 1200)
	for range 200 {
		tr := []exprs.Transform{exprs.Flip{}, exprs.Rotate{Degrees: 90}, exprs.Crop{X0: 3, Y0: 2, X1: 14, Y1: 9}, exprs.Downsample{N: 3},
			exprs.Downsample{N: 2, Sum: true}, exprs.ScaleTime{Num: 2, Den: 3}, exprs.MergePolarity{}}[r.IntN(7)]
		p := project(t, tr, sensor)
		e := randomPredicate(r, r.IntN(3)).e
		above := filtered(e, apply(t, p, b))
		below := exprs.Simplify(exprs.Substitute(e, p.Columns()))
		if d := eventtest.Diff(apply(t, p, filtered(below, b)), above); d != "" {
			t.Fatalf("%v below %v is %v: %s", e, tr, below, d)
		}
	}
}

func filtered(e exprs.Expr, b event.Batch) event.Batch {
	out := event.NewBuffer(b.Len())
	for i, k := range mask(e, b) {
		if k {
			out.Append(b.T()[i], b.X()[i], b.Y()[i], b.P()[i])
		}
	}
	return out.Batch()
}

func TestDroppedEventsAreCounted(t *testing.T) {
	b := batchOf([]row{{1, 5, 5, 0}, {2, 16, 10, 1}, {3, 17, 4, 1}, {4, 65535, 4, 0}, {5, 0, 11, 1}})
	dst := event.NewBuffer(1)
	if lost := project(t, exprs.Flip{}, sensor).Apply(b, dst); lost != 2 || !slices.Equal(dst.T, []int64{1, 2, 5}) || !slices.Equal(dst.X, []uint16{11, 0, 16}) {
		t.Errorf("flip: %d lost, %v %v", lost, dst.T, dst.X)
	}
	// What lay off the sensor and is not moved stays there.
	if lost := project(t, exprs.ShiftTime{By: 1}, sensor).Apply(b, dst); lost != 0 || !slices.Equal(dst.X, b.X()) {
		t.Errorf("shift: %d lost, %v", lost, dst.X)
	}
	// Keep is a choice, not a loss.
	if lost := project(t, exprs.Crop{X0: 0, Y0: 0, X1: 9, Y1: 9}, sensor).Apply(b, dst); lost != 0 || len(dst.T) != 1 {
		t.Errorf("crop: %d lost, %v", lost, dst.T)
	}
	strange := exprs.Projection{T: exprs.T, X: exprs.X.Mul(exprs.Const(2)), Y: exprs.Y, P: exprs.X.Mod(3)}
	if lost := strange.Apply(b, dst); lost != 3 || !slices.Equal(dst.T, []int64{2, 5}) {
		t.Errorf("%d lost, %v", lost, dst.T)
	}
}

func TestApplyToFewColumns(t *testing.T) {
	b := event.New([]int64{1, 2}, nil, []uint16{3, 4}, nil)
	dst := event.NewBuffer(4)
	dst.Append(9, 9, 9, 1)
	project(t, exprs.Transpose{}, sensor).Apply(b, dst)
	if out := dst.Batch(); out.Len() != 2 || !slices.Equal(out.X(), b.Y()) || out.Y() != nil || out.P() != nil {
		t.Errorf("%+v", out)
	}
	project(t, exprs.MergePolarity{}, sensor).Apply(event.New(nil, nil, nil, nil), dst)
	if dst.Len() != 0 {
		t.Error("an event of none")
	}
}

func TestTimeStopsAtItsEnds(t *testing.T) {
	b := batchOf([]row{{math.MinInt64, 1, 1, 0}, {-1, 1, 1, 0}, {1_500_000_000_000_001, 1, 1, 0}, {math.MaxInt64, 1, 1, 1}})
	if got := apply(t, project(t, exprs.ShiftTime{By: 5}, sensor), b).T(); !slices.Equal(got, []int64{math.MinInt64 + 5, 4, 1_500_000_000_000_006, math.MaxInt64}) {
		t.Errorf("shifted to %v", got)
	}
	// Exact where the product alone would overflow.
	got := apply(t, project(t, exprs.ScaleTime{Num: 1_000_000_000, Den: 999_999_999}, sensor), b).T()
	if got[1] != -2 || got[2] != 1_500_000_001_500_001 || got[3] != math.MaxInt64 || !slices.IsSorted(got) {
		t.Errorf("scaled to %v", got)
	}
	edge := event.NewBuffer(0)
	for i := range int64(3000) { // steps as fine and as coarse as the parts of the fraction
		edge.Append(math.MinInt64+i*i*i*100, 1, 1, 0)
	}
	for _, tr := range []exprs.ScaleTime{{Num: 1_000_000_000, Den: 999_999_999}, {Num: 3, Den: 2}, {Num: 2, Den: 3}, {Num: 7, Den: 1}} {
		if got := apply(t, project(t, tr, sensor), edge.Batch()).T(); !slices.IsSorted(got) {
			t.Errorf("%v puts the first times out of order", tr)
		}
	}
}

func TestTransformsThatAreNone(t *testing.T) {
	for _, c := range [][2]string{
		{"flip", ""}, {"flip", "z"}, {"rotate", "45"}, {"rotate", "090"}, {"transpose", "x"}, {"crop", "1,2,3"}, {"crop", "5,0,1,1"},
		{"crop", "0,0,70000,1"}, {"crop", "-1,0,3,3"}, {"downsample", "0"}, {"downsample", "2:"}, {"downsample", "2:mean"}, {"downsample", "x"},
		{"shift-time", "soon"}, {"shift-time", "1e3"}, {"scale-time", "0"}, {"scale-time", "1/0"}, {"scale-time", "-1"}, {"scale-time", "1/2/3"},
		{"scale-time", "2000000000"}, {"merge-polarity", "on"}, {"flop", "x"},
	} {
		if tr, err := exprs.NewTransform(c[0], c[1]); !errors.Is(err, exprs.ErrTransform) {
			t.Errorf("%v: %v, %v", c, tr, err)
		}
	}
	for _, tr := range []exprs.Transform{exprs.Flip{}, exprs.Rotate{Degrees: 90}} {
		if _, err := tr.Project(event.Geometry{}); !errors.Is(err, exprs.ErrSize) {
			t.Errorf("%v: %v", tr, err)
		}
	}
	for _, tr := range []exprs.Transform{exprs.Crop{X0: 0, Y0: 0, X1: 17, Y1: 3}, exprs.Crop{X0: 3, Y0: 0, X1: 1, Y1: 1}, exprs.Crop{X0: -1, Y0: 0, X1: 1, Y1: 1}, exprs.Downsample{N: 12},
		exprs.Downsample{}, exprs.Rotate{}, exprs.ScaleTime{}} {
		if _, err := tr.Project(sensor); !errors.Is(err, exprs.ErrTransform) {
			t.Errorf("%v: %v", tr, err)
		}
	}
	for _, tr := range []exprs.Transform{exprs.Transpose{}, exprs.Downsample{N: 2}, exprs.Downsample{N: 2, Sum: true}, exprs.ShiftTime{By: 1}} {
		if p, err := tr.Project(event.Geometry{}); err != nil || p.Geometry.Known() {
			t.Errorf("%v: %v, %v", tr, p.Geometry, err)
		}
	}
	for _, e := range exprs.Transforms {
		if e.Doc == "" || e.New == nil {
			t.Errorf("%+v", e)
		}
	}
}

func TestReads(t *testing.T) {
	for _, c := range []struct {
		tr       exprs.Transform
		of, want event.Columns
	}{
		{exprs.Flip{}, event.ColY, event.ColX | event.ColY},
		{exprs.Flip{}, 0, event.AllColumns},
		{exprs.Transpose{}, event.ColX, event.ColY},
		{exprs.Crop{X0: 0, Y0: 0, X1: 3, Y1: 3}, event.ColP, event.AllColumns},
		{exprs.MergePolarity{}, event.ColP | event.ColX, event.ColX},
		{exprs.ShiftTime{By: 4}, event.ColP, event.ColP},
	} {
		if got := project(t, c.tr, sensor).Reads(c.of); got != c.want {
			t.Errorf("%v of %v reads %v, want %v", c.tr, c.of, got, c.want)
		}
	}
}
