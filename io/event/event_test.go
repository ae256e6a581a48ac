package event_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
)

var vga = event.Geometry{Width: 640, Height: 480}

func TestBatchSlice(t *testing.T) {
	b := eventtest.Recording(1, 100, vga)
	s := b.Slice(10, 20).Slice(2, 5)
	if s.Len() != 3 || s.T()[0] != b.T()[12] || s.X()[2] != b.X()[14] || s.Y()[1] != b.Y()[13] || s.P()[0] != b.P()[12] {
		t.Error("a slice of a slice holds other events")
	}
	if &s.T()[0] != &b.T()[12] {
		t.Error("a slice copies")
	}
	times := event.New(b.T(), nil, nil, nil).Slice(3, 9)
	if times.Len() != 6 || times.X() != nil || times.Y() != nil || times.P() != nil {
		t.Error("a slice has columns that its batch lacks")
	}
	s.Release() // a slice owns nothing
}

func TestNewRefusesUnequalColumns(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("columns of unequal length were taken")
		}
	}()
	event.New(make([]int64, 3), make([]uint16, 2), nil, nil)
}

func TestRecordRoundTrip(t *testing.T) {
	for _, n := range []int{0, 1, 1000} {
		b := eventtest.Recording(2, n, vga)
		r := b.Record()
		if n > 0 && !r.Schema().Equal(event.Schema) {
			t.Errorf("%d events: schema %v", n, r.Schema())
		}
		if r.NumRows() != int64(n) {
			t.Errorf("%d rows, want %d", r.NumRows(), n)
		}
		if n == 0 {
			continue
		}
		back, err := event.FromRecord(r)
		if err != nil {
			t.Fatal(err)
		}
		if d := eventtest.Diff(back, b); d != "" {
			t.Error(d)
		}
		if &back.T()[0] != &b.T()[0] || &back.P()[0] != &b.P()[0] {
			t.Error("the round trip copies")
		}
	}
}

func TestRecordOfSlices(t *testing.T) {
	b := eventtest.Recording(2, 100, vga)
	back, err := event.FromRecord(b.Slice(33, 70).Record().NewSlice(4, 20))
	if err != nil {
		t.Fatal(err)
	}
	if d := eventtest.Diff(back, b.Slice(37, 53)); d != "" {
		t.Error(d)
	}
}

func TestRecordLeavesOutMissingColumns(t *testing.T) {
	r := event.New([]int64{1, 2}, nil, []uint16{3, 4}, nil).Record()
	var names []string
	for _, f := range r.Schema().Fields() {
		names = append(names, f.Name)
	}
	if !slices.Equal(names, []string{"t", "y"}) {
		t.Errorf("columns %v", names)
	}
	if _, err := event.FromRecord(r); err == nil {
		t.Error("a record without x and p is a batch")
	}
}

func TestFromRecordRefusesOtherTypes(t *testing.T) {
	b := array.NewInt32Builder(memory.DefaultAllocator)
	b.Append(1)
	s := arrow.NewSchema([]arrow.Field{{Name: "t", Type: arrow.PrimitiveTypes.Int32}}, nil)
	if _, err := event.FromRecord(array.NewRecordBatch(s, []arrow.Array{b.NewArray()}, 1)); err == nil {
		t.Error("a record of int32 times is a batch")
	}
}

func TestPoolReuses(t *testing.T) {
	p := event.NewPool(10)
	b := p.Get()
	if b.Len() != 0 || b.Cap() != 10 {
		t.Fatalf("length %d, room for %d", b.Len(), b.Cap())
	}
	b.Append(1, 2, 3, 1)
	b.X = b.X[:0] // a decoder leaves out a column
	b.Batch().Release()
	again := p.Get()
	if again != b || again.Len() != 0 || len(again.P) != 0 || cap(again.X) != 10 {
		t.Error("a released buffer did not come back empty")
	}
	if p.Get() == again {
		t.Error("one buffer was handed out twice")
	}
	event.NewBuffer(1).Release() // belongs to no pool
}

