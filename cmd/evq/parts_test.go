package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evq-project/evq/io/event"
)

// halves cuts a recording into two parts with the header of each, in the middle of a word.
func halves(t *testing.T, path string) (first, second string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	end := strings.Index(string(b), "% end\n") + len("% end\n")
	at := end + (len(b)-end)/2 | 1
	dir := t.TempDir()
	first, second = filepath.Join(dir, "rec_000.raw"), filepath.Join(dir, "rec_001.raw")
	for name, part := range map[string][]byte{first: b[:at], second: append(b[:end:end], b[at:]...)} {
		if err := os.WriteFile(name, part, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return first, second
}

// Every verb that opens a recording reads its parts as one.
func TestJoin(t *testing.T) {
	whole := write(t, "a.raw", vga, []event.Trigger{{T: 5, Channel: 2, Rising: true}}, grid(5000, 7, 7919, 640, 480))
	first, second := halves(t, whole)
	want := csv(t, whole)
	if got := csv(t, first, second, "--join"); got != want {
		t.Error("head prints other events of the parts than of the whole")
	}
	out := filepath.Join(t.TempDir(), "o.parquet")
	must(t, 0, "convert", first, second, "--join", "-o", out)
	if csv(t, out) != want {
		t.Error("the store of the parts holds other events")
	}
	has(t, must(t, 0, "info", out).out, "evq.joined", "rec_001.raw", "triggers")
	has(t, must(t, 0, "info", first, second, "--join").out, first+" + "+second, "5,000", "39.587 s")
	var f facts
	if err := json.Unmarshal([]byte(must(t, 0, "info", first, second, "--join", "--json").out), &f); err != nil {
		t.Fatal(err)
	}
	var size int64
	for _, part := range []string{first, second} {
		st, err := os.Stat(part)
		if err != nil {
			t.Fatal(err)
		}
		size += st.Size()
	}
	if f.Path != first || len(f.Parts) != 1 || f.Parts[0] != second || f.Bytes != size {
		t.Errorf("%+v, want %d bytes", f, size)
	}
	has(t, must(t, 0, "check", first, second, "--join").out, first+" + "+second, "5,000 events, no violation")
	blocks := filepath.Join(t.TempDir(), "b.npy")
	must(t, 0, "tensor", first, second, "--join", "--repr", "stacked_histogram", "-o", blocks)
	must(t, 0, "explain", "tensor", first, second, "--join", "--repr", "stacked_histogram")
	has(t, must(t, 0, "head", first, second, "--join", "--triggers").out, "5,2,rising")
	has(t, must(t, 0, "convert", first, second, "--join", "-o", "x.parquet", "--dry-run").out, "joined with rec_001.raw")

	// Both go into one output, that is none of the parts.
	has(t, must(t, exitUsage, "convert", first, second, "--join", "--force", "-o", second).errOut, "overwrite itself")
	has(t, must(t, exitUsage, "convert", first, second, "-o", "x.parquet").errOut, "2 recordings need a folder")
	has(t, must(t, exitUsage, "info", first, second).errOut, "one recording, not 2", "--join")
	has(t, must(t, exitUsage, "info", first, first, "--join").errOut, "named twice")
	has(t, must(t, exitUsage, "head", "--join").errOut, "takes a recording")
	store := filepath.Join(t.TempDir(), "s.parquet")
	must(t, exitLosses, "convert", first, "-o", store) // a cut word
	has(t, must(t, exitFailed, "info", store, out, "--join").errOut, "parquet: parts of this format cannot be joined")
	has(t, must(t, exitFailed, "info", first, out, "--join").errOut, "no part of the same recording", "it is parquet")
}

// Check says in which part a violation is, and where in it.
func TestCheckJoined(t *testing.T) {
	first, second := halves(t, write(t, "a.raw", vga, nil, grid(500, 7, 20, 640, 480)))
	f, err := os.OpenFile(second, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	st, err := f.Stat()
	if err == nil {
		_, err = f.Write([]byte{0x99, 0x99})
	}
	if err != nil || f.Close() != nil {
		t.Fatal(err)
	}
	has(t, must(t, exitLosses, "check", first, second, "--join").out, fmt.Sprintf("the first at %s of %s", grouped(st.Size()), second))
	var r checkResult
	if err := json.Unmarshal([]byte(must(t, exitLosses, "check", first, second, "--join", "--json").out), &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Violations) != 1 || r.Violations[0].Part != second || r.Violations[0].First != st.Size() {
		t.Errorf("%+v", r)
	}
	has(t, must(t, exitFailed, "convert", first, second, "--join", "--strict", "-o", filepath.Join(t.TempDir(), "o.parquet")).errOut, "evq: "+second+": evt3: offset")
}
