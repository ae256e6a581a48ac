package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/formats"
)

// TestMain runs the command itself where a test starts this binary as evq.
func TestMain(m *testing.M) {
	if os.Getenv("EVQ_TEST_COMMAND") == "1" {
		main()
	}
	os.Exit(m.Run())
}

// A result is what one run of the command gave.
type result struct {
	code        int
	out, errOut string
}

// evq runs the command in this process.
func evq(t *testing.T, args ...string) result {
	t.Helper()
	return evqIn(t, context.Background(), nil, args...)
}

func evqIn(t *testing.T, ctx context.Context, env map[string]string, args ...string) result {
	t.Helper()
	var out, errOut bytes.Buffer
	a := &app{out: &out, errOut: &errOut, env: func(k string) string { return env[k] }}
	code := a.run(ctx, args)
	return result{code, out.String(), errOut.String()}
}

// must runs the command and fails the test unless it ends with the code.
func must(t *testing.T, code int, args ...string) result {
	t.Helper()
	r := evq(t, args...)
	if r.code != code {
		t.Fatalf("evq %s: code %d, want %d\n%s%s", strings.Join(args, " "), r.code, code, r.out, r.errOut)
	}
	return r
}

// has fails the test for each part that text lacks.
func has(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("there is no %q in\n%s", p, text)
		}
	}
}

// write makes a recording of the given format and returns its path.
func write(t *testing.T, name string, g event.Geometry, triggers []event.Trigger, batches ...event.Batch) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	f, err := formats.ByExtension(path)
	if err != nil {
		t.Fatal(err)
	}
	s, err := f.Create(path, format.Header{Geometry: g}, format.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(triggers) > 0 {
		if err := s.WriteTriggers(triggers); err != nil {
			t.Fatal(err)
		}
	}
	for _, b := range batches {
		if err := s.Write(context.Background(), b); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// drive makes a second of the synthetic scene.
func drive(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "drive.raw")
	must(t, 0, "bench", "generate", "-o", path, "--events", "20k", "--seconds", "1", "--size", "128x96")
	return path
}

// Every verb says what it does with real examples, and every example is a valid use: its flags exist.
func TestHelp(t *testing.T) {
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		r := must(t, 0, append(strings.Fields(c.CommandPath())[1:], "--help")...)
		if c.Short == "" || !strings.Contains(r.out, "Examples:") {
			t.Errorf("%s has no short text or no examples", c.CommandPath())
		}
		for line := range strings.Lines(c.Example) {
			checkExample(t, c.Root(), strings.TrimSpace(line))
		}
		for _, sub := range c.Commands() {
			visit(sub)
		}
	}
	visit((&app{screen: &screen{to: os.Stderr}}).rootCommand())
	if r := must(t, 0); !strings.Contains(r.out, "Usage:") {
		t.Errorf("evq alone prints no help:\n%s", r.out)
	}
}

// checkExample parses the flags of a line such as "evq convert a.raw -o b.parquet".
func checkExample(t *testing.T, root *cobra.Command, line string) {
	t.Helper()
	line = strings.TrimPrefix(line, "source <(")
	if !strings.Contains(line, "(") {
		line = strings.TrimSuffix(line, ")")
	}
	words := shellWords(strings.Split(line, " > ")[0])
	if len(words) < 2 || words[0] != "evq" {
		t.Errorf("%q is no example of evq", line)
		return
	}
	c, args, err := root.Find(words[1:])
	if err == nil {
		err = c.ParseFlags(args)
	}
	if err != nil {
		t.Errorf("%q: %v", line, err)
	}
}

// shellWords splits a line as a shell does that knows single quotes.
func shellWords(line string) (words []string) {
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			words = append(words, part)
		} else {
			words = append(words, strings.Fields(part)...)
		}
	}
	return words
}

