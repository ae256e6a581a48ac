package cuda

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
	"unsafe"

	"github.com/evq-project/evq/accel"
	"github.com/evq-project/evq/accel/acceltest/hosted"
	"github.com/evq-project/evq/accel/dl"
)

// A fake is the stand-in of testdata/driver.
type fake struct {
	t       testing.TB
	path    string
	library dl.Library
}

// fakeStats is struct stats of testdata/driver/fake.h.
type fakeStats struct {
	LiveMemory, LivePinned, LiveStream, LiveModule, LiveContext uint64
	Left                                                        uint64
	Launches, Instructions, Atomics                             uint64
	PageableUploads                                             uint64
	HastyFrees                                                  uint64
	PeakBytes                                                   uint64
	Faults                                                      uint64
	LiveEvent                                                   uint64
}

// live is how many things were made and not given back.
func (s fakeStats) live() uint64 {
	return s.LiveMemory + s.LivePinned + s.LiveStream + s.LiveModule + s.LiveContext + s.LiveEvent
}

// compiled is the library that all tests share; a library stays open as long as the process.
var compiled struct {
	once sync.Once
	dir  string
	path string
}

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "evq-cuda-")
	if err != nil {
		panic(err)
	}
	compiled.dir = dir
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// newFake opens the stand-in as it is when nothing is wrong with it, and checks at the end of the test that everything
// was given back.
func newFake(t testing.TB) *fake {
	t.Helper()
	compiled.once.Do(func() {
		sources, err := filepath.Glob("testdata/driver/*.c")
		if err != nil {
			t.Fatal(err)
		}
		compiled.path = hosted.Compile(t, compiled.dir, []string{"-Wall", "-Wextra", "-Werror", "-Wl,-soname,libevqfakecuda.so"}, sources...)
	})
	if compiled.path == "" {
		t.Skip("the stand-in of the driver was not compiled")
	}
	library, err := dl.Open(compiled.path)
	if err != nil {
		t.Fatal(err)
	}
	f := &fake{t, compiled.path, library}
	f.reset()
	t.Cleanup(func() {
		f.reset()
		if s := f.stats(); s.live() > 0 {
			t.Errorf("not everything was given back: %+v", s)
		}
	})
	return f
}

func (f *fake) reset() {
	f.fail("", 0, 0, false)
	f.do("fakeIdle", 0)
	f.do("fakeCapacity", 8<<30)
	f.do("fakeInstructionLimit", 4e9)
	f.do("fakeSeed", 1)
}

// do calls a function of the stand-in's own.
func (f *fake) do(name string, args ...uintptr) uintptr {
	f.t.Helper()
	at, err := f.library.Symbol(name)
	if err != nil {
		f.t.Fatal(err)
	}
	return dl.Call(at, args...)
}

// fail makes the nth call from now of a function fail, and everything after it where it lasts.
func (f *fake) fail(call string, nth, code int, lasts bool) {
	name, lasting := append([]byte(call), 0), uintptr(0)
	if lasts {
		lasting = 1
	}
	at, err := f.library.Symbol("fakeFail")
	if err != nil {
		f.t.Fatal(err)
	}
	dl.Call(at, uintptr(unsafe.Pointer(&name[0])), uintptr(nth), uintptr(code), lasting)
}

func (f *fake) stats() fakeStats {
	s := new(fakeStats)
	at, err := f.library.Symbol("fakeStats")
	if err != nil {
		f.t.Fatal(err)
	}
	dl.Call(at, uintptr(unsafe.Pointer(s)))
	return *s
}

// device returns the stand-in's first device.
func (f *fake) device() accel.Device { return New(Options{Library: f.path}) }

// peek calls fakePeek.
func peek(at uintptr, d *accel.DLTensor, to []byte) int {
	if len(to) == 0 {
		return 0
	}
	return int(int32(dl.Call(at, uintptr(d.Data), uintptr(unsafe.Pointer(&to[0])), uintptr(len(to)))))
}
