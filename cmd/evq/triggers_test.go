package main

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/parquet"
)

// --only triggers writes every trigger and nothing else, as CSV or Parquet.
func TestOnlyTriggers(t *testing.T) {
	all := []event.Trigger{{T: 5, Channel: 2, Rising: true}, {T: 5, Channel: 3}, {T: 2_000_000, Channel: 2}}
	in := write(t, "a.raw", vga, all, grid(100, 7, 20_000, 640, 480), one(3_000_000, 1308, 4, 1))
	dir := t.TempDir()
	const header = "t,channel,edge\n"
	const want = header + "5,2,rising\n5,3,falling\n2000000,2,falling\n"
	out := filepath.Join(dir, "t.csv")
	has(t, must(t, 0, "convert", in, "--only", "triggers", "-o", out).errOut, "3 triggers from 5 to 2000000 µs")
	read := func(path string) string {
		t.Helper()
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	if got := read(out); got != want {
		t.Errorf("%q", got)
	}
	if got := must(t, 0, "head", in, "--triggers").out; got != want {
		t.Errorf("head prints %q", got)
	}
	// --time is half-open for triggers as for events; without any the table is empty and there.
	for span, want := range map[string]string{"5us..2s": header + "5,2,rising\n5,3,falling\n", "2s..": header + "2000000,2,falling\n", "6us..1s": header} {
		must(t, 0, "convert", in, "--only", "triggers", "--time", span, "-o", out, "--force")
		if got := read(out); got != want {
			t.Errorf("--time %s: %q", span, got)
		}
	}
	// Parquet has the layout of the table beside a store.
	table := filepath.Join(dir, "t.parquet")
	must(t, 0, "convert", in, "--only", "triggers", "-o", table)
	store := filepath.Join(dir, "s.parquet")
	must(t, exitLosses, "convert", in, "-o", store)
	if read(table) != read(parquet.TriggerPath(store)) {
		t.Error("the table alone differs from the one beside a store")
	}
	must(t, 0, "convert", store, "--only", "triggers", "-o", out, "--force")
	if got := read(out); got != want {
		t.Errorf("of the store: %q", got)
	}
	// Several go to a folder.
	must(t, 0, "convert", in, store, "--only", "triggers", "-o", filepath.Join(dir, "many")+"/")
	if got := eventtest.Names(t, filepath.Join(dir, "many")); strings.Join(got, " ") != "a.triggers.parquet s.triggers.parquet" {
		t.Errorf("%v", got)
	}
	// What exists stays; what does not go together is wrong use; nothing is left behind.
	has(t, must(t, exitFailed, "convert", in, "--only", "triggers", "-o", out).errOut, "exists")
	has(t, must(t, exitUsage, "convert", in, "--only", "triggers", "-o", filepath.Join(dir, "t.raw")).errOut, "csv or parquet, not evt3")
	has(t, must(t, exitUsage, "convert", in, "--only", "triggers", "--roi", "0,0,1,1", "-o", out).errOut, "--time")
	has(t, must(t, exitUsage, "convert", in, "--only", "triggers", "--compression", "zstd", "-o", out).errOut, "--compression")
	has(t, must(t, exitUsage, "convert", in, "--only", "trigger", "-o", out).errOut, "triggers")
	has(t, must(t, exitUsage, "convert", store, "--only", "triggers", "--force", "-o", parquet.TriggerPath(store)).errOut, "overwrite itself")
	cut := write(t, "cut.raw", vga, all, grid(100, 7, 20_000, 640, 480))
	b, err := os.ReadFile(cut)
	if err == nil {
		err = os.WriteFile(cut, append(b, 0x99, 0x99), 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	must(t, exitFailed, "convert", cut, "--only", "triggers", "--on-unknown", "error", "-o", filepath.Join(dir, "no.csv"))
	if got := eventtest.Names(t, dir); len(got) != 5 {
		t.Errorf("the folder holds %v", got)
	}
}

// Info says how sure it is of a format and why; noise is unknown, with all that was tried.
func TestInfoSaysHowSure(t *testing.T) {
	in := write(t, "a.raw", vga, nil, grid(5000, 7, 20, 640, 480))
	has(t, must(t, 0, "info", in).out, "evt3 3.0 (99 % sure: the header's format field says EVT3")
	b, err := os.ReadFile(in)
	if err != nil {
		t.Fatal(err)
	}
	_, words, _ := bytes.Cut(b, []byte("% end\n"))
	bare := filepath.Join(t.TempDir(), "bare.raw")
	if err := os.WriteFile(bare, words, 0o666); err != nil {
		t.Fatal(err)
	}
	has(t, must(t, 0, "info", bare).out, "evt3 3.0 (80 % sure: no header, but ", "words decode as EVT3 to 5000 events")
	has(t, must(t, 0, "info", bare, "--json").out, `"confidence": 0.8`, `"why": "no header, but `)
	has(t, must(t, 0, "info", bare, "--format", "evt3").out, "100 % sure: the format was named")

	noise := filepath.Join(t.TempDir(), "noise")
	random := make([]byte, 1<<20)
	r := rand.New(rand.NewPCG(3, 4))
	for i := range random {
		random[i] = byte(r.Uint32())
	}
	if err := os.WriteFile(noise, random, 0o666); err != nil {
		t.Fatal(err)
	}
	unknown := must(t, exitFailed, "info", noise).errOut
	has(t, unknown, "no format recognises this recording", "--format evt3")
	has(t, unknown, formatNames()...)
}
