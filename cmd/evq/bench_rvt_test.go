package main

import (
	"context"
	"image/png"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/hdf5"
	"github.com/evq-project/evq/io/tensor"
)

// contestants lets bench start this test's own binary as evq.
func contestants(t *testing.T) {
	t.Helper()
	needHDF5(t)
	t.Setenv("EVQ_TEST_COMMAND", "1")
}

// charts fails the test unless both charts of a kind can be decoded.
func charts(t *testing.T, dir, kind string) {
	t.Helper()
	for _, name := range []string{kind + "_time.png", kind + "_memory.png"} {
		if runtime.GOOS != "linux" && strings.Contains(name, "memory") {
			continue // nothing tells the peaks there
		}
		f, err := os.Open(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		img, err := png.Decode(f)
		if _ = f.Close(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		colours := map[any]bool{}
		for x := range img.Bounds().Dx() {
			colours[img.At(x, img.Bounds().Dy()/2)] = true
		}
		if img.Bounds().Dx() < 500 || len(colours) < 3 {
			t.Errorf("%s: %v with %d colours across the middle", name, img.Bounds(), len(colours))
		}
	}
}

// The benchmark compares, times, prints and draws; drawn again, it says the same.
func TestBenchRVT(t *testing.T) {
	contestants(t)
	dir := t.TempDir()
	args := []string{"bench", "rvt", "--events", "20k", "--seconds", "0.2", "--repeats", "1", "--plain-windows", "2", "-o", dir}
	r := must(t, 0, args...)
	has(t, r.out, "20,000 events, 4 windows; 1 run in turn", "compared with native", "| native: evq, straight from the recording | 4 |",
		"| plain: evq, the plan without rules, the first windows | 2 |", "equal |", "* native is ", "faster than convert", "* few is ")
	has(t, r.errOut, "making ", "round 1 of 1: store", "wrote "+filepath.Join(dir, "rvt.json"))
	want := []string{"inputs", "rvt.json", "rvt.md", "rvt_memory.png", "rvt_time.png"}
	if runtime.GOOS == "linux" {
		if got := eventtest.Names(t, dir); !slices.Equal(got, want) {
			t.Errorf("the folder holds %v, want %v", got, want)
		}
	}
	charts(t, dir, "rvt")
	var results benchResults
	readJSON(t, filepath.Join(dir, "rvt.json"), &results)
	for _, row := range results.Rows {
		if len(row.Runs) != 1 || row.Runs[0].Wall <= 0 || row.Runs[0].Process < row.Runs[0].Wall || runtime.GOOS == "linux" && row.Runs[0].Peak < 1<<20 {
			t.Errorf("%s: %+v", row.Name, row.Runs)
		}
	}
	again := t.TempDir()
	if p := must(t, 0, "bench", "rvt", "--replot", filepath.Join(dir, "rvt.json"), "-o", again); p.out != r.out {
		t.Errorf("drawn again it says\n%s\nnot\n%s", p.out, r.out)
	}
	charts(t, again, "rvt")
	if r := must(t, 0, args...); strings.Contains(r.errOut, "making ") {
		t.Error("the input is made a second time")
	}
}

// A single element that differs from the reference stops the benchmark before it times anything; evq's own frames
// are a reference that holds.
func TestBenchRVTReference(t *testing.T) {
	contestants(t)
	dir := t.TempDir()
	in, grid := filepath.Join(dir, "a_td.h5"), filepath.Join(dir, "grid.npy")
	must(t, 0, "bench", "generate", "-o", in, "--events", "5k", "--seconds", "0.1")
	if err := writeEnds(grid, []int64{50_000, 100_000}); err != nil {
		t.Fatal(err)
	}
	args := []string{"bench", "rvt", "--in", in, "--ends", grid, "--repeats", "1", "--plain-windows", "0", "-o", filepath.Join(dir, "out"), "--ref"}
	ref := filepath.Join(dir, "ref.h5")
	must(t, 0, "tensor", in, "--ends", grid, "--span", "50ms", "--repr", "rvt", "-o", ref)
	has(t, must(t, 0, append(args, ref)...).out, "compared with "+ref, "a_td.h5")
	other := filepath.Join(dir, "other.h5")
	must(t, 0, "tensor", in, "--ends", grid, "--span", "49ms", "--repr", "rvt", "-o", other)
	r := must(t, exitFailed, append(args, other)...)
	has(t, r.errOut, "native differs from "+other+": window ", "nothing was timed")
	if strings.Contains(r.errOut, "round") || r.out != "" {
		t.Errorf("something was timed:\n%s%s", r.out, r.errOut)
	}
	has(t, must(t, exitFailed, append(args, filepath.Join(dir, "none.h5"))...).errOut, "none.h5")
	small := sequence(t, t.TempDir(), "a", nil)
	has(t, must(t, exitFailed, append([]string{"bench", "rvt", "--in", small}, args[4:len(args)-1]...)...).errOut, "304x240")
}

// fakePeers is an interpreter that answers as peers.py does: its rvt copies frames, its evlib fails.
const fakePeers = `#!/bin/sh
if [ "$1" = -c ]; then echo '{"rvt": {"FRAMES": "%s"}, "evlib_rust": {}}'; exit; fi
if [ "$3" = evlib_rust ]; then echo "ModuleNotFoundError: No module named 'evlib'" >&2; exit 1; fi
out=$(printf '%%s' "$4" | sed 's/.*"out":"\([^"]*\)".*/\1/')
mkdir -p "$out/deep" && cp "$FRAMES" "$out/deep/event_representations_ds2_nearest.h5" || exit 1
echo '{"work_s": 1.5, "cpu_s": 1, "hwm_mib": 4000, "version": "torch 1"}'
`

// With RVT at hand its frames are the reference; a peer that fails is a row that says why, and the rest goes on.
func TestBenchRVTPeers(t *testing.T) {
	contestants(t)
	if runtime.GOOS == "windows" {
		t.Skip("the stand-in is a shell script")
	}
	dir := t.TempDir()
	t.Setenv("EVQ_BENCH_PEERS", dir)
	in, grid, ref := filepath.Join(dir, "a_td.h5"), filepath.Join(dir, "grid.npy"), filepath.Join(dir, "ref.h5")
	must(t, 0, "bench", "generate", "-o", in, "--events", "5k", "--seconds", "0.1")
	if err := writeEnds(grid, []int64{50_000, 100_000}); err != nil {
		t.Fatal(err)
	}
	must(t, 0, "tensor", in, "--ends", grid, "--span", "50ms", "--repr", "rvt", "-o", ref)
	script := func(frames string) string {
		path := filepath.Join(dir, "python")
		text := strings.NewReplacer("%s", frames, "%%", "%").Replace(fakePeers)
		text = strings.Replace(text, "printf '"+frames+"'", "printf '%s'", 1)
		if err := os.WriteFile(path, []byte(text), 0o777); err != nil {
			t.Fatal(err)
		}
		return path
	}
	args := []string{"bench", "rvt", "--in", in, "--ends", grid, "--repeats", "1", "--plain-windows", "0", "-o", filepath.Join(dir, "out"), "--rvt", dir, "--python"}
	r := must(t, 0, append(args, script(ref))...)
	has(t, r.out, "compared with rvt", "| rvt: RVT's own code (torch) | 2 | 1.50 | 1.50 | 1.50 | 1.00 | 4,000 | the reference |",
		"FAILED: exit status 1: ModuleNotFoundError: No module named 'evlib'", "faster than rvt", "less memory")

	other := filepath.Join(dir, "other.h5")
	must(t, 0, "tensor", in, "--ends", grid, "--span", "49ms", "--repr", "rvt", "-o", other)
	has(t, must(t, exitFailed, append(args, script(other))...).errOut, "native differs from rvt", "nothing was timed")
	// Beside another reference the peer's differences are counted, and it is timed.
	has(t, must(t, 0, append(args, script(other), "--ref", ref)...).out, "elements differ |", "compared with "+ref)
	has(t, must(t, 0, append(args, filepath.Join(dir, "nopython"))...).out, "compared with native", "FAILED: peers.py in "+dir)
}

// What runs too long is ended.
func TestContestTimeout(t *testing.T) {
	t.Setenv("EVQ_TEST_COMMAND", "1")
	a := &app{memory: 512 << 20}
	argv, err := a.itself("bench", "generate", "-o", filepath.Join(t.TempDir(), "a.raw"), "--events", "100G", "--seconds", "10000")
	if err != nil {
		t.Fatal(err)
	}
	c := &contest{app: a, timeout: 300_000_000}
	_, err = c.start(context.Background(), program{command: func(string) ([]string, []string, error) { return argv, nil, nil }}, "")
	if err == nil || !strings.Contains(err.Error(), "--timeout") {
		t.Errorf("%v", err)
	}
}

func TestBenchRVTWrongUse(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"rvt", "--repeats", "0"}, "--repeats"},
		{[]string{"rvt", "--size", "smal"}, "did you mean small?"},
		{[]string{"rvt", "--in", "a.h5"}, "go together"},
		{[]string{"rvt", "--in", "a.h5", "--ends", "g.npy", "--size", "small"}, "generated one"},
		{[]string{"rvt", "--seconds", "0.01"}, "from 0.1 on"},
		{[]string{"rvt", "--plain-windows", "-1"}, "--plain-windows"},
		{[]string{"rvt", "--timeout", "x"}, "no time"},
		{[]string{"rvt-body", "natve"}, "did you mean native?"},
		{[]string{"dataset", "--sequences", "0"}, "--sequences"},
		{[]string{"dataset", "x"}, "takes no argument"},
	} {
		r := evq(t, append(append([]string{"bench"}, c.args...), "-o", dir)...)
		if r.code != exitUsage || !strings.Contains(r.errOut, c.want) {
			t.Errorf("evq bench %s: code %d, want 2 and %q\n%s%s", strings.Join(c.args, " "), r.code, c.want, r.out, r.errOut)
		}
	}
	for text, want := range map[string]string{"{": "no results", `{"kind": "../x"}`: "no results", `{"kind": "rvt", "rows": [null]}`: "no results"} {
		path := filepath.Join(dir, "r.json")
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		has(t, must(t, exitFailed, "bench", "rvt", "--replot", path, "-o", dir).errOut, want)
	}
}

