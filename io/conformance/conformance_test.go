package conformance

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
)

var vga = event.Geometry{Width: 640, Height: 480}

// shuffled takes a recording out of order: most events stay near their place, some go far.
func shuffled(b event.Batch, reach int) event.Batch {
	r := rand.New(rand.NewPCG(4, 2))
	rows := make([]int, b.Len())
	for i := range rows {
		rows[i] = i
	}
	for i := range rows {
		j := min(i+r.IntN(reach), len(rows)-1)
		rows[i], rows[j] = rows[j], rows[i]
	}
	out := event.NewBuffer(len(rows))
	for _, i := range rows {
		out.Append(b.T()[i], b.X()[i], b.Y()[i], b.P()[i])
	}
	return out.Batch()
}

// oneTime has n events at one time, in no order of their pixels.
func oneTime(n int) event.Batch {
	r := rand.New(rand.NewPCG(8, 8))
	b := event.NewBuffer(n)
	for range n {
		b.Append(-5, uint16(r.Uint32()), uint16(r.Uint32()), int8(r.IntN(2)))
	}
	return b.Batch()
}

// Both digests are those of an oracle that holds everything, in any order and in little memory too.
func TestDigests(t *testing.T) {
	rec := eventtest.Recording(3, 30_000, vga)
	for name, in := range map[string]event.Batch{
		"empty": {}, "one": rec.Slice(0, 1), "recording": rec, "near": shuffled(rec, 20), "far": shuffled(rec, 30_000), "one time": oneTime(60_000),
	} {
		file, sorted := eventtest.Digest(in)
		for _, o := range []Options{{}, {Memory: 1, TempDir: t.TempDir()}} {
			for _, batch := range []int{7, 5000} {
				s, rep, err := Summarise(t.Context(), eventtest.Source(in, vga, batch), o)
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				if s.FileOrder != file || s.Sorted != sorted {
					t.Errorf("%s, memory %d, batches of %d: %s %s, want %s %s", name, o.Memory, batch, s.FileOrder, s.Sorted, file, sorted)
				}
				if s.N != int64(in.Len()) || rep == nil {
					t.Errorf("%s: %d events, report %v", name, s.N, rep)
				}
			}
			if left, err := os.ReadDir(o.TempDir); o.TempDir != "" && (err != nil || len(left) > 0) {
				t.Errorf("%s: left behind: %v, %v", name, left, err)
			}
		}
	}
}

// The numbers of three events, counted by hand.
func TestSummary(t *testing.T) {
	in := event.New([]int64{10, 8, 12}, []uint16{7, 2, 6}, []uint16{8, 4, 9}, []int8{1, 0, 1})
	s, _, err := Summarise(t.Context(), eventtest.Source(in, vga, 2), Options{})
	if err != nil {
		t.Fatal(err)
	}
	s.FileOrder, s.Sorted = "", ""
	all := []Event{{7, 8, 1, 10}, {2, 4, 0, 8}, {6, 9, 1, 12}}
	want := &Summary{N: 3, Geometry: "640x480", TFirst: 10, TLast: 12, XMax: 7, YMax: 9, Pos: 2, Neg: 1, SumX: 15, SumY: 21, SumT: 30, Nonmonotonic: 1, Head: all, Tail: all, TriggerHead: []Trigger{}}
	if !reflect.DeepEqual(s, want) {
		t.Errorf("%+v, want %+v", s, want)
	}
	long, _, err := Summarise(t.Context(), eventtest.Source(eventtest.Recording(3, 1000, vga), vga, 7), Options{})
	if err != nil {
		t.Fatal(err)
	}
	b := eventtest.Recording(3, 1000, vga)
	n := b.Len()
	for i := range Ends {
		for at, got := range map[int]Event{i: long.Head[i], n - Ends + i: long.Tail[i]} {
			if w := (Event{int64(b.X()[at]), int64(b.Y()[at]), int64(b.P()[at]), b.T()[at]}); got != w {
				t.Errorf("event %d is %v, want %v", at, got, w)
			}
		}
	}
}

