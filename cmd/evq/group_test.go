package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// five are events by hand: two windows of 10 ms, three pixels.
func five(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "five.csv")
	text := "# size 20x10\nt,x,y,p\n1000,3,2,1\n2000,3,2,0\n2500,4,2,1\n12000,19,9,1\n12001,3,2,1\n"
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// What evq query prints, as a person would count.
func TestQuery(t *testing.T) {
	in := five(t)
	store := filepath.Join(t.TempDir(), "five.parquet")
	must(t, 0, "convert", in, "--size", "20x10", "-o", store)
	for _, c := range []struct{ args, want string }{
		{"", "count\n5\n"},
		{"--agg 'count, min(t), max(x) as right, mean(p)'", "count,min(t),right,mean(p)\n5,1000,19,0.8\n"},
		{"--window 10ms", "window,window_start,window_end,window_events,count\n0,0,10000,3,3\n1,10000,20000,2,2\n"},
		{"--window 10ms --time 0..30ms", "window,window_start,window_end,window_events,count\n0,0,10000,3,3\n1,10000,20000,2,2\n2,20000,30000,0,0\n"},
		{"--group pixel --order count:desc,y --limit 2", "y,x,count\n2,3,3\n2,4,1\n"},
		{"--group p", "p,count\n0,1\n1,4\n"},
		{"--where 'p = on and x < 10' --group 'x // 2 as half'", "half,count\n1,2\n2,1\n"},
		{"--bin-width 1ms --window 10ms --time 0..10ms", "window,window_start,window_end,window_events,bin,count\n0,0,10000,3,1,1\n0,0,10000,3,2,2\n"},
		{"--count 3 --agg 'first(t), last(t)'", "window,window_start,window_end,window_events,first(t),last(t)\n0,1000,2500,3,1000,2500\n1,12000,12001,2,12000,12001\n"},
		{"--flip x --group x", "x,count\n0,1\n15,1\n16,3\n"},
		{"--crop 3,2,4,2 --group 'x, y'", "x,y,count\n0,0,3\n1,0,1\n"},
		{"--filter refractory:period=5ms --group pixel", "y,x,count\n2,3,2\n2,4,1\n9,19,1\n"},
		{"--shift-time -1ms --merge-polarity --agg 'min(t), sum(p)'", "min(t),sum(p)\n0,5\n"},
		{"--where false", "count\n0\n"},
		{"--agg 'rate, mean(t)' --where false", "rate,mean(t)\n,\n"},
	} {
		for _, file := range []string{in, store} {
			args := append([]string{"query", file, "--size", "20x10"}, shellWords(c.args)...)
			if got := must(t, 0, args...).out; got != c.want {
				t.Errorf("%s of %s:\n%swant\n%s", c.args, filepath.Ext(file), got, c.want)
			}
		}
	}
}

