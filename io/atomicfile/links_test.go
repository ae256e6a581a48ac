//go:build unix

package atomicfile

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/evq-project/evq/io/event/eventtest"
)

// A symbolic link stands for the file that it leads to, whether that is there or not.
func TestThroughLinks(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := os.Mkdir(at("real"), 0o777); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{"out.bin": "second", "second": filepath.Join("real", "out.bin"), "loop": "loop"} {
		if err := os.Symlink(to, at(link)); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 { // dangling, then not
		if err := write(t, at("out.bin"), "whole", true).Commit(); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(at("real/out.bin")); string(got) != "whole" {
			t.Errorf("%q, %v", got, err)
		}
	}
	if got := eventtest.Names(t, at("real")); !slices.Equal(got, []string{"out.bin"}) {
		t.Errorf("left %v", got)
	}
	if st, err := os.Lstat(at("out.bin")); err != nil || st.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link became %v, %v", st, err)
	}
	if _, err := Create(at("loop"), true); err == nil {
		t.Error("a link to itself was written")
	}
}

// What is no file is never replaced by one.
func TestNoFile(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	for _, name := range []string{pipe, os.DevNull} {
		if _, err := Create(name, true); err == nil || !strings.Contains(err.Error(), "device or a pipe") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