func summaryOf(t *testing.T, in event.Batch) *Summary {
	t.Helper()
	s, _, err := Summarise(t.Context(), eventtest.Source(in, vga, 100), Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// changed returns a copy of b with one event moved by a pixel.
func changed(b event.Batch, at int) event.Batch {
	out := event.NewBuffer(b.Len())
	out.AppendBatch(b)
	out.X[at] ^= 1
	return out.Batch()
}

// A difference at either end is told with its event; one between them by the digests.
func TestCompare(t *testing.T) {
	rec := eventtest.Recording(3, 1000, vga)
	ref := Expect(summaryOf(t, rec))
	n := int64(rec.Len())
	for name, c := range map[string]struct {
		in    event.Batch
		first int64 // -1: not told
		equal bool
	}{
		"equal":      {rec, -1, true},
		"first":      {changed(rec, 0), 0, false},
		"15":         {changed(rec, 15), 15, false},
		"middle":     {changed(rec, 500), -1, false},
		"last":       {changed(rec, int(n)-1), n - 1, false},
		"missing":    {rec.Slice(0, int(n)-1), -1, false},
		"only three": {rec.Slice(0, 3), 3, false},
		"other":      {shuffled(rec, 5), 0, false},
	} {
		got, err := ref.Compare(summaryOf(t, c.in), Scope{})
		if err != nil {
			t.Fatal(err)
		}
		if got.Equal() != c.equal {
			t.Errorf("%s: %+v", name, got)
		}
		if name == "other" {
			continue // where it begins is the generator's matter
		}
		if (got.First == nil) != (c.first < 0) || got.First != nil && got.First.Index != c.first {
			t.Errorf("%s: the first is %+v, want %d", name, got.First, c.first)
		}
	}
	// In another order only what depends on the order differs.
	got, err := ref.Compare(summaryOf(t, shuffled(rec, 5)), Scope{AnyOrder: true})
	if err != nil || !got.Equal() || len(got.Compared) == 0 {
		t.Errorf("any order: %+v, %v", got, err)
	}
	// A foreign reference may know more events at the start than a summary holds, or other cases of letters.
	ref.Head = append(ref.Head, Event{1, 2, 3, 4})
	ref.Sorted = strings.ToUpper(ref.Sorted)
	if got, err := ref.Compare(summaryOf(t, rec), Scope{}); err != nil || !got.Equal() {
		t.Errorf("foreign: %+v, %v", got, err)
	}
}

// Every value of a reference is compared: changing one in a file of references is seen.
func TestEveryValueCounts(t *testing.T) {
	s := summaryOf(t, eventtest.Recording(3, 100, vga))
	s.Triggers, s.TriggerHead, s.TriggerSumT = 1, []Trigger{{1, 0, 5}}, 5
	for _, v := range values {
		other := *s
		switch x := v.of(s).(type) {
		case string:
			other = with(t, other, v.key, `"`+x+`1"`)
		case []Event:
			other = with(t, other, v.key, "[[1,2,0,3]]")
		case []Trigger:
			other = with(t, other, v.key, "[[0,0,5]]")
		default:
			other = with(t, other, v.key, "77")
		}
		c, err := Expect(&other).Compare(s, Scope{})
		if err != nil || len(c.Differences) != 1 || c.Differences[0].Value != v.key {
			t.Errorf("%s: %+v, %v", v.key, c, err)
		}
		if v.triggers {
			if c, err := Expect(&other).Compare(s, Scope{NoTriggers: true}); err != nil || !c.Equal() {
				t.Errorf("%s without triggers: %+v, %v", v.key, c, err)
			}
		}
	}
}

// with sets one value by its key.
func with(t *testing.T, s Summary, key, json string) Summary {
	t.Helper()
	var e Expected
	if err := e.UnmarshalJSON([]byte(`{"` + key + `": ` + json + `}`)); err != nil {
		t.Fatal(err)
	}
	if !e.Knows(key) {
		t.Fatalf("%s is not known", key)
	}
	out, from := reflect.ValueOf(&s).Elem(), reflect.ValueOf(e.Summary)
	for i := range from.NumField() {
		if tag, _, _ := strings.Cut(from.Type().Field(i).Tag.Get("json"), ","); tag == key {
			out.Field(i).Set(from.Field(i))
		}
	}
	return s
}

func TestReferencesFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ref.json")
	s := summaryOf(t, eventtest.Recording(3, 100, vga))
	refs := References{"a/one.raw": Expect(s), "b/one.raw": Expect(s), "two.raw": Expect(s)}
	if err := refs.Write(path, false); err != nil {
		t.Fatal(err)
	}
	if err := refs.Write(path, false); err == nil {
		t.Error("overwritten")
	}
	if err := refs.Write(path, true); err != nil {
		t.Error(err)
	}
	got, err := Load(path)
	if err != nil || !reflect.DeepEqual(got, refs) {
		t.Fatalf("read back otherwise: %v", err)
	}
	for in, want := range map[string]string{
		"a/one.raw": "a/one.raw", "/data/b/one.raw": "b/one.raw", "two.raw": "two.raw", "/x/two.raw": "two.raw",
	} {
		if name, _, err := got.Find(in); name != want || err != nil {
			t.Errorf("%s: %q, %v", in, name, err)
		}
	}
	if _, _, err := got.Find("one.raw"); !errors.Is(err, ErrAmbiguous) {
		t.Errorf("two names: %v", err)
	}
	if _, _, err := got.Find("wo.raw"); !errors.Is(err, ErrNotThere) {
		t.Errorf("no name: %v", err)
	}
}

// A reference need not know every value; one that knows none is no reference.
func TestPartialReferences(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ref.json")
	for text, want := range map[string]error{
		`{"r": {"n": 100, "author": "me", "t_first": null}}`: nil,
		`{"r": {"author": "me"}}`:                            ErrNoValue,
	} {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		refs, err := Load(path)
		if err != nil {
			t.Fatal(err)
		}
		s := &Summary{N: 100, TFirst: 3}
		c, err := refs["r"].Compare(s, Scope{})
		if !errors.Is(err, want) || err == nil && (!c.Equal() || len(c.Compared) != 1) {
			t.Errorf("%s: %+v, %v", text, c, err)
		}
	}
	for _, text := range []string{"", "[]", `{"r": 5}`, `{"r": {"n": "many"}}`, `{"r": {"head": [["x", 2, 3, 4]]}}`} {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(path); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
