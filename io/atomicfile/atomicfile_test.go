package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/evq-project/evq/io/event/eventtest"
)

func write(t *testing.T, name, text string, force bool) *File {
	t.Helper()
	f, err := Create(name, force)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
	return f
}

func TestCommit(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "out.bin")
	f := write(t, name, "whole", false)
	if _, err := os.Stat(name); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file has its name before it is whole: %v", err)
	}
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(name); string(got) != "whole" {
		t.Errorf("%q, %v", got, err)
	}
	if err := errors.Join(f.Commit(), f.Abort()); err != nil { // both do nothing now
		t.Error(err)
	}
	if got := eventtest.Names(t, dir); !slices.Equal(got, []string{"out.bin"}) {
		t.Errorf("left %v", got)
	}
}

func TestAbort(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "out.bin")
	f := write(t, name, "half", false)
	if err := errors.Join(f.Abort(), f.Abort(), f.Commit()); err != nil {
		t.Error(err)
	}
	if got := eventtest.Names(t, dir); len(got) != 0 {
		t.Errorf("left %v", got)
	}
	// What was there before stays.
	if err := os.WriteFile(name, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := write(t, name, "new", true).Abort(); err != nil {
		t.Error(err)
	}
	if got, _ := os.ReadFile(name); string(got) != "old" {
		t.Errorf("an aborted overwrite left %q", got)
	}
}

func TestExists(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "out.bin")
	if err := os.WriteFile(name, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(name, false); !errors.Is(err, ErrExists) || !strings.Contains(err.Error(), "--force") {
		t.Errorf("taken name: %v", err)
	}
	if err := write(t, name, "new", true).Commit(); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(name); string(got) != "new" {
		t.Errorf("forced overwrite left %q", got)
	}
	if _, err := Create(dir, true); err == nil {
		t.Error("a folder was overwritten")
	}
	if _, err := Create(filepath.Join(dir, "none", "out.bin"), false); err == nil || !strings.Contains(err.Error(), "does not exist") {
		t.Errorf("missing folder: %v", err)
	}
}

// Of two runs that write one name at once, the first to end has it; only one that may overwrite takes it over.
func TestTwoAtOnce(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "out.bin")
	first := write(t, name, "first", false)
	other := filepath.Join(dir, "of another process")
	if err := os.WriteFile(other, []byte("second"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Place(other, name, false); err != nil {
		t.Fatal(err)
	}
	if err := first.Commit(); !errors.Is(err, ErrExists) {
		t.Errorf("the name was taken meanwhile: %v", err)
	}
	got, err := os.ReadFile(name)
	if left := eventtest.Names(t, dir); err != nil || string(got) != "second" || !slices.Equal(left, []string{"out.bin"}) {
		t.Errorf("%q, %v, left %v", got, err, left)
	}
	forced := write(t, name, "forced", true)
	if err := forced.Commit(); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(name); string(got) != "forced" {
		t.Errorf("a forced run left %q", got)
	}
}

func TestCommitOfAClosedFileLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	f := write(t, filepath.Join(dir, "out.bin"), "x", false)
	if err := f.File.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Commit(); err == nil {
		t.Error("a file that cannot be synced was committed")
	}
	if got := eventtest.Names(t, dir); len(got) != 0 {
		t.Errorf("left %v", got)
	}
}

func TestCheckRemovesOnlyWhatDeadRunsLeft(t *testing.T) {
	dir := t.TempDir()
	dead := deadProcess(t)
	keep := []string{
		fmt.Sprintf(".out.bin.%d.partial", os.Getpid()), // a run that lives
		fmt.Sprintf(".other.bin.%d.partial", dead),      // of another name
		fmt.Sprintf(".out.bin.0%d.partial", dead),       // not as TempName writes it
		".out.bin.x.partial", ".out.bin.partial", "out.bin.1.partial", ".out.bin.1",
	}
	stale := fmt.Sprintf(".out.bin.%d.partial", dead)
	for _, n := range append(keep, stale) {
		if err := os.WriteFile(filepath.Join(dir, n), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := Check(filepath.Join(dir, "out.bin"), false); err != nil {
		t.Fatal(err)
	}
	slices.Sort(keep)
	got := eventtest.Names(t, dir)
	slices.Sort(got)
	if !slices.Equal(got, keep) {
		t.Errorf("left %v, want %v", got, keep)
	}
}

// child names the file that the test binary writes when it runs as the child of TestKilled.
const child = "EVQ_TEST_ATOMICFILE"

// TestChild is no test of its own: it writes half a file, says so, and waits to be killed.
func TestChild(t *testing.T) {
	name := os.Getenv(child)
	if name == "" {
		t.Skip("runs as the child of TestKilled")
	}
	write(t, name, "half", false)
	fmt.Println("written")
	_, _ = os.Stdin.Read(make([]byte, 1)) // until killed, or the parent is gone
}

func TestKilled(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "out.bin")
	cmd := exec.Command(os.Args[0], "-test.run=^TestChild$")
	cmd.Env = append(os.Environ(), child+"="+name)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close() }()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, len("written"))); err != nil {
		t.Fatal(err)
	}
	partial := fmt.Sprintf(".out.bin.%d.partial", cmd.Process.Pid)
	if err := Check(name, false); err != nil {
		t.Error(err)
	}
	if got := eventtest.Names(t, dir); !slices.Equal(got, []string{partial}) {
		t.Errorf("while the child lives: %v, want %s", got, partial)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	if got := eventtest.Names(t, dir); !slices.Equal(got, []string{partial}) {
		t.Errorf("after the kill: %v, want %s", got, partial)
	}
	if err := write(t, name, "whole", false).Commit(); err != nil {
		t.Fatal(err)
	}
	if got := eventtest.Names(t, dir); !slices.Equal(got, []string{"out.bin"}) {
		t.Errorf("after the next run: %v", got)
	}
	if got, _ := os.ReadFile(name); string(got) != "whole" {
		t.Errorf("%q", got)
	}
}

// deadProcess returns the number of a process that has ended.
func deadProcess(t *testing.T) int {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	return cmd.Process.Pid
}
