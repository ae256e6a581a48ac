// Package hosted runs kernels for hardware on the processor: it compiles C and C++ for tests, and makes a device of a
// kernel so compiled. It refuses to know whose kernel that is.
package hosted

import (
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// Compile makes a shared library of C (.c) or C++ sources in dir and returns its path; the flags come before the sources. The
// test is skipped, with the reason, where there is no compiler or the system is not Linux, and fails where the sources
// do not compile.
func Compile(t testing.TB, dir string, flags []string, sources ...string) string {
	t.Helper()
	compiler := "cc"
	if len(sources) > 0 && filepath.Ext(sources[0]) != ".c" {
		compiler = "c++"
	}
	if runtime.GOOS != "linux" {
		t.Skipf("kernels are compiled for tests on Linux, not on %s", runtime.GOOS)
	}
	path, err := exec.LookPath(compiler)
	if err != nil {
		t.Skipf("no compiler %s: %v; on Debian: apt-get install g++", compiler, err)
	}
	library := filepath.Join(dir, "kernel.so")
	args := append([]string{"-O2", "-shared", "-fPIC", "-pthread", "-o", library}, flags...)
	if out, err := exec.Command(path, append(args, sources...)...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", compiler, err, out)
	}
	return library
}
