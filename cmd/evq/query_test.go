package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/format"
)

// writeGrid writes times as a .npy of int64.
func writeGrid(t *testing.T, times ...int64) string {
	t.Helper()
	header := fmt.Sprintf("{'descr': '<i8', 'fortran_order': False, 'shape': (%d,), }", len(times))
	header += strings.Repeat(" ", 128-10-len(header)-1) + "\n"
	b := binary.LittleEndian.AppendUint16([]byte("\x93NUMPY\x01\x00"), uint16(len(header)))
	b = append(b, header...)
	for _, v := range times {
		b = binary.LittleEndian.AppendUint64(b, uint64(v))
	}
	path := filepath.Join(t.TempDir(), "grid.npy")
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// shapeOf reads the shape in the header of a .npy.
func shapeOf(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := bytes.Cut(b, []byte("'shape': ("))
	shape, _, _ := bytes.Cut(rest, []byte(")"))
	return string(shape)
}

// Each kind of windows makes as many blocks as it should.
func TestWindows(t *testing.T) {
	in := write(t, "a.parquet", event.Geometry{Width: 8, Height: 6}, nil, grid(100, 1_000_500, 1000, 8, 6)) // to 1,099,500
	ends := writeGrid(t, 1_050_000, 1_100_000)
	for _, c := range []struct {
		args string
		n    int
	}{
		{"", 1},
		{"--window 10ms", 10},
		{"--window 10ms --origin first", 10},
		{"--window 10ms --origin 5ms", 11},
		{"--window 10ms --hop 5ms", 21},
		{"--window 10ms --time 1s..1.05s", 5},
		{"--window 10ms --time 0.5s..1.05s", 55},
		{"--window 10ms --time ..1.05s", 5},
		{"--window 10ms --time 1.05s..", 5},
		{"--window 10ms --time 1s..5s --time 1.02s..1.03s", 1},
		{"--window 10ms --time +0..+10ms", 2},
		{"--window 10ms --time 1.205s..", 0},
		{"--window 10ms --time ..0.905s", 0},
		{"--ends " + ends + " --span 50ms", 2},
		{"--count 30", 4},
		{"--count 30 --complete", 3},
		{"--count 30 --step 40", 3},
	} {
		out := filepath.Join(t.TempDir(), "o.npy")
		args := append([]string{"tensor", in, "-o", out, "--repr", "stacked_histogram:bins=3"}, strings.Fields(c.args)...)
		must(t, 0, args...)
		if got, want := shapeOf(t, out), fmt.Sprintf("%d, 6, 6, 8", c.n); got != want {
			t.Errorf("%s: shape %s, want %s", c.args, got, want)
		}
	}
}

// A range of time without any time has no windows to write.
func TestNoTime(t *testing.T) {
	in := drive(t)
	for _, times := range [][]string{{"--time", "1s..1s"}, {"--time", "1s..2s", "--time", "3s..4s"}} {
		args := append([]string{"tensor", in, "--window", "10ms", "--repr", "rvt", "-o", filepath.Join(t.TempDir(), "o.npy")}, times...)
		has(t, must(t, exitUsage, args...).errOut, "no time in common")
	}
}

// The same blocks come from a raw file and its store, and from the plan as it was written.
func TestSameBlocks(t *testing.T) {
	raw := drive(t)
	store := filepath.Join(t.TempDir(), "d.parquet")
	must(t, 0, "convert", raw, "-o", store)
	run := func(in string, args ...string) []byte {
		out := filepath.Join(t.TempDir(), "o.npy")
		must(t, 0, append([]string{"tensor", in, "-o", out, "--window", "100ms", "--time", "+0..+1s", "--polarity", "on"}, args...)...)
		b, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	want := run(store, "--repr", "rvt")
	for _, args := range [][]string{
		{"--repr", "rvt", "--rules", "none"}, {"--repr", "rvt", "--rules", "-fuse_histogram,-box_into_scan"}, {"--repr", "rvt", "--threads", "1"},
		{"--repr", "stacked_histogram:downsample=2,overflow=wrap", "--device", "cpu"},
	} {
		if !bytes.Equal(run(store, args...), want) {
			t.Errorf("the store with %v gives other blocks", args)
		}
	}
	if !bytes.Equal(run(raw, "--repr", "rvt"), want) {
		t.Error("the raw file gives other blocks")
	}
}

// Every output is made, and its summary says what is in it.
func TestBlockOutputs(t *testing.T) {
	raw := drive(t)
	for _, name := range []string{"o.npy", "o.npz", "o.arrow", "o.png", "o.h5"} {
		if name == "o.h5" && !hdf5Built {
			has(t, must(t, 1, "tensor", raw, "--repr", "rvt", "-o", filepath.Join(t.TempDir(), name)).errOut, "-tags hdf5")
			continue
		}
		dir := t.TempDir()
		r := must(t, 0, "tensor", raw, "--window", "250ms", "--repr", "stacked_histogram:bins=1", "-o", filepath.Join(dir, name))
		has(t, r.errOut, "4 windows of (2, 96, 128) uint8", "0 empty", "20,000 events")
		if got := eventtest.Names(t, dir); len(got) != 1 || got[0] != name || r.out != "" {
			t.Errorf("%s: %v, stdout %q", name, got, r.out)
		}
	}
	if hdf5Built {
		out := filepath.Join(t.TempDir(), "o.bin")
		must(t, 0, "tensor", raw, "--window", "250ms", "--repr", "rvt", "--to", "h5", "--compression", "gzip", "-o", out)
		if b, err := os.ReadFile(out); err != nil || !bytes.HasPrefix(b, []byte("\x89HDF")) {
			t.Errorf("no HDF5: %v", err)
		}
	}
}

// A grid that reaches beyond the recording is right, with a warning; one that is none is an error.
func TestGrids(t *testing.T) {
	batch := grid(100, 1000, 10, 8, 6) // to 1990
	for _, name := range []string{"a.raw", "a.parquet"} {
		in := write(t, name, event.Geometry{Width: 8, Height: 6}, nil, batch)
		out := filepath.Join(t.TempDir(), "o.npy")
		run := func(code int, times ...int64) string {
			return must(t, code, "tensor", in, "--ends", writeGrid(t, times...), "--span", "100us", "--repr", "rvt", "-o", out, "--force").errOut
		}
		if s := run(0, 1100, 1990); strings.Contains(s, "beyond") {
			t.Errorf("a grid within: %s", s)
		}
		has(t, run(0, 500, 1500, 2500, 3000), "4 windows", "3 empty", "beyond the recording")
		has(t, run(1, 5, 4), "sort")
		has(t, run(1), "empty")
	}
	in := write(t, "a.parquet", event.Geometry{Width: 8, Height: 6}, nil, batch)
	r := must(t, 0, "tensor", in, "--ends", writeGrid(t, 1050, 2000), "--span", "100us", "--repr", "rvt", "-o", filepath.Join(t.TempDir(), "o.npy"))
	has(t, r.errOut, "1 window begins before its first event at 1000 µs", "1 window ends after its last event at 1990 µs")
}

// Without a sensor size there are no blocks, and the error says how far events reach.
func TestNoSize(t *testing.T) {
	in := write(t, "a.parquet", event.Geometry{}, nil, one(1, 65535, 3, 1))
	out := filepath.Join(t.TempDir(), "o.npy")
	r := must(t, 1, "tensor", in, "--repr", "stacked_histogram", "-o", out)
	has(t, r.errOut, "x=65535", "y=3", "--size")
	has(t, must(t, 0, "info", in).out, "unknown; --size WxH")
	r = must(t, 3, "tensor", in, "--repr", "stacked_histogram", "-o", out, "--size", "4x4")
	has(t, r.errOut, "lost 1")
	// What was asked to be kept is no loss.
	r = must(t, 0, "tensor", in, "--repr", "stacked_histogram", "-o", out, "--size", "4x4", "--on-offsensor", "keep", "--force")
	has(t, r.errOut, "1 event lay off the sensor")
}

// The policies a representation is defined with replace the defaults, never what was given.
func TestPreset(t *testing.T) {
	for _, c := range []struct {
		args      string
		unsorted  format.Choice
		offSensor format.Choice
	}{
		{"--repr rvt", "clamp", "keep"},
		{"--repr rvt --on-unsorted sort", "sort", "keep"},
		{"--repr rvt --on-offsensor drop --on-unsorted error", "error", "drop"},
		{"--repr stacked_histogram", "sort", "drop"},
		{"--repr stacked_histogram:offsensor=rvt-flat", "sort", "keep"},
	} {
		q := &tensorQuery{input: input{app: &app{}}}
		cmd := &cobra.Command{Use: "x"}
		q.flags(cmd)
		if err := cmd.ParseFlags(strings.Fields(c.args)); err != nil {
			t.Fatal(err)
		}
		_, policies, err := parseReprs(q.reprs)
		if err != nil {
			t.Fatal(err)
		}
		q.reading.prefer(policies)
		if p := q.reading.policies().WithDefaults(); p.OnUnsorted != c.unsorted || p.OnOffSensor != c.offSensor {
			t.Errorf("%s: %s, %s", c.args, p.OnUnsorted, p.OnOffSensor)
		}
	}
}

func TestExplain(t *testing.T) {
	raw := drive(t)
	args := []string{"explain", "tensor", raw, "--window", "50ms", "--time", "1s..2s", "--repr", "rvt"}
	has(t, must(t, 0, args...).out, "logical\n", "group by p, y // 2, x // 2", "rules\n", "fuse_histogram:", "optimised\n", "physical\n", "on cpu")
	has(t, must(t, 0, append(args, "--rules", "none")...).out, "none fired")
	if s := must(t, 0, append(args, "--rules", "-fuse_histogram")...).out; strings.Contains(s, "fuse_histogram:") {
		t.Errorf("the rule still fires:\n%s", s)
	}
}

// Info says what it knows without decoding, decodes where that is too little, and says durations for people.
func TestInfo(t *testing.T) {
	b := event.New([]int64{0, 30_000_000, 60_000_000}, []uint16{1, 2, 3}, []uint16{4, 5, 6}, []int8{1, 0, 1})
	raw := write(t, "a.raw", vga, nil, b)
	has(t, must(t, 0, "info", raw).out, "evt3", "60.000 s (µs)", "events    3", "2 / 1 (66.7 % ON)", "640x480", "time in us", "polarity as 0/1")
	has(t, must(t, 0, "info", raw, "--quick").out, "unknown; only decoding tells")
	store := filepath.Join(t.TempDir(), "a.parquet")
	must(t, 0, "convert", raw, "-o", store)
	if s := must(t, 0, "info", store).out; strings.Contains(s, "ON / OFF") || !strings.Contains(s, "60.000 s (µs)") {
		t.Errorf("the store was decoded, or not read:\n%s", s)
	}
	has(t, must(t, 0, "info", store, "--full").out, "ON / OFF", "decoding counted", "the conversion counted")
	keys := func(path string, args ...string) map[string]any {
		var m map[string]any
		if err := json.Unmarshal([]byte(must(t, 0, append([]string{"info", path, "--json"}, args...)...).out), &m); err != nil {
			t.Fatal(err)
		}
		return m
	}
	j := keys(raw)
	for key, want := range map[string]any{
		"events": 3.0, "first_t": 0.0, "last_t": 60e6, "duration_us": 60e6, "on": 2.0, "off": 1.0, "decoded": true, "unit": "us", "max_x": 3.0, "shift_us": 0.0,
	} {
		if j[key] != want {
			t.Errorf("%s is %v, want %v", key, j[key], want)
		}
	}
	for _, other := range []map[string]any{keys(raw, "--quick"), keys(store), keys(store, "--full")} {
		for key := range j {
			if _, ok := other[key]; !ok {
				t.Errorf("the key %s is missing", key)
			}
		}
	}
}

func TestHead(t *testing.T) {
	in := write(t, "a.raw", vga, nil, grid(100, 1000, 100, 10, 480))
	if got := must(t, 0, "head", in).out; strings.Count(got, "\n") != 11 || !strings.HasPrefix(got, "t,x,y,p\n1000,0,0,0\n1100,1,0,1\n") {
		t.Error(got)
	}
	for _, c := range []struct{ args, want string }{
		{"-n 0", ""}, {"-n 1 --from 1050", "1100,1,0,1\n"}, {"-n 1 --from +1ms", "2000,0,1,0\n"}, {"-n 2 --from 1.9ms --polarity on", "1900,9,0,1\n2100,1,1,1\n"},
		{"-n 1 --from 5s", ""},
	} {
		if got := must(t, 0, append([]string{"head", in}, strings.Fields(c.args)...)...).out; got != "t,x,y,p\n"+c.want {
			t.Errorf("%s prints %s", c.args, got)
		}
	}
}

// A store that was converted under other policies than a representation is defined with is named, where that
// made a difference.
func TestStoreOfOtherPolicies(t *testing.T) {
	raw := write(t, "a.parquet", event.Geometry{Width: 8, Height: 6}, nil, one(1, 9, 3, 1))
	store := filepath.Join(t.TempDir(), "s.parquet")
	must(t, 3, "convert", raw, "-o", store, "--size", "8x6", "--on-offsensor", "drop")
	r := must(t, 0, "tensor", store, "--repr", "rvt", "-o", filepath.Join(t.TempDir(), "o.npy"))
	has(t, r.errOut, "converted with --on-offsensor drop, which changed 1 event", "convert again with --on-offsensor keep")
}

// What was lost on the way to standard output ends with 3 as well.
func TestHeadAndInfoLosses(t *testing.T) {
	raw := write(t, "a.raw", event.Geometry{Width: 8, Height: 6}, nil, one(1, 2, 3, 1))
	b, err := os.ReadFile(raw)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(raw, append(b, 0), 0o666); err != nil {
		t.Fatal(err)
	}
	has(t, must(t, 3, "head", raw).errOut, "lost 1 trailing_bytes")
	has(t, must(t, 3, "info", raw).out, "trailing_bytes")
	must(t, 2, "tensor", raw, "--repr", "rvt", "-o", "-")
}

// Columns are computed from aggregates, and rows left out by what need not be a column.
func TestQueryFormulas(t *testing.T) {
	in := write(t, "a.parquet", event.Geometry{Width: 8, Height: 6}, nil, grid(100, 0, 1000, 8, 6))
	r := must(t, 0, "query", in, "--group", "y", "--agg", "n = count, share = n / 100, last(t) - first(t) as span",
		"--having", "count > 16 and min(t) < 8ms", "--order", "share:desc")
	if want := "y,n,share,span\n0,20,0.2,"; !strings.HasPrefix(r.out, want) {
		t.Errorf("%s, want %s…", r.out, want)
	}
	has(t, must(t, 2, "query", in, "--having", "cont > 3").errOut, "--having: at 0", "did you mean count?")
	has(t, must(t, 2, "query", in, "--agg", "count / scnds").errOut, "--agg: at 8", "unknown column or aggregate")
	has(t, must(t, 2, "query", in, "--agg", "count / (3 > 2)").errOut, "--agg: at 8", "a condition stands where a number is expected")
	has(t, must(t, 0, "explain", "query", in, "--having", "sum(x) > 3").out, "having sum(x) > 3", "select count")
}
