package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
)

// grid makes n events, one every step microseconds from start on, that walk over the first pixels of a sensor.
func grid(n int, start, step int64, w, h int) event.Batch {
	b := event.NewBuffer(n)
	for i := range n {
		b.Append(start+int64(i)*step, uint16(i%w), uint16(i/w%h), int8(i&1))
	}
	return b.Batch()
}

func one(t int64, x, y uint16, p int8) event.Batch {
	return event.New([]int64{t}, []uint16{x}, []uint16{y}, []int8{p})
}

var vga = event.Geometry{Width: 640, Height: 480}

// csv prints all events of a recording.
func csv(t *testing.T, path string, args ...string) string {
	t.Helper()
	return must(t, 0, append([]string{"head", path, "-n", "1G"}, args...)...).out
}

// What goes into the store comes out of it, from each format that is written without a library; one line on
// stderr sums it up, and nothing is on stdout.
func TestConvert(t *testing.T) {
	for _, name := range []string{"a.raw", "a.parquet"} {
		in := write(t, name, vga, nil, grid(5000, 7, 20, 640, 480))
		dir := t.TempDir()
		out := filepath.Join(dir, "out")
		r := must(t, 0, "convert", in, "-o", out)
		if r.out != "" || strings.Count(r.errOut, "\n") != 1 {
			t.Errorf("%q, %q", r.out, r.errOut)
		}
		has(t, r.errOut, "5,000 events", "99.980 ms from 7 to 99987 µs", "B/event", "events/s")
		has(t, must(t, 0, "info", out).out, "parquet", "5,000", "640x480")
		if csv(t, in) != csv(t, out) {
			t.Error("the store holds other events")
		}
		back := filepath.Join(dir, "back.raw")
		must(t, 0, "convert", out, "-o", back)
		if csv(t, in) != csv(t, back) {
			t.Error("back as EVT3 the events differ")
		}
		as2 := filepath.Join(dir, "as2.dat")
		must(t, 0, "convert", out, "--to", "evt2", "-o", as2)
		has(t, must(t, 0, "info", as2).out, "evt2")
		if got := eventtest.Names(t, dir); len(got) != 3 {
			t.Errorf("the folder holds %v", got)
		}
	}
}

// An output that exists stays as it is, unless it may be overwritten.
func TestOutputExists(t *testing.T) {
	in := drive(t)
	for _, verb := range [][]string{
		{"convert", in, "-o", "x.parquet"}, {"tensor", in, "--repr", "rvt", "-o", "x.npy"}, {"bench", "generate", "--events", "1k", "-o", "x.raw"},
	} {
		dir := t.TempDir()
		out := filepath.Join(dir, verb[len(verb)-1])
		verb[len(verb)-1] = out
		if err := os.WriteFile(out, []byte("mine"), 0o666); err != nil {
			t.Fatal(err)
		}
		has(t, must(t, exitFailed, verb...).errOut, "exists", "--force")
		if b, _ := os.ReadFile(out); string(b) != "mine" {
			t.Errorf("%v changed the file", verb)
		}
		must(t, 0, append(verb, "--force")...)
		if got := eventtest.Names(t, dir); len(got) != 1 {
			t.Errorf("%v leaves %v", verb, got)
		}
	}
}

