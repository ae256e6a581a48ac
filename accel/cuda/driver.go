package cuda

import (
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"github.com/evq-project/evq/accel"
	"github.com/evq-project/evq/accel/dl"
)

// A function is one of the driver's.
type function int

const (
	cuInit function = iota
	cuDeviceGetCount
	cuDeviceGet
	cuDeviceGetAttribute
	cuDevicePrimaryCtxRetain
	cuDevicePrimaryCtxRelease
	cuCtxSetCurrent
	cuModuleLoadDataEx
	cuModuleUnload
	cuModuleGetFunction
	cuMemGetInfo
	cuMemAlloc
	cuMemFree
	cuMemHostAlloc
	cuMemFreeHost
	cuMemcpyHtoDAsync
	cuMemcpyDtoHAsync
	cuMemsetD8Async
	cuStreamCreate
	cuStreamDestroy
	cuStreamSynchronize
	cuLaunchKernel
	cuGetErrorName
	// What follows is called by Trace, Hold and Describe alone.
	cuDeviceGetName
	cuDeviceTotalMem
	cuEventCreate
	cuEventDestroy
	cuEventRecord
	cuEventSynchronize
	cuEventElapsedTime
	functions
)

// symbols are the names that the functions have in the library: since CUDA 3.2 and 4.0 those with 64-bit sizes, and with
// a context for each thread, end in _v2.
var symbols = [functions]string{
	"cuInit", "cuDeviceGetCount", "cuDeviceGet", "cuDeviceGetAttribute", "cuDevicePrimaryCtxRetain",
	"cuDevicePrimaryCtxRelease_v2", "cuCtxSetCurrent", "cuModuleLoadDataEx", "cuModuleUnload", "cuModuleGetFunction",
	"cuMemGetInfo_v2", "cuMemAlloc_v2", "cuMemFree_v2", "cuMemHostAlloc", "cuMemFreeHost", "cuMemcpyHtoDAsync_v2",
	"cuMemcpyDtoHAsync_v2", "cuMemsetD8Async", "cuStreamCreate", "cuStreamDestroy_v2", "cuStreamSynchronize",
	"cuLaunchKernel", "cuGetErrorName", "cuDeviceGetName", "cuDeviceTotalMem_v2", "cuEventCreate", "cuEventDestroy_v2",
	"cuEventRecord", "cuEventSynchronize", "cuEventElapsedTime",
}

// An Error is a call of the driver that failed. It is accel.ErrFailed.
type Error struct {
	Call string // as the library names it
	Code int    // CUresult
	Name string // of the code
}

// Error names the call and the code.
func (e *Error) Error() string { return fmt.Sprintf("cuda: %s: %s (%d)", e.Call, e.Name, e.Code) }

// Is reports accel.ErrFailed.
func (e *Error) Is(target error) bool { return target == accel.ErrFailed }

// outOfMemory is CUDA_ERROR_OUT_OF_MEMORY.
const outOfMemory = 2

// A driver is the library once cuInit succeeded.
type driver struct {
	library dl.Library
	at      [functions]uintptr
	devices int
}

// openDriver opens the driver's library: the one at path, or what EVQ_CUDA_LIB says, or the system's.
func openDriver(path string) (*driver, error) {
	if path == "" {
		path = os.Getenv(LibraryEnv)
	}
	names := libraries()
	if path != "" {
		names = []string{path}
	} else if runtime.GOOS == "darwin" {
		return nil, fmt.Errorf("%w: there is no NVIDIA driver for macOS", accel.ErrUnavailable)
	}
	library, err := dl.Open(names...)
	if err != nil {
		return nil, fmt.Errorf("%w: no NVIDIA driver: %w; install one, or name its library in %s", accel.ErrUnavailable, err, LibraryEnv)
	}
	d := &driver{library: library}
	for f, name := range symbols {
		if d.at[f], err = library.Symbol(name); err != nil {
			return nil, fmt.Errorf("%w: no NVIDIA driver, or an old one: %w; evq needs one that knows CUDA 11 or later", accel.ErrUnavailable, err)
		}
	}
	if err := d.call(cuInit, 0); err != nil {
		return nil, fmt.Errorf("%w: %w", accel.ErrUnavailable, err)
	}
	var n int32
	if err := d.call(cuDeviceGetCount, uintptr(unsafe.Pointer(&n))); err != nil {
		return nil, fmt.Errorf("%w: %w", accel.ErrUnavailable, err)
	}
	d.devices = int(n)
	return d, nil
}

// call calls a function of the driver. What the arguments point to stays in place until it returns.
//
//go:uintptrescapes
func (d *driver) call(f function, args ...uintptr) error {
	code := int32(dl.Call(d.at[f], args...))
	if code == 0 {
		return nil
	}
	return &Error{Call: symbols[f], Code: int(code), Name: d.errorName(code)}
}

// errorName returns the driver's name of a code.
func (d *driver) errorName(code int32) string {
	name := new(*byte)
	if dl.Call(d.at[cuGetErrorName], uintptr(code), uintptr(unsafe.Pointer(name))) != 0 || *name == nil {
		return "unknown error"
	}
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(*name), n)) != 0 {
		n++
	}
	return string(unsafe.Slice(*name, n))
}