func TestPoolIsConcurrent(t *testing.T) {
	p := event.NewPool(64)
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for i := range 500 {
				b := p.Get()
				b.Append(int64(i), uint16(w), 0, 0)
				if b.Len() != 1 || b.X[0] != uint16(w) {
					t.Error("a buffer has two owners")
				}
				b.Batch().Release()
			}
		})
	}
	wg.Wait()
}

// holds reports whether an event lies in a box, field by field.
func holds(b event.Box, t int64, x, y uint16, p int8) bool {
	return b.T0 <= t && t <= b.T1 && b.X0 <= x && x <= b.X1 && b.Y0 <= y && y <= b.Y1 && b.P0 <= p && p <= b.P1
}

func TestBoxAlgebra(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	small := func() (uint16, uint16) { return uint16(r.IntN(4)), uint16(r.IntN(4)) }
	draw := func() event.Box {
		var b event.Box
		b.T0, b.T1 = r.Int64N(4)-2, r.Int64N(4)-2
		b.X0, b.X1 = small()
		b.Y0, b.Y1 = small()
		b.P0, b.P1 = int8(r.IntN(2)), int8(r.IntN(2))
		return b
	}
	for range 300 {
		a, b := draw(), draw()
		both, hull, inA, inBoth := a.Intersect(b), a.Hull(b), false, false
		for i := range 4 * 4 * 4 * 2 {
			tt, x, y, p := int64(i&3)-2, uint16(i>>2&3), uint16(i>>4&3), int8(i>>6)
			ina, inb := holds(a, tt, x, y, p), holds(b, tt, x, y, p)
			if holds(both, tt, x, y, p) != (ina && inb) {
				t.Fatalf("%v and %v at %d %d %d %d", a, b, tt, x, y, p)
			}
			if (ina || inb) && !holds(hull, tt, x, y, p) {
				t.Fatalf("the hull of %v and %v lacks %d %d %d %d", a, b, tt, x, y, p)
			}
			inA, inBoth = inA || ina, inBoth || ina && inb
		}
		if a.Empty() == inA || a.Overlaps(b) != inBoth {
			t.Fatalf("%+v: empty %v; overlaps %+v %v", a, a.Empty(), b, a.Overlaps(b))
		}
	}
	if event.Everything.Empty() || !event.Nothing.Empty() {
		t.Error("Everything is empty, or Nothing is not")
	}
}

func TestBoxString(t *testing.T) {
	b := event.Everything
	if b.String() != "" {
		t.Errorf("everything is %q", b)
	}
	b.T0, b.X1, b.Y0, b.Y1, b.P0 = -5, 9, 3, 7, 1
	if got := b.String(); got != "t>=-5 x<=9 y=3..7 p=1" {
		t.Errorf("%q", got)
	}
	if event.Nothing.String() != "nothing" {
		t.Errorf("nothing is %q", event.Nothing)
	}
}

func TestGeometry(t *testing.T) {
	if vga.String() != "640x480" || (event.Geometry{}).String() != "unknown" || (event.Geometry{Width: 5}).Known() {
		t.Error("geometry")
	}
}

func TestColumns(t *testing.T) {
	for c, want := range map[event.Columns]string{0: "t,x,y,p", event.ColY: "t,y", event.ColX | event.ColP: "t,x,p"} {
		if c.String() != want {
			t.Errorf("%q, want %q", c, want)
		}
	}
	if !event.Columns(0).Has(event.ColP) || event.ColX.Has(event.ColX|event.ColY) {
		t.Error("Has")
	}
}

func fullReport() *event.Report {
	r := &event.Report{Events: 12, Shift: -77, MaxX: 639, MaxY: 65535}
	for c := range event.Counters() {
		switch event.Counter(c) {
		case event.Unknown:
			r.CountUnknown("9", 2, 100)
			r.CountUnknown("E", 1, 4)
		case event.OffSensor:
			r.Lose(event.OffSensor, 3, 8)
		default:
			r.Count(event.Counter(c), int64(c+1), int64(10*c))
		}
	}
	r.Note("the clock wrapped %d times.", 3)
	return r
}