// Filters apply in the order written; --time is half-open.
func TestFilters(t *testing.T) {
	in := write(t, "a.raw", vga, nil, grid(40, 1000, 100, 10, 480))
	out := filepath.Join(t.TempDir(), "o.parquet")
	for _, c := range []struct {
		args []string
		keep func(t int64, x, y, p int) bool
	}{
		{[]string{"--time", "1000us..3000us"}, func(t int64, _, _, _ int) bool { return t < 3000 }},
		{[]string{"--time", "+1ms..+2ms"}, func(t int64, _, _, _ int) bool { return t >= 2000 && t < 3000 }},
		{[]string{"--time", "2.5ms.."}, func(t int64, _, _, _ int) bool { return t >= 2500 }},
		{[]string{"--time", "..2500"}, func(t int64, _, _, _ int) bool { return t < 2500 }},
		{[]string{"--time", "..2500", "--time", "2ms.."}, func(t int64, _, _, _ int) bool { return t >= 2000 && t < 2500 }},
		{[]string{"--roi", "2,1,4,2"}, func(_ int64, x, y, _ int) bool { return x >= 2 && x <= 4 && y >= 1 && y <= 2 }},
		{[]string{"--polarity", "on"}, func(_ int64, _, _, p int) bool { return p == 1 }},
		{[]string{"--polarity", "off", "--roi", "0,0,3,0"}, func(_ int64, x, y, p int) bool { return p == 0 && x <= 3 && y == 0 }},
		{[]string{"--time", "90s..91s"}, func(int64, int, int, int) bool { return false }},
	} {
		var want strings.Builder
		want.WriteString("t,x,y,p\n")
		b := grid(40, 1000, 100, 10, 480)
		for i, v := range b.T() {
			if c.keep(v, int(b.X()[i]), int(b.Y()[i]), int(b.P()[i])) {
				fmt.Fprintf(&want, "%d,%d,%d,%d\n", v, b.X()[i], b.Y()[i], b.P()[i])
			}
		}
		if got := csv(t, in, c.args...); got != want.String() {
			t.Errorf("head %v prints\n%swant\n%s", c.args, got, want.String())
		}
		must(t, 0, append([]string{"convert", in, "-o", out, "--force"}, c.args...)...)
		if got := csv(t, out); got != want.String() {
			t.Errorf("convert %v keeps\n%swant\n%s", c.args, got, want.String())
		}
		has(t, must(t, 0, "info", out).out, "evq.filters")
	}
}

// Losses end with 3 and are named; --strict makes them errors, and what was chosen goes on.
func TestLosses(t *testing.T) {
	stray := write(t, "stray.raw", vga, nil, grid(300, 1, 1, 640, 480), one(400, 1308, 10, 1))
	many := write(t, "many.raw", vga, nil, grid(20, 1, 1, 640, 480), one(400, 1308, 10, 1))
	axes := write(t, "axes.raw", event.Geometry{Width: 346, Height: 260}, nil, grid(10, 1, 1, 250, 4), one(400, 2, 345, 1))
	cut := write(t, "cut.raw", vga, nil, grid(10, 1, 1, 640, 480))
	f, err := os.OpenFile(cut, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte{5}); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		in   string
		args []string
		code int
		want string
	}{
		{stray, nil, 3, "lost 1 offsensor"},
		{stray, []string{"--strict"}, 1, "--on-offsensor"},
		{stray, []string{"--on-offsensor", "error"}, 1, "x=1308"},
		{stray, []string{"--on-offsensor", "keep"}, 0, "301 events"},
		{stray, []string{"--size", "1400x480"}, 0, "640x480"}, // a note
		{many, nil, 1, "--swap-xy"},
		{many, []string{"--on-offsensor", "drop"}, 3, "lost 1 offsensor"},
		{axes, nil, 1, "exchanged"},
		{axes, []string{"--swap-xy"}, 0, "11 events"},
		{cut, nil, 3, "lost 1 trailing_bytes"},
		{cut, []string{"--strict"}, 1, ""},
	} {
		dir := t.TempDir()
		r := must(t, c.code, append([]string{"convert", c.in, "-o", filepath.Join(dir, "o.parquet")}, c.args...)...)
		has(t, r.errOut, c.want)
		if c.code != 0 {
			has(t, r.errOut, filepath.Base(c.in))
		}
		if got := eventtest.Names(t, dir); len(got) != 0 != (c.code != 1) {
			t.Errorf("%v: code %d leaves %v", c.args, c.code, got)
		}
	}
}

// What was lost is said even where nothing else is.
func TestQuietLosses(t *testing.T) {
	in := write(t, "a.raw", vga, nil, grid(300, 1, 1, 640, 480), one(400, 1308, 10, 1))
	out := filepath.Join(t.TempDir(), "o.parquet")
	if r := must(t, 3, "convert", in, "-o", out, "-q"); r.errOut != "evq: "+in+": lost 1 offsensor\n" {
		t.Errorf("-q prints %q", r.errOut)
	}
	has(t, must(t, 3, "convert", in, "-o", out, "--force", "--log-format", "json").errOut, `"msg":"`+in+`: lost 1 offsensor"`)
}