// Wrong use ends with 2, one line on stderr that says what to do, and nothing on stdout.
func TestWrongUse(t *testing.T) {
	raw := drive(t)
	out := filepath.Join(t.TempDir(), "o.parquet")
	tensor := func(args ...string) []string {
		return append([]string{"tensor", raw, "-o", filepath.Join(t.TempDir(), "o.npy")}, args...)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"cnvert"}, `there is no verb "cnvert"; did you mean convert?`},
		{[]string{"zzzzzz"}, "there are accel, bench, check, completion, conformance, convert"},
		{[]string{"convert"}, "takes a recording"},
		{[]string{"convert", raw}, "-o drive.parquet"},
		{[]string{"convert", raw, raw, "-o", out}, "need a folder"},
		{[]string{"convert", raw, raw, "-o", t.TempDir()}, "would both become"},
		{[]string{"convert", raw, "-o", raw}, "overwrite itself"},
		{[]string{"convert", raw, "-o", out, "--fromat", "evt3"}, "did you mean --format?"},
		{[]string{"convert", raw, "-o", out, "--format", "evt4"}, "did you mean evt"},
		{[]string{"convert", raw, "-o", "x.xyz"}, ".xyz"},
		{[]string{"convert", raw, "-o", out, "--to", "parqet"}, "did you mean parquet?"},
		{[]string{"convert", raw, "-o", out, "--on-unsorted", "clmp"}, "did you mean clamp?"},
		{[]string{"convert", raw, "-o", out, "--on-offsensor", "x"}, "drop, error, keep"},
		{[]string{"convert", raw, "-o", out, "--size", "1280"}, "WIDTHxHEIGHT"},
		{[]string{"convert", raw, "-o", out, "--time", "2s..1s"}, "ends before it starts"},
		{[]string{"convert", raw, "-o", out, "--time", "5"}, "A..B"},
		{[]string{"convert", raw, "-o", out, "--roi", "1,2,3"}, "X0,Y0,X1,Y1"},
		{[]string{"convert", raw, "-o", out, "--polarity", "onn"}, "did you mean on?"},
		{[]string{"convert", raw, "-o", out, "--memory", "1MB"}, "16MiB"},
		{[]string{"convert", raw, "-o", out, "--threads", "-1"}, "--threads"},
		{[]string{"convert", raw, "-o", out, "--log-level", "wrn"}, "did you mean warn?"},
		{tensor(), "--repr"},
		{tensor("--repr", "stacked_histgram"), "did you mean stacked_histogram?"},
		{tensor("--repr", "stacked_histogram:bin=3"), "did you mean bins?"},
		{tensor("--repr", "stacked_histogram:bins=0"), "bins is a whole number"},
		{tensor("--repr", "stacked_histogram:bins"), "key=value"},
		{tensor("--repr", "rvt", "--window", "50"), "has no unit"},
		{tensor("--repr", "rvt", "--window", "0ms"), "at least 1"},
		{tensor("--repr", "rvt", "--window", "1ms", "--count", "5"), "two kinds of windows"},
		{tensor("--repr", "rvt", "--hop", "1ms"), "--hop goes with --window"},
		{tensor("--repr", "rvt", "--ends", "g.npy"), "--ends needs --span"},
		{tensor("--repr", "rvt", "--span", "1ms"), "--span goes with --ends"},
		{tensor("--repr", "rvt", "--complete"), "--complete goes with --count"},
		{tensor("--repr", "rvt", "--count", "0"), "at least 1"},
		{tensor("--repr", "rvt", "--rules", "-fuse_histgram"), "did you mean -fuse_histogram?"},
		{tensor("--repr", "rvt", "--rules", "all"), "write none"},
		{tensor("--repr", "rvt", "--device", "cpuu"), "did you mean cpu?"},
		{tensor("--repr", "rvt", "--compression", "zstd"), "for HDF5"},
		{[]string{"tensor", raw, "-o", "o.xyz", "--repr", "rvt"}, ".h5, .npy"},
		{[]string{"tensor", raw, "--repr", "rvt"}, "needs -o"},
		{[]string{"tensor", "a", "b", "--repr", "rvt"}, "one recording, not 2"},
		{[]string{"explain", "tensr"}, "did you mean tensor?"},
		{[]string{"explain", "tensor", raw}, "--repr"},
		{[]string{"head", raw, "-n", "x"}, "no number of events"},
		{[]string{"head", raw, "--from", "1parsec"}, "no unit of time"},
		{[]string{"head", raw, "--triggers", "--polarity", "on"}, "--from"},
		{[]string{"info", raw, "--full", "--quick"}, "exclude"},
		{[]string{"list"}, "formats, representations"},
		{[]string{"list", "format"}, "did you mean formats?"},
		{[]string{"completion", "bsh"}, "did you mean bash?"},
		{[]string{"version", "x"}, "takes no argument"},
		{[]string{"bench", "generte"}, "did you mean generate?"},
		{[]string{"bench", "generate"}, "needs -o"},
		{[]string{"bench", "generate", "-o", "x.raw", "--seconds", "0"}, "microsecond"},
		{[]string{"bench", "generate", "-o", "x.raw", "--size", "60000x1"}, "possible"},
	} {
		r := evq(t, c.args...)
		line := strings.TrimSuffix(r.errOut, "\n")
		if r.code != exitUsage || r.out != "" || !strings.HasPrefix(line, "evq: ") || strings.Contains(line, "\n") || !strings.Contains(line, c.want) {
			t.Errorf("evq %s: code %d, want 2 and %q\n%s%s", strings.Join(c.args, " "), r.code, c.want, r.out, r.errOut)
		}
	}
	if r := evqIn(t, context.Background(), map[string]string{"EVQ_LOG": "io=loud"}, "version"); r.code != exitUsage {
		t.Errorf("EVQ_LOG=io=loud: code %d", r.code)
	}
}