func TestReportRoundTrip(t *testing.T) {
	r := fullReport()
	raw, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var back event.Report
	if err := json.Unmarshal(raw, &back); err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(&back)
	if err != nil || string(again) != string(raw) {
		t.Errorf("%s\n%s\n%v", raw, again, err)
	}
	for c := range event.Counters() {
		if back.Get(event.Counter(c)) != r.Get(event.Counter(c)) {
			t.Errorf("%v: %+v, want %+v", event.Counter(c), back.Get(event.Counter(c)), r.Get(event.Counter(c)))
		}
	}
	if back.Shift != -77 || back.MaxX != 639 || back.MaxY != 65535 || back.Events != 12 || back.UnknownKinds()["9"] != 2 || len(back.Notes) != 1 {
		t.Errorf("%+v", back)
	}
	if err := json.Unmarshal([]byte(`{"events":1,"counters":{"of_a_later_version":{"n":3}}}`), &back); err != nil || back.Events != 1 || back.Lost() {
		t.Errorf("a later version's counter: %v, %v", &back, err)
	}
	if err := json.Unmarshal([]byte(`{"events":"many"}`), &back); err == nil {
		t.Error("a malformed report was read")
	}
}

func TestReportLosses(t *testing.T) {
	r := &event.Report{}
	r.Count(event.Wraps, 2, 5)
	r.CountUnknown("E", 3, 6)
	if r.Lost() {
		t.Error("wraps and unknown words are losses")
	}
	r.Lose(event.TrailingBytes, 1, 99)
	r.Lose(event.TrailingBytes, 1, 200)
	if !r.Lost() || !slices.Equal(r.Losses(), []string{"2 trailing_bytes"}) || r.Get(event.TrailingBytes).First != 99 {
		t.Errorf("%v %+v", r.Losses(), r.Get(event.TrailingBytes))
	}
	if got := r.String(); got != "events=0 wraps=2 trailing_bytes=2 unknown[E]=3" {
		t.Errorf("%q", got)
	}
}

func TestReportNotesOnce(t *testing.T) {
	r := &event.Report{}
	r.Note("a %d", 1)
	r.Note("a %d", 1)
	r.Note("a %d", 2)
	if !slices.Equal(r.Notes, []string{"a 1", "a 2"}) {
		t.Errorf("%q", r.Notes)
	}
}

func TestReportClone(t *testing.T) {
	r := fullReport()
	c := r.Clone()
	r.CountUnknown("9", 1, 0)
	r.Note("later")
	r.Count(event.Wraps, 1, 0)
	if c.UnknownKinds()["9"] != 2 || len(c.Notes) != 1 || c.N(event.Wraps) == r.N(event.Wraps) {
		t.Error("a clone follows its original")
	}
}

func TestCountersAreNamed(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range event.Counters() {
		if c.Name == "" || c.Doc == "" || seen[c.Name] || strings.ToLower(c.Name) != c.Name {
			t.Errorf("counter %+v", c)
		}
		seen[c.Name] = true
	}
}

func TestInfoField(t *testing.T) {
	i := event.Info{Fields: []event.Field{{Key: "a", Value: "1"}, {Key: "a", Value: "2"}}}
	if i.Field("a") != "1" || i.Field("b") != "" {
		t.Error("Field")
	}
}

func TestExtremesSurvive(t *testing.T) {
	b := event.New([]int64{math.MinInt64, -1, math.MaxInt64}, []uint16{0, 1, 65535}, []uint16{65535, 0, 1}, []int8{0, 1, 1})
	back, err := event.FromRecord(b.Record())
	if err != nil {
		t.Fatal(err)
	}
	if d := eventtest.Diff(back, b); d != "" {
		t.Error(d)
	}
}