// Recordings without events: a header alone is a valid empty store, 0 bytes need a format.
func TestEmpty(t *testing.T) {
	dir := t.TempDir()
	header, nothing, out := filepath.Join(dir, "h.raw"), filepath.Join(dir, "n.raw"), filepath.Join(dir, "o.parquet")
	if err := os.WriteFile(header, []byte("% evt 3.0\n% end\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(nothing, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	has(t, must(t, 0, "convert", header, "-o", out).errOut, "0 events")
	has(t, must(t, 0, "info", out).out, "events    0\n")
	has(t, must(t, 0, "info", header).out, "events    0\n")
	if got := csv(t, out); got != "t,x,y,p\n" {
		t.Errorf("head prints %q", got)
	}
	must(t, 0, "convert", nothing, "--format", "evt3", "-o", out, "--force")
	has(t, must(t, 0, "info", out, "--full").out, "events    0\n")
	must(t, 0, "convert", out, "--time", "+1s..+2s", "-o", filepath.Join(dir, "f.parquet"))
}

// --zero subtracts the first time and records the shift; without it times stay as they are.
func TestZero(t *testing.T) {
	in := write(t, "a.raw", vga, nil, grid(3, 6_437_104, 10, 640, 480))
	out := filepath.Join(t.TempDir(), "o.parquet")
	must(t, 0, "convert", in, "-o", out)
	has(t, csv(t, out), "\n6437104,0,0,0\n")
	must(t, 0, "convert", in, "-o", out, "--zero", "--force")
	has(t, csv(t, out), "\n0,0,0,0\n10,1,0,1\n")
	has(t, must(t, 0, "info", out).out, "6437104 µs were subtracted", "first t   0 µs")
	has(t, must(t, 0, "info", in, "--zero").out, "6437104 µs were subtracted")
}

// Triggers go beside the store, those of the time that is kept; a rerun removes stale ones.
func TestTriggers(t *testing.T) {
	tr := []event.Trigger{{T: 5, Channel: 2, Rising: true}, {T: 25, Channel: 2}}
	in := write(t, "a.raw", vga, tr, grid(5, 10, 10, 640, 480))
	bare := write(t, "b.raw", vga, nil, grid(5, 10, 10, 640, 480))
	dir := t.TempDir()
	out := filepath.Join(dir, "o.parquet")
	has(t, must(t, 0, "convert", in, "-o", out).errOut, "2 triggers")
	const both = "t,channel,edge\n5,2,rising\n25,2,falling\n"
	for _, rec := range []string{in, out} {
		if got := must(t, 0, "head", "--triggers", rec).out; got != both {
			t.Errorf("%s: %s", rec, got)
		}
		if got := must(t, 0, "head", "--triggers", rec, "-n", "1").out; got != "t,channel,edge\n5,2,rising\n" {
			t.Errorf("%s -n 1: %s", rec, got)
		}
		if got := must(t, 0, "head", "--triggers", rec, "--from", "+1us").out; got != "t,channel,edge\n25,2,falling\n" {
			t.Errorf("%s --from: %s", rec, got)
		}
	}
	has(t, must(t, 0, "info", out).out, "triggers")
	must(t, 0, "convert", in, "-o", out, "--force", "--time", "20..")
	if got := must(t, 0, "head", "--triggers", out).out; got != "t,channel,edge\n25,2,falling\n" {
		t.Errorf("with --time: %s", got)
	}
	must(t, 0, "convert", bare, "-o", out, "--force")
	if got := eventtest.Names(t, dir); !slices.Equal(got, []string{"o.parquet"}) {
		t.Errorf("the rerun leaves %v", got)
	}
}

// Several recordings go to a folder; one that fails keeps none of the others from being converted.
func TestFolder(t *testing.T) {
	a, b := write(t, "a.raw", vga, nil, grid(5, 1, 1, 640, 480)), write(t, "b.raw", vga, nil, grid(6, 1, 1, 640, 480))
	bad := filepath.Join(t.TempDir(), "bad.raw")
	if err := os.WriteFile(bad, []byte("no recording at all"), 0o666); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "new", "stores") + "/"
	r := must(t, exitFailed, "convert", a, bad, b, "-o", dir)
	has(t, r.errOut, "bad.raw", "5 events", "6 events")
	if got := eventtest.Names(t, dir); !slices.Equal(got, []string{"a.parquet", "b.parquet"}) {
		t.Errorf("the folder holds %v", got)
	}
	must(t, 0, "convert", a, "-o", dir, "--to", "evt2")
	if got := eventtest.Names(t, dir); len(got) != 3 {
		t.Errorf("the folder holds %v", got)
	}
}

// A dry run says what would be done, and does nothing.
func TestDryRun(t *testing.T) {
	in := drive(t)
	dir := t.TempDir()
	r := must(t, 0, "convert", in, "-o", filepath.Join(dir, "o.parquet"), "--dry-run", "--on-unsorted", "clamp", "--roi", "0,0,9,9")
	has(t, r.out, "evt3", "128x96", "o.parquet", "clamp", "roi 0,0,9,9")
	if got := eventtest.Names(t, dir); len(got) != 0 {
		t.Errorf("it leaves %v", got)
	}
}

// The input's folder stays as it was, writable or not.
func TestReadOnlyFolder(t *testing.T) {
	in := drive(t)
	dir := filepath.Dir(in)
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(dir, 0o755) })
	must(t, 0, "convert", in, "-o", filepath.Join(t.TempDir(), "o.parquet"))
	must(t, 0, "tensor", in, "--window", "100ms", "--repr", "rvt", "-o", filepath.Join(t.TempDir(), "o.npz"))
	if got := eventtest.Names(t, dir); !slices.Equal(got, []string{"drive.raw"}) {
		t.Errorf("the input's folder holds %v", got)
	}
}

