//go:build hdf5 && cgo

package hdf5

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/evq-project/evq/io/format"
	"gonum.org/v1/hdf5"
)

// A t_offset that is not understood is an error: without it every time would be wrong.
func TestOddOffset(t *testing.T) {
	float := func(raw string) func(h *hdf5.File) {
		return func(h *hdf5.File) {
			if err := writeRaw(h, "t_offset", hdf5.T_IEEE_F64LE, 1, []byte(raw)); err != nil {
				t.Error(err)
			}
		}
	}
	for name, raw := range map[string]string{
		"NaN": "\x00\x00\x00\x00\x00\x00\xf8\x7f", "0.5": "\x00\x00\x00\x00\x00\x00\xe0\x3f", "1e300": "\x9c\x75\x00\x88\x3c\xe4\x37\x7e",
	} {
		if _, _, err := drain(t, testFile(t, plainColumns(), float(raw)), format.Policy{}); err == nil || !strings.Contains(err.Error(), "/t_offset") {
			t.Errorf("%s: %v", name, err)
		}
	}
	b, _, err := drain(t, testFile(t, plainColumns(), float("\x00\x00\x00\x00\x00\x00\x59\x40")), format.Policy{}) // 100.0
	if err != nil || b.T()[0] != 110 {
		t.Errorf("a whole float: %v, %v", b.T(), err)
	}
}

// A damaged type may declare elements of gigabytes. The library would make room for one.
func TestDeclaredSizeOfScalars(t *testing.T) {
	c := plainColumns()
	c["events/width"], c["events/height"] = testColumn{elem{size: 8, signed: true}, []int64{64}}, testColumn{elem{size: 8, signed: true}, []int64{48}}
	path := testFile(t, c, nil)
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// The datatype message of a signed integer of 8 bytes: version and class, three bytes of bits, the size.
	message := []byte{0x10, 0x08, 0, 0, 8, 0, 0, 0}
	if bytes.Count(raw, message) != 2 {
		t.Fatalf("%d datatype messages", bytes.Count(raw, message))
	}
	raw = bytes.ReplaceAll(raw, message, []byte{0x10, 0x08, 0, 0, 8, 0, 0, 0x7f})
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	before := peak(t)
	s, err := openTest(t, path, format.Policy{})
	if err == nil && s.Geometry().Known() {
		t.Errorf("a sensor of %v", s.Geometry())
	}
	if took := peak(t) - before; took > 1<<20 {
		t.Errorf("%d MiB were taken for a number", took>>10)
	}
}

// peak is the most memory that the process has held so far, in KiB.
func peak(t *testing.T) int64 {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	_, rest, ok := strings.Cut(string(status), "VmHWM:")
	var n int64
	if _, scan := fmt.Sscan(rest, &n); err != nil || !ok || scan != nil {
		t.Skip("the system does not say how much memory is held")
	}
	return n
}

// Chunks that memory has no room for are refused before any is read.
func TestHugeChunks(t *testing.T) {
	path := testFile(t, nil, func(h *hdf5.File) {
		for name, kind := range map[string]int{"t": 4, "x": 2, "y": 2, "p": 1} {
			d, err := createDataset(h.ID(), "events/"+name, kind, []int{1 << 24}, nil)
			if err == nil {
				err = errors.Join(extend(d, 3), closeDataset(d))
			}
			if err != nil {
				t.Error(err)
			}
		}
	})
	if _, _, err := drain(t, path, format.Policy{Memory: 32 << 20}); err == nil || !strings.Contains(err.Error(), "--memory") {
		t.Errorf("chunks of 144 MiB in 32 MiB: %v", err)
	}
	if _, _, err := drain(t, path, format.Policy{Memory: 128 << 20}); !errors.Is(err, errUnwritten) {
		t.Errorf("chunks of 144 MiB in 128 MiB: %v", err)
	}
}

// child names the file that TestQuietChild opens.
const child = "EVQ_TEST_HDF5"

// TestQuietChild is no test of its own: it fails to open a file again and again, from many threads.
func TestQuietChild(t *testing.T) {
	path := os.Getenv(child)
	if path == "" {
		t.Skip("runs as the child of TestQuiet")
	}
	var stop atomic.Bool
	var others sync.WaitGroup
	for range 4 { // so busy that a goroutine that comes back from the library often goes on elsewhere
		others.Go(func() {
			for !stop.Load() {
				runtime.Gosched()
			}
		})
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 100 {
				if _, err := describe(path); err == nil {
					t.Error("the file was opened")
				}
			}
		})
	}
	wg.Wait()
	stop.Store(true)
	others.Wait()
}

// The library prints nothing of its own, whichever thread calls it.
func TestQuiet(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none.h5") // where /events cannot be opened
	if err := locked(func() error {
		h, err := hdf5.CreateFile(path, hdf5.F_ACC_TRUNC)
		return errors.Join(err, h.Close())
	}); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestQuietChild$")
	cmd.Env = append(os.Environ(), child+"="+path, "GOMAXPROCS=4")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil || stderr.Len() > 0 {
		t.Errorf("%v, stderr %.300s", err, stderr.String())
	}
}
