package cuda

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/evq-project/evq/accel"
	"github.com/evq-project/evq/accel/acceltest"
	"github.com/evq-project/evq/accel/acceltest/hosted"
	"github.com/evq-project/evq/accel/cpu"
)

// A library that is none, or not NVIDIA's, is an error that says so; with auto the processor counts.
func TestWrongLibrary(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text.so")
	if err := os.WriteFile(text, []byte("not a library\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	libraries := map[string][2]string{
		"none":          {filepath.Join(dir, "nothing.so"), "no NVIDIA driver"},
		"not a library": {text, "no NVIDIA driver"},
	}
	if runtime.GOOS == "linux" {
		source := filepath.Join(dir, "other.c")
		if err := os.WriteFile(source, []byte("int cuInit(unsigned f) { return f ? 1 : 100; }\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		libraries["another library"] = [2]string{hosted.Compile(t, dir, nil, source), "lacks a function: cuDeviceGetCount"}
	}
	for name, l := range libraries {
		t.Run(name, func(t *testing.T) {
			t.Setenv(LibraryEnv, l[0])
			d := New(Options{})
			err := d.Probe()
			if !errors.Is(err, accel.ErrUnavailable) || !strings.Contains(err.Error(), l[1]) {
				t.Errorf("Probe: %v", err)
			}
			if _, again := d.Open(accel.Grid{Bins: 1, Width: 4, Height: 4, Downsample: 1, Cutoff: 9}); again == nil || again.Error() != err.Error() {
				t.Errorf("Open: %v", again)
			}
			all := []accel.Device{d, cpu.Device}
			if _, err := accel.Pick(all, "cuda"); !errors.Is(err, accel.ErrUnavailable) {
				t.Errorf("Pick of cuda: %v", err)
			}
			if d, err := accel.Pick(all, accel.Auto); err != nil || d.Name() != "cpu" {
				t.Errorf("Pick of auto: %v, %v", d, err)
			}
		})
	}
}

// Numbers that the driver does not have are errors, and so are words that are none.
func TestNumbers(t *testing.T) {
	f := newFake(t)
	all := []accel.Device{f.device(), cpu.Device}
	for name, want := range map[string]string{
		"cuda:2": "has 2 devices", "cuda:x": "no number of a device", "cuda:-1": "no number of a device", "cuda:": "no number of a device",
		"cpu:0": "without a number", "cuba:0": "there is no device",
	} {
		if _, err := accel.Pick(all, name); !errors.Is(err, accel.ErrUnavailable) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"cuda", "cuda:0", "cuda:1"} {
		d, err := accel.Pick(all, name)
		if err != nil || d.Name() != name {
			t.Errorf("%s: %v, %v", name, d, err)
			continue
		}
		acceltest.Check(t, d, acceltest.Random(1))
	}
}

// Drivers without devices, and devices that fail when they are asked, are not available.
func TestProbeAsksTheDriver(t *testing.T) {
	f := newFake(t)
	for _, name := range []function{cuInit, cuDeviceGetCount, cuDeviceGet, cuDeviceGetAttribute} {
		f.fail(symbols[name], 1, 100, false)
		if err := f.device().Probe(); err == nil || !strings.Contains(err.Error(), symbols[name]+": unknown error (100)") {
			t.Errorf("%s fails: %v", symbols[name], err)
		}
	}
	f.fail("", 0, 0, false)
	if err := f.device().Probe(); err != nil {
		t.Error(err)
	}
}

// EVQ_CUDA_KERNEL names other PTX.
func TestKernelFromTheEnvironment(t *testing.T) {
	f := newFake(t)
	t.Setenv(KernelEnv, filepath.Join(t.TempDir(), "none.ptx"))
	if err := f.device().Probe(); !errors.Is(err, accel.ErrUnavailable) || !strings.Contains(err.Error(), KernelEnv) {
		t.Errorf("a kernel that is not there: %v", err)
	}
	t.Setenv(KernelEnv, writePTX(t, string(kernelPTX)))
	if err := once(t, f.device(), manyBatches()); err != nil {
		t.Errorf("a copy of the kernel: %v", err)
	}
	t.Setenv(KernelEnv, writePTX(t, "hello"))
	if err := once(t, f.device(), manyBatches()); err == nil || !strings.Contains(err.Error(), "CUDA_ERROR_INVALID_PTX") {
		t.Errorf("a kernel that is none: %v", err)
	}
}

func writePTX(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kernel.ptx")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}
