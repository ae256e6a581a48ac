package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/evq-project/evq/accel/acceltest/hosted"
)

// withDriver runs evq as a process of its own, whose driver is the library.
func withDriver(t *testing.T, library string, env []string, args ...string) result {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, args...)
	cmd.Env = append(append(os.Environ(), "EVQ_TEST_COMMAND=1", "EVQ_CUDA_LIB="+library), env...)
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return result{cmd.ProcessState.ExitCode(), out.String(), errOut.String()}
}

// standIn compiles the stand-in of NVIDIA's driver.
func standIn(t *testing.T) string {
	t.Helper()
	sources, err := filepath.Glob("../../accel/cuda/testdata/driver/*.c")
	if err != nil || len(sources) == 0 {
		t.Fatalf("no stand-in: %v", err)
	}
	return hosted.Compile(t, t.TempDir(), nil, sources...)
}

var smallCheck = []string{"accel", "check", "--events", "3k", "--size", "64x48", "--windows", "11", "--rounds", "1", "--device", "cuda"}

// Without a driver there is nothing to check, which is no failure.
func TestAccelCheckSkips(t *testing.T) {
	r := withDriver(t, filepath.Join(t.TempDir(), "none.so"), nil, smallCheck...)
	if r.code != exitOK {
		t.Errorf("code %d: %s", r.code, r.errOut)
	}
	has(t, r.out, "SKIP: ", "no NVIDIA driver")
	r = withDriver(t, filepath.Join(t.TempDir(), "none.so"), nil, append(smallCheck, "--json")...)
	var rep accelReport
	if err := json.Unmarshal([]byte(r.out), &rep); err != nil || r.code != exitOK || rep.Skipped == "" || rep.Equal {
		t.Errorf("code %d, %+v, %v", r.code, rep, err)
	}
	for _, args := range [][]string{{"--device", "cpu"}, {"--windows", "0"}, {"--rounds", "0"}, {"--events", "0"}, {"--device", "tpu"}} {
		if r := evq(t, append([]string{"accel", "check"}, args...)...); r.code == exitOK {
			t.Errorf("%v: %s", args, r.out)
		}
	}
}

// The whole way on the stand-in, with the table and as JSON.
func TestAccelCheck(t *testing.T) {
	library := standIn(t)
	r := withDriver(t, library, nil, smallCheck...)
	if r.code != exitOK {
		t.Fatalf("code %d: %s", r.code, r.errOut)
	}
	has(t, r.out, "cuda: stand-in 0, compute capability 7.5, 8 GiB of memory that moves 256 GB/s", "| sparse, 3000 in 11 windows | wrap | 1/2 | yes |",
		"| 1 % hot, 3000 in 1 windows | saturate | 1/1 | yes |", "| words | 1/1 | yes |")
	rows := strings.Count(r.out, "\n| ") - 1
	columns := strings.Count(strings.SplitN(r.out[strings.Index(r.out, "| events"):], "\n", 2)[0], "|")
	if rows != 16 || columns != 17 {
		t.Errorf("%d rows with the rule below the head, %d bars", rows, columns)
	}
	has(t, withDriver(t, library, nil, "list", "devices").out, "through its driver alone: stand-in 0, compute capability 7.5, 8 GiB")
	r = withDriver(t, library, nil, append(smallCheck, "--json", "--device", "cuda:1")...)
	var rep accelReport
	if err := json.Unmarshal([]byte(r.out), &rep); err != nil || r.code != exitOK {
		t.Fatalf("code %d, %v: %s", r.code, err, r.errOut)
	}
	if rep.Hardware != "stand-in 1" || !rep.Equal || len(rep.Cases) != 15 || rep.Cases[0].Stages["count"] <= 0 || len(rep.Cases[0].SHA256) != 64 {
		t.Errorf("%+v", rep)
	}
}

// Counts that differ are a failure.
func TestAccelCheckFails(t *testing.T) {
	library := standIn(t)
	ptx, err := os.ReadFile("../../accel/cuda/kernel/scatter.ptx")
	if err != nil {
		t.Fatal(err)
	}
	kernel := filepath.Join(t.TempDir(), "wrong.ptx")
	wrong := strings.Replace(string(ptx), "bfe.u32 \t%r73, %r7, 15, 15;", "bfe.u32 \t%r73, %r7, 15, 3;", 1)
	if wrong == string(ptx) {
		t.Fatal("the instruction to break is not there")
	}
	if err := os.WriteFile(kernel, []byte(wrong), 0o600); err != nil {
		t.Fatal(err)
	}
	r := withDriver(t, library, []string{"EVQ_CUDA_KERNEL=" + kernel}, smallCheck...)
	if r.code != exitFailed {
		t.Errorf("code %d", r.code)
	}
	has(t, r.out, "| wrap | 1/1 | NO |", "| words | 1/1 | yes |")
	has(t, r.errOut, "does not count what the processor counts")
}

// A script is measured on the same data; one that fails says why.
func TestAccelCheckReference(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the script is one of a shell")
	}
	library := standIn(t)
	script := filepath.Join(t.TempDir(), "peer.sh")
	text := `set -e
[ "$(wc -c <"$1/t.i64")" -eq 24000 ] && [ "$(wc -c <"$1/x.u16")" -eq 6000 ] && [ "$(wc -c <"$1/p.i8")" -eq 3000 ]
[ "$2x$3" = 64x48 ]
if [ "$(wc -c <"$1/windows.i64")" -eq 16 ]; then echo "no torch here" >&2; exit 1; fi
echo '{"name": "peer", "ms": 12.5, "sha256": "0"}'
`
	if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r := withDriver(t, library, nil, append(smallCheck, "--reference", script, "--python", "sh")...)
	if r.code != exitOK {
		t.Errorf("code %d: %s", r.code, r.errOut)
	}
	has(t, r.out, "peer, sparse, wrap, 1/2: 12.5 ms, equal: NO", "peer.sh, dense: exit status 1: no torch here")
	if _, err := readPeers([]byte("hello\n")); err == nil {
		t.Error("words are no measurement")
	}
}
