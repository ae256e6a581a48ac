package nmnist

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/formattest"
)

type (
	ev     = formattest.Event
	counts = map[event.Counter]int64
)

// rec makes a recording of events as they are stored.
func rec(events ...ev) []byte {
	var out []byte
	for _, e := range events {
		out = append(out, byte(e[0]), byte(e[1]), byte(e[2]<<7|e[3]>>16), byte(e[3]>>8), byte(e[3]))
	}
	return out
}

// rising are events whose coordinates, polarities and times all differ in how they go on.
func rising(n int) (out []ev) {
	for i := range int64(n) {
		out = append(out, ev{i * 7 % 34, i * 5 % 33, i / 3 % 2, 300 + i*i*11})
	}
	return out
}

func shifted(e []ev, by int64) []ev {
	e = slices.Clone(e)
	for i := range e {
		e[i][3] += by
	}
	return e
}

var cases = []formattest.Case{
	{Name: "rising", Data: rec(rising(40)...), Want: rising(40)},
	{Name: "extremes", Data: rec(ev{0, 0, 0, 0}, ev{255, 239, 1, 500}, ev{3, 255, 0, 1<<23 - 1}), Want: []ev{{0, 0, 0, 0}, {255, 239, 1, 500}, {3, 255, 0, 1<<23 - 1}},
		Counters: counts{event.Gaps: 1}, Forced: true},
	{Name: "ties keep their order", Data: rec(ev{3, 5, 0, 7}, ev{2, 9, 1, 7}, ev{1, 1, 0, 7}), Want: []ev{{3, 5, 0, 7}, {2, 9, 1, 7}, {1, 1, 0, 7}}, Forced: true},
	{Name: "overflow", Data: rec(slices.Concat(rising(20), []ev{{1, 240, 1, 0}}, rising(20))...),
		Want: slices.Concat(rising(20), shifted(rising(20), 1<<13)), Counters: counts{event.Wraps: 1}},
	{Name: "two overflows", Data: rec(ev{1, 2, 0, 8000}, ev{0, 240, 0, 100}, ev{3, 5, 1, 200}, ev{0, 240, 0, 1}, ev{4, 6, 0, 2}),
		Want: []ev{{1, 2, 0, 8000}, {3, 5, 1, 8392}, {4, 6, 0, 16386}}, Counters: counts{event.Wraps: 2}, Forced: true},
	{Name: "out of order", Data: rec(ev{1, 2, 0, 50}, ev{3, 5, 1, 20}), Want: []ev{{3, 5, 1, 20}, {1, 2, 0, 50}}, Counters: counts{event.Glitches: 1, event.Unsorted: 1}, Forced: true},
	{Name: "off the sensor", Data: rec(ev{34, 2, 0, 50}, ev{3, 5, 1, 60}), Policy: format.Policy{Size: event.Geometry{Width: 34, Height: 34}},
		Want: []ev{{3, 5, 1, 60}}, Counters: counts{event.OffSensor: 1}, Forced: true},
	{Name: "a byte too many", Data: append(rec(rising(40)...), 9), Want: rising(40), Counters: counts{event.TrailingBytes: 1}, Forced: true},
	{Name: "empty", Forced: true},
}

func TestConformance(t *testing.T) { formattest.Run(t, Format, cases...) }

func TestStrict(t *testing.T) {
	strict := format.Policy{Strict: true}
	formattest.CheckDamages(t, Format,
		formattest.Damage{Name: "cut record", Data: append(rec(ev{1, 2, 0, 3}), 1, 2), Policy: strict, Offset: 5},
		formattest.Damage{Name: "whole", Data: rec(ev{1, 2, 0, 3}, ev{0, 240, 0, 5}), Policy: strict, Offset: -1})
}

func TestSniff(t *testing.T) {
	noise := make([]byte, 5*minRecords)
	for i, r := 0, rand.New(rand.NewPCG(3, 3)); i < len(noise); i++ {
		noise[i] = byte(r.Uint32())
	}
	var lines strings.Builder
	for i := range 60 {
		fmt.Fprintf(&lines, "%04d\n", 1010+i)
	}
	late := rising(40)
	late[30][3] = 0
	for _, c := range []struct {
		name string
		data []byte
		mine bool
	}{
		{"few records", rec(rising(minRecords - 1)...), false},
		{"enough records", rec(rising(minRecords)...), true},
		{"size", append(rec(rising(40)...), 0), false},
		{"a step back", rec(late...), false},
		{"one time", bytes.Repeat(rec(ev{1, 2, 0, 3}), 100), false},
		{"zeros", make([]byte, 5000), false},
		{"noise", noise, false},
		{"lines of five characters whose times rise", []byte(lines.String()), false},
	} {
		if p := Format.Sniff(formattest.File(c.data)); (p.Confidence > 0) != c.mine || p.Why == "" {
			t.Errorf("%s: %+v", c.name, p)
		}
	}
}

func TestRecordings(t *testing.T) {
	names := formattest.References(t, eventtest.Data(t), "nmnist_small", "aerbin")
	if len(names) < 5 {
		t.Fatalf("only %v", names)
	}
	formattest.CheckRecordings(t, Format, event.Geometry{}, names...)
}

// No recording of another format is claimed.
func TestOtherRecordings(t *testing.T) {
	data := eventtest.Data(t)
	err := filepath.WalkDir(data, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		folder := filepath.Base(filepath.Dir(path))
		if p := Format.Sniff(formattest.Open(t, path)); (p.Confidence > 0) != (folder == "nmnist_small" || folder == "aerbin") {
			t.Errorf("%s: %+v", path, p)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func FuzzDecode(f *testing.F) {
	for _, c := range cases {
		f.Add(c.Data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		_ = Format.Sniff(formattest.File(data))
		src, err := Format.Open(t.Context(), formattest.File(data), format.Policy{OnUnsorted: format.Clamp})
		if err != nil {
			t.Fatal(err)
		}
		events, _, rep := formattest.Collect(t, src)
		if int64(events.Len())+rep.N(event.Wraps) != int64(len(data)/5) || rep.N(event.TrailingBytes) != int64(len(data)%5) {
			t.Errorf("%d bytes: %v", len(data), rep)
		}
	})
}