func TestParseRun(t *testing.T) {
	r, err := parseRun("noise\n\n{\"work_s\": 2, \"cpu_s\": 1.5, \"hwm_mib\": 2.5, \"version\": \"v\", \"stages\": {\"read\": 1}}\n")
	if err != nil || r.Wall != 2 || r.CPU != 1.5 || r.Peak != 5<<19 || r.Version != "v" || r.Stages["read"] != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err := parseRun(`{"wall_s": 1, "cpu_s": 2, "peak_bytes": 3}`); err != nil || r.Wall != 1 || r.CPU != 2 || r.Peak != 3 {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := parseRun("Traceback"); err == nil || !strings.Contains(err.Error(), "Traceback") {
		t.Errorf("%v", err)
	}
}

// Medians, spreads and the words made of them.
func TestBenchWords(t *testing.T) {
	run := func(wall, mib float64) benchRun { return benchRun{Wall: wall, Peak: int64(mib * (1 << 20))} }
	r := &benchResults{Kind: "rvt", Windows: 5, Rows: []*benchRow{
		{Name: "native", Own: true, Windows: 5, Runs: []benchRun{run(3, 100), run(1, 120), run(2, 90)}},
		{Name: "slow", Windows: 5, Runs: []benchRun{run(8, 60)}},
		{Name: "broken", Windows: 5, Error: "a|b"},
		{Name: "alone", Windows: 7, Runs: []benchRun{run(1, 1), run(2, 1)}},
	}}
	if w := r.Rows[0].wall(); w != (spread{1, 2, 3}) {
		t.Errorf("%+v", w)
	}
	if w := r.Rows[3].wall(); w.median != 1.5 {
		t.Errorf("%+v", w)
	}
	want := []string{"native is 4.00x faster than slow (2.00 s and 8.00 s, medians), with 2.00x more memory (120 MiB and 60 MiB)"}
	if got := r.words(); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	has(t, r.markdown(), "FAILED: a/b")
}

func TestTail(t *testing.T) {
	var w tail
	for range 100 {
		_, _ = w.Write([]byte(strings.Repeat("x", 10_000)))
	}
	_, _ = w.Write([]byte("\nlast\n"))
	if len(w) > 2*tailBytes || lastLine(string(w)) != "last" {
		t.Errorf("%d bytes, ending in %q", len(w), lastLine(string(w)))
	}
}

// The frames are found wherever a program puts them; what is still being written is none.
func TestFindFrames(t *testing.T) {
	needHDF5(t)
	dir := t.TempDir()
	if _, err := findFrames(dir); err == nil {
		t.Error("there are none")
	}
	path := filepath.Join(dir, "event_representations.h5")
	sink, err := hdf5.Create(path).Open(tensor.Layout{Shape: tensor.Shape{1}, DType: tensor.Uint8})
	if err == nil {
		err = sink.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "event_representations.in_progress.h5"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if got, err := findFrames(dir); err != nil || got != path {
		t.Errorf("%s, %v", got, err)
	}
}

func TestPeakMemory(t *testing.T) {
	if runtime.GOOS != "linux" {
		if got := peakMemory(); got != 0 {
			t.Errorf("%d", got)
		}
		return
	}
	if got := peakMemory(); got < 1<<20 {
		t.Errorf("the peak is %d bytes", got)
	}
	if got := treeMemory(os.Getpid()); got < 1<<20 {
		t.Errorf("the tree holds %d bytes", got)
	}
	if got := parentOf(os.Getpid()); got != os.Getppid() {
		t.Errorf("the parent is %d, not %d", got, os.Getppid())
	}
}