// A run that is cancelled leaves nothing behind and says so.
func TestCancelled(t *testing.T) {
	in := drive(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, verb := range [][]string{
		{"convert", in, "-o", "o.parquet"}, {"tensor", in, "--repr", "rvt", "-o", "o.npy"},
		{"bench", "generate", "--events", "100M", "-o", "o.raw"},
	} {
		dir := t.TempDir()
		verb[len(verb)-1] = filepath.Join(dir, verb[len(verb)-1])
		r := evqIn(t, ctx, nil, verb...)
		if r.code != exitInterrupted || r.errOut != "evq: interrupted\n" {
			t.Errorf("%v: %+v", verb, r)
		}
		if got := eventtest.Names(t, dir); len(got) != 0 {
			t.Errorf("%v leaves %v", verb, got)
		}
	}
	for _, verb := range [][]string{{"info", in}, {"head", in}} {
		if r := evqIn(t, ctx, nil, verb...); r.code != exitInterrupted {
			t.Errorf("%v: %+v", verb, r)
		}
	}
}

// The same seed gives the same bytes, in every format that is written; another gives others.
func TestGenerate(t *testing.T) {
	dir := t.TempDir()
	gen := func(name string, args ...string) []byte {
		path := filepath.Join(dir, name)
		must(t, 0, append([]string{"bench", "generate", "-o", path, "--events", "3k", "--seconds", "0.1", "--size", "64x48", "--force"}, args...)...)
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	a := gen("a.raw")
	if !bytes.Equal(a, gen("b.raw", "--seed", "1")) || bytes.Equal(a, gen("c.raw", "--seed", "2")) {
		t.Error("the seed does not decide")
	}
	gen("a.parquet")
	gen("e2.raw", "--to", "evt2")
	others := []string{"a.parquet", "e2.raw"}
	if hdf5Built {
		gen("a.h5")
		others = append(others, "a.h5")
	}
	for _, other := range others {
		if csv(t, filepath.Join(dir, "a.raw")) != csv(t, filepath.Join(dir, other)) {
			t.Errorf("%s holds other events", other)
		}
	}
}