// Several recordings give rows each; merged they are one.
func TestQuerySeveral(t *testing.T) {
	in := five(t)
	other := filepath.Join(filepath.Dir(in), "other.csv")
	if err := os.WriteFile(other, []byte("t,x,y,p\n5,0,0,1\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("recording,count\n%s,5\n%s,1\n", in, other)
	if got := must(t, 0, "query", in, other).out; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := must(t, 0, "query", filepath.Join(filepath.Dir(in), "*.csv")).out; got != want {
		t.Errorf("a pattern gave %q", got)
	}
	if got := must(t, 0, "query", in, other, "--merge", "--agg", "count,first(t)").out; got != "count,first(t)\n6,5\n" {
		t.Errorf("merged: %q", got)
	}
}

func TestQueryFiles(t *testing.T) {
	in, dir := five(t), t.TempDir()
	out := filepath.Join(dir, "a.json")
	must(t, 0, "query", in, "--group", "p", "-o", out)
	b, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	var rows []map[string]int
	if err := json.Unmarshal(b, &rows); err != nil || len(rows) != 2 || rows[1]["count"] != 4 {
		t.Errorf("%s: %v", b, err)
	}
	has(t, must(t, 1, "query", in, "--group", "p", "-o", out).errOut, "--force")
	must(t, 0, "query", in, "--group", "p", "-o", filepath.Join(dir, "a.parquet"))
	must(t, 0, "query", in, "--group", "p", "-o", filepath.Join(dir, "a.arrow"))
	has(t, must(t, 0, "query", in, "--to", "pretty", "--group", "p").out, "p  count\n0      1\n")
}

// Windows from a trigger's edges, and at the times of labels.
func TestQueryWindowBy(t *testing.T) {
	raw := rawWords(t, 0x8000, 0x6001, 0xA001, 0x0002, 0x2003, 0x6005, 0x2004, 0x6007, 0xA001, 0x6008, 0x2005, 0x6009, 0xA000, 0xA001)
	got := must(t, 0, "query", raw, "--window-by", "trigger:channel=0,edge=rising").out
	want := "window,window_start,window_end,window_events,count\n0,1,7,2,2\n1,7,9,1,1\n"
	if got != want {
		t.Errorf("got %q", got)
	}
	got = must(t, 0, "query", raw, "--window-by", "trigger:edge=rising", "--span", "3us").out
	if !strings.HasPrefix(got, "window,window_start,window_end,window_events,count\n0,1,4,1,1\n1,7,10,1,1\n") {
		t.Errorf("with a span: %q", got)
	}
	has(t, must(t, 1, "query", five(t), "--window-by", "trigger").errOut, "no rising edge of trigger channel 0")
	has(t, must(t, 2, "query", raw, "--window-by", "labels:x.npy").errOut, "--span")
	has(t, must(t, 2, "query", raw, "--window-by", "triger").errOut, "did you mean trigger")
}

func TestQueryWrongUse(t *testing.T) {
	in := five(t)
	for _, c := range []struct{ args, want string }{
		{"--where 'x <'", "at 3"},
		{"--where 'z < 3'", "there is no z"},
		{"--group 'tyle(3)'", "did you mean tile"},
		{"--agg 'cont'", "did you mean count"},
		{"--agg 'mean'", "takes one argument"},
		{"--agg 'mean(x, y)'", "takes one argument"},
		{"--agg 'count, count'", "two columns called"},
		{"--order cnt", "no column \"cnt\""},
		{"--order count:down", "COLUMN:desc"},
		{"--bins 5 --bin-width 1ms", "give one"},
		{"--window 0s", "at least 1 µs"},
		{"--window -5ms", "negative"},
		{"--filter refractry", "did you mean refractory"},
		{"--filter refractory:perod=3ms", "did you mean period"},
		{"--rotate 45", "90, 180 or 270"},
		{"--bins 100000", "1 to 4096"},
	} {
		has(t, must(t, exitUsage, append([]string{"query", in}, shellWords(c.args)...)...).errOut, c.want)
	}
}

// An analysed query says what each operator did.
func TestExplainAnalyze(t *testing.T) {
	in := five(t)
	r := must(t, 0, "explain", "query", in, "--window", "10ms", "--group", "p", "--analyze")
	has(t, r.out, "stream_group", "analysed, in", "scan five.csv", "rows", "peak")
	r = must(t, 0, "explain", "tensor", in, "--size", "20x10", "--repr", "event_count", "--analyze")
	has(t, r.out, "represent event_count", "window whole recording")
}

// A cached recording is converted once, answers as it does raw, and its losses are told every time.
func TestCache(t *testing.T) {
	in, dir := five(t), filepath.Join(t.TempDir(), "cache")
	args := []string{"query", in, "--size", "10x10", "--group", "x", "--cache", dir} // one event lies off this sensor
	want := must(t, exitLosses, args[:6]...)
	for range 2 {
		if got := must(t, exitLosses, args...); got.out != want.out || got.errOut != want.errOut {
			t.Errorf("%q and %q, want %q and %q", got.out, got.errOut, want.out, want.errOut)
		}
	}
	stores, err := filepath.Glob(filepath.Join(dir, "five.csv.*.parquet"))
	if err != nil || len(stores) != 1 {
		t.Fatalf("the cache holds %v: %v", stores, err)
	}
	must(t, 0, "query", in, "--size", "20x10", "--cache", dir) // another policy
	if err := os.WriteFile(in, []byte("t,x,y,p\n5,0,0,1\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if got := must(t, 0, args...).out; got != "x,count\n0,1\n" {
		t.Errorf("of a changed recording: %q", got)
	}
	if stores, _ = filepath.Glob(filepath.Join(dir, "*.parquet")); len(stores) != 3 {
		t.Errorf("the cache holds %v", stores)
	}
}
