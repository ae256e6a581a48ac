package parquet

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/format"
)

// childEnv holds what a copy of the test binary does instead of testing.
const childEnv = "EVQ_PARQUET_TEST_CHILD"

func TestMain(m *testing.M) {
	if what, path, ok := strings.Cut(os.Getenv(childEnv), ":"); ok {
		child(what, path)
	}
	os.Exit(m.Run())
}

// child writes a store without end, or with the given limit on the size of files.
func child(what, path string) {
	if what == "full" {
		// The limit acts as a full disk: writes beyond it fail.
		signal.Ignore(syscall.SIGXFSZ)
		limit := syscall.Rlimit{Cur: 3 << 20, Max: 3 << 20}
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
			fmt.Println("SKIP", err)
			os.Exit(0)
		}
	}
	w, err := Create(path, format.Header{}, format.CreateOptions{Force: true})
	if err != nil {
		fmt.Println(err)
		os.Exit(2)
	}
	rec := eventtest.Recording(1, 1<<20, sensor)
	span := rec.T()[rec.Len()-1] - rec.T()[0] + 1
	for i := int64(0); err == nil; i++ {
		t := make([]int64, rec.Len())
		for k, v := range rec.T() {
			t[k] = v + i*span
		}
		err = w.Write(context.Background(), event.New(t, rec.X(), rec.Y(), rec.P()))
		if err == nil {
			fmt.Println("WRITTEN", i)
		}
	}
	fmt.Println("FAILED", err)
	fmt.Println("CLOSED", w.Close())
	os.Exit(1)
}

// start runs a child and returns its output.
func start(t *testing.T, what, path string) (*exec.Cmd, io.Reader) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+what+":"+path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, out
}

// Killed while it writes, a run leaves nothing under the final name, and the next run cleans up after it.
func TestKilled(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.parquet")
	cmd, out := start(t, "forever", path)
	lines := bufio.NewScanner(out)
	for lines.Scan() && lines.Text() != "WRITTEN 2" {
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil {
		t.Fatal("the child ended by itself")
	}
	if left := eventtest.Names(t, dir); len(left) != 1 || !strings.HasSuffix(left[0], ".partial") {
		t.Fatalf("left behind: %v, want one temporary file", left)
	}
	rec := eventtest.Recording(1, 1000, sensor)
	w, err := Create(path, format.Header{}, format.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Write(t.Context(), rec), w.Close()); err != nil {
		t.Fatal(err)
	}
	if left := eventtest.Names(t, dir); len(left) != 1 || left[0] != "a.parquet" {
		t.Errorf("after a rerun: %v", left)
	}
	if d := eventtest.Diff(eventtest.Drain(t, mustOpen(t, path), event.All), rec); d != "" {
		t.Error(d)
	}
}

func TestDiskFull(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.parquet")
	cmd, out := start(t, "full", path)
	text, err := io.ReadAll(out)
	if err != nil {
		t.Fatal(err)
	}
	err = cmd.Wait()
	if strings.HasPrefix(string(text), "SKIP") {
		t.Skip(string(text))
	}
	if err == nil {
		t.Error("the child reports success")
	}
	for _, want := range []string{"FAILED writing " + path + ": failed after 3145728 bytes: ", "CLOSED writing"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("output %q lacks %q", text, want)
		}
	}
	if left := eventtest.Names(t, dir); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}
