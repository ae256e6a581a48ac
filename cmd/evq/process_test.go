package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/evq-project/evq/io/event/eventtest"
)

// start runs evq as a process of its own.
func start(t *testing.T, args ...string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("signals between processes are not to be had here")
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, args...)
	cmd.Env = append(os.Environ(), "EVQ_TEST_COMMAND=1")
	var errOut bytes.Buffer
	cmd.Stderr = &errOut
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return cmd, &errOut
}

// waitFor waits until a file with the ending is in the folder, or the process is done.
func waitFor(t *testing.T, dir, ending string) {
	t.Helper()
	for range 3000 {
		for _, n := range eventtest.Names(t, dir) {
			if strings.HasSuffix(n, ending) {
				return
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("no file *%s appears", ending)
}

// A run that is killed leaves nothing under the final name, and the next one cleans up and works.
func TestKilled(t *testing.T) {
	for _, name := range []string{"o.parquet", "o.raw"} {
		dir := t.TempDir()
		out := filepath.Join(dir, name)
		cmd, _ := start(t, "bench", "generate", "-o", out, "--events", "100G", "--seconds", "10000")
		waitFor(t, dir, ".partial")
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		if slices.Contains(eventtest.Names(t, dir), name) {
			t.Errorf("%s is there after kill -9", name)
		}
		must(t, 0, "bench", "generate", "-o", out, "--events", "1k")
		if got := eventtest.Names(t, dir); !slices.Equal(got, []string{name}) {
			t.Errorf("the rerun leaves %v", got)
		}
	}
}

// A conversion that is killed has made its store whole or not at all.
func TestKilledConvert(t *testing.T) {
	in := filepath.Join(t.TempDir(), "in.raw")
	must(t, 0, "bench", "generate", "-o", in, "--events", "1M", "--seconds", "1")
	dir := t.TempDir()
	out := filepath.Join(dir, "o.parquet")
	cmd, _ := start(t, "convert", in, "-o", out)
	waitFor(t, dir, "")
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if slices.Contains(eventtest.Names(t, dir), "o.parquet") {
		has(t, must(t, 0, "info", out, "--full").out, "1,000,000")
	}
	must(t, 0, "convert", in, "-o", out, "--force")
	if got := eventtest.Names(t, dir); !slices.Equal(got, []string{"o.parquet"}) {
		t.Errorf("the rerun leaves %v", got)
	}
}

// Ctrl-C ends a run with 130 and leaves no file.
func TestInterrupted(t *testing.T) {
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		dir := t.TempDir()
		cmd, errOut := start(t, "bench", "generate", "-o", filepath.Join(dir, "o.parquet"), "--events", "100G", "--seconds", "10000")
		waitFor(t, dir, ".partial")
		if err := cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		var exit *exec.ExitError
		if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != exitInterrupted || errOut.String() != "evq: interrupted\n" {
			t.Errorf("%v: %v\n%s", sig, err, errOut)
		}
		if got := eventtest.Names(t, dir); len(got) != 0 {
			t.Errorf("%v leaves %v", sig, got)
		}
	}
}

// A reader that has seen enough ends head without a word.
func TestClosedPipe(t *testing.T) {
	in := drive(t)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS == "windows" {
		t.Skip("there is no SIGPIPE here")
	}
	cmd := exec.Command(exe, "head", in, "-n", "1G")
	cmd.Env = append(os.Environ(), "EVQ_TEST_COMMAND=1")
	var errOut bytes.Buffer
	cmd.Stderr = &errOut
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if errOut.Len() > 0 {
		t.Errorf("it says %s", errOut.String())
	}
}