// What is not the user's fault ends with 1.
func TestFailures(t *testing.T) {
	raw := drive(t)
	dir := t.TempDir()
	empty, wrong := filepath.Join(dir, "empty.raw"), filepath.Join(dir, "wrong.raw")
	if err := os.WriteFile(wrong, []byte("what is this, a picture of a cat?"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(empty, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"info", filepath.Join(dir, "none.raw")}, "none.raw"},
		{[]string{"info", empty}, "--format NAME"},
		{[]string{"info", wrong}, "--format NAME"},
		{[]string{"convert", empty, "-o", filepath.Join(dir, "o.parquet")}, "--format NAME"},
		{[]string{"convert", raw, "-o", filepath.Join(dir, "no", "o.parquet")}, "does not exist"},
		{[]string{"tensor", raw, "--ends", filepath.Join(dir, "g.npy"), "--span", "1ms", "--repr", "rvt", "-o", filepath.Join(dir, "o.npy")}, "g.npy"},
	} {
		r := evq(t, c.args...)
		if r.code != exitFailed || r.out != "" || !strings.HasPrefix(r.errOut, "evq: ") || !strings.Contains(r.errOut, c.want) {
			t.Errorf("evq %s: code %d, want 1 and %q\n%s%s", strings.Join(c.args, " "), r.code, c.want, r.out, r.errOut)
		}
	}
	if got := eventtest.Names(t, dir); !slices.Equal(got, []string{"empty.raw", "wrong.raw"}) {
		t.Errorf("failures leave %v behind", got)
	}
}

func TestLists(t *testing.T) {
	has(t, must(t, 0, "list", "formats").out, "evt3", "parquet", "read, write")
	has(t, must(t, 0, "list", "representations").out, "stacked_histogram", "rvt")
	has(t, must(t, 0, "list", "rules").out, "fuse_histogram")
	has(t, must(t, 0, "list", "devices").out, "cpu")
	var items []item
	if err := json.Unmarshal([]byte(must(t, 0, "list", "formats", "--json").out), &items); err != nil {
		t.Fatal(err)
	}
	for _, i := range items {
		if i.Name == "hdf5" && (i.Available != hdf5Built || i.Available != (i.Why == "")) {
			t.Errorf("hdf5 is built: %v, listed as %+v", hdf5Built, i)
		}
	}
}

