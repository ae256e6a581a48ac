package docs_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// command is the program that the tests run, built by the first of them.
type command struct {
	once sync.Once
	exe  string
}

var evqCommand command

// TestMain removes what the tests built.
func TestMain(m *testing.M) {
	code := m.Run()
	if evqCommand.exe != "" {
		_ = os.RemoveAll(filepath.Dir(evqCommand.exe))
	}
	os.Exit(code)
}

// buildCommand returns the path of evq.
func buildCommand(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("builds the command")
	}
	evqCommand.once.Do(func() {
		dir, err := os.MkdirTemp("", "evq-docs")
		if err != nil {
			t.Fatal(err)
		}
		evqCommand.exe = filepath.Join(dir, "evq.exe")
		goCommand(t, root, "build", "-buildvcs=false", "-o", evqCommand.exe, "./cmd/evq")
	})
	return evqCommand.exe
}

// goCommand runs the go command, which must not reach for the network, and returns what it prints.
func goCommand(t *testing.T, dir string, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("the go command is not to be had here")
	}
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOPROXY=off", "GOFLAGS=-mod=readonly", "GOWORK=off")
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	if err := cmd.Run(); err != nil {
		t.Fatalf("go %s in %s: %v\n%s", strings.Join(args, " "), dir, err, errOut.String())
	}
	return out.String()
}

// duration is what ends the line in which the command sums up what it wrote.
var duration = regexp.MustCompile(`(?m), [0-9.]+ s( \([^)]*\))?$`)

// runShell runs commands of evq, one a line. It returns what they print, or where that is nothing, what they say.
func runShell(t *testing.T, evq, dir, text string) string {
	t.Helper()
	var out, said strings.Builder
	for line := range strings.Lines(strings.ReplaceAll(text, "\\\n", " ")) {
		words := shellWords(t, line)
		if words[0] != "evq" {
			t.Fatalf("%q is no command of evq", line)
		}
		cmd := exec.Command(evq, words[1:]...)
		cmd.Dir = dir
		var o, e bytes.Buffer
		cmd.Stdout, cmd.Stderr = &o, &e
		if err := cmd.Run(); err != nil {
			t.Fatalf("%s: %v\n%s", line, err, e.String())
		}
		out.Write(o.Bytes())
		said.WriteString(duration.ReplaceAllString(e.String(), ""))
	}
	if out.Len() == 0 {
		return said.String()
	}
	return out.String()
}

// shellWords splits a line as a shell does: at blanks, but not within quotes of either kind.
func shellWords(t *testing.T, line string) (words []string) {
	t.Helper()
	var word strings.Builder
	var quote rune
	inside := false
	for _, c := range line + "\n" {
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote, inside = c, true
		case quote == 0 && strings.ContainsRune(" \t\n", c):
			if inside {
				words = append(words, word.String())
			}
			word.Reset()
			inside = false
		default:
			word.WriteRune(c)
			inside = true
		}
	}
	if quote != 0 || len(words) == 0 {
		t.Fatalf("%q is no command", line)
	}
	return words
}