func TestVersion(t *testing.T) {
	has(t, must(t, 0, "version").out, "evq ", "cgo", "hdf5")
	has(t, must(t, 0, "--version").out, "evq version")
	var v versionInfo
	if err := json.Unmarshal([]byte(must(t, 0, "version", "--json").out), &v); err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(v.Features, func(f feature) bool { return f.Name == "hdf5" })
	if i < 0 || v.Features[i].Built != hdf5Built || v.Features[i].Detail == "" && !hdf5Built || v.Go == "" || v.Version == "" {
		t.Errorf("%+v", v)
	}
}

// The scripts are printed, and the words of flags are offered.
func TestCompletion(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish"} {
		has(t, must(t, 0, "completion", shell).out, "evq")
	}
	has(t, must(t, 0, "__complete", "convert", "a.raw", "--on-unsorted", "").out, "clamp", "sort")
	has(t, must(t, 0, "__complete", "tensor", "a.raw", "--repr", "").out, "rvt", "stacked_histogram")
	has(t, must(t, 0, "__complete", "list", "").out, "formats", "rules")
	has(t, must(t, 0, "__complete", "convert", "").out, ":0") // files
}

// Logs go by room and level, as text or JSON; -q leaves errors alone.
func TestLogs(t *testing.T) {
	raw := drive(t)
	out := filepath.Join(t.TempDir(), "o.npy")
	args := []string{"tensor", raw, "--window", "100ms", "--repr", "rvt", "-o", out, "--force"}
	run := func(env string, more ...string) string {
		r := evqIn(t, context.Background(), map[string]string{"EVQ_LOG": env}, append(args, more...)...)
		if r.code != 0 || r.out != "" {
			t.Fatalf("code %d: %s%s", r.code, r.out, r.errOut)
		}
		return r.errOut
	}
	has(t, run("engine=debug"), "room=engine", "fuse_histogram", "10 windows")
	has(t, run("", "-vv"), "room=engine")
	for _, env := range []string{"", "io=debug", "engine=info"} {
		if s := run(env); strings.Contains(s, "room=engine") {
			t.Errorf("EVQ_LOG=%s prints\n%s", env, s)
		}
	}
	if s := run("", "-q"); s != "" {
		t.Errorf("-q prints %s", s)
	}
	for line := range strings.Lines(run("engine=debug", "--log-format", "json")) {
		var m map[string]any
		if err := json.Unmarshal([]byte(line), &m); err != nil || m["msg"] == nil {
			t.Errorf("%v: %s", err, line)
		}
	}
	r := evq(t, "info", "none.raw", "--log-format", "json")
	var m map[string]any
	if err := json.Unmarshal([]byte(r.errOut), &m); err != nil || m["level"] != "ERROR" || r.code != exitFailed {
		t.Errorf("%v: %+v", err, r)
	}
}

// A bar that was asked for is drawn and removed; by default nothing is drawn where there is no terminal.
func TestProgress(t *testing.T) {
	raw := drive(t)
	out := filepath.Join(t.TempDir(), "o.parquet")
	if r := must(t, 0, "convert", raw, "-o", out); strings.Contains(r.errOut, "\x1b") || strings.Count(r.errOut, "\n") != 1 {
		t.Errorf("without a terminal stderr is %q", r.errOut)
	}
	has(t, must(t, 0, "convert", raw, "-o", out, "--force", "--progress", "on").errOut, "20,000 events")
	a := &app{env: func(string) string { return "" }}
	m := a.newMeter()
	m.started = time.Now().Add(-time.Second)
	m.total = 30e6
	m.readAt(10e6)
	m.events.Store(4e6)
	has(t, m.status(), "10.0 MB of 30.0 MB, 4.0 M events", "MB/s", "2s left")
	m.counted = true
	has(t, m.status(), "4.0 M events", "M/s")
}
