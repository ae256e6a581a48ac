// Package cuda counts events on NVIDIA's hardware, through nothing but its driver: no cgo, no toolkit.
//
// It knows the driver's interface and the scatter kernel; it refuses to know times, files and plans.
package cuda

import (
	_ "embed"
	"fmt"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/evq-project/evq/accel"
)

// The environment of a device that was not told otherwise.
const (
	// LibraryEnv names a driver library to use instead of the system's.
	LibraryEnv = "EVQ_CUDA_LIB"
	// KernelEnv names a file of PTX to use instead of the kernel inside the program.
	KernelEnv = "EVQ_CUDA_KERNEL"
)

//go:embed kernel/scatter.ptx
var kernelPTX []byte

// Options say what a device is made of. The zero value is the system's first device and the kernel inside the program.
type Options struct {
	Library string // the driver's; "" is what EVQ_CUDA_LIB says, or the system's
	Kernel  string // a file of PTX; "" is what EVQ_CUDA_KERNEL says, or the kernel inside the program
	Number  int    // of the device, as the driver counts them
}

// New returns a device. Nothing is opened before it is asked for.
func New(o Options) accel.Device {
	return &device{options: o, driver: sync.OnceValues(func() (*driver, error) { return openDriver(o.Library) }),
		calibration: &accel.Calibration{Assumed: assumed}}
}

type device struct {
	options Options
	driver  func() (*driver, error) // shared by all numbers
	named   bool                    // by number

	calibration *accel.Calibration
}

// Name returns cuda, or cuda:1 where a number was asked for.
func (d *device) Name() string {
	if d.named || d.options.Number != 0 {
		return fmt.Sprintf("cuda:%d", d.options.Number)
	}
	return "cuda"
}

// Number returns another device of the same driver.
func (d *device) Number(i int) accel.Device {
	o := d.options
	o.Number = i
	return &device{options: o, driver: d.driver, named: true, calibration: &accel.Calibration{Assumed: assumed}}
}

// assumed are no measurements: the slowest bus that such devices have, 10 GB/s into memory that is not pinned, and 1 ns to
// pack an event.
var assumed = accel.Rates{Job: 30_000, Event: 1.4, Count: 0.1}

// Cost estimates a job by the rates.
func (d *device) Cost(events, counts int64) time.Duration {
	return d.calibration.Rates().Cost(events, counts)
}

// Calibrate measures the rates.
func (d *device) Calibrate() error { return d.calibration.Calibrate(d) }

// Probe says why there is no such device, or why it is too old for the kernel.
func (d *device) Probe() error {
	drv, err := d.driver()
	if err != nil {
		return err
	}
	if _, err := drv.device(d.options.Number); err != nil {
		return err
	}
	_, err = d.kernel()
	return err
}

// kernel returns the PTX, ended by a zero as the driver wants it.
func (d *device) kernel() ([]byte, error) {
	path := d.options.Kernel
	if path == "" {
		path = os.Getenv(KernelEnv)
	}
	if path == "" {
		return append(append([]byte(nil), kernelPTX...), 0), nil
	}
	ptx, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", accel.ErrUnavailable, KernelEnv, err)
	}
	return append(ptx, 0), nil
}

// Open readies a kernel with a stream and buffers of its own. Errors are those of accel.Grid.Validate, and accel.ErrFailed
// with the driver's call and code.
func (d *device) Open(g accel.Grid) (accel.Kernel, error) {
	if err := g.Validate(); err != nil {
		return nil, err
	}
	return d.open(gridProgram(g))
}

// OpenTable readies a kernel for a table, as Open does for a grid.
func (d *device) OpenTable(t accel.Table) (accel.Kernel, error) {
	if err := t.Validate(); err != nil {
		return nil, err
	}
	return d.open(tableProgram(t))
}

func (d *device) open(p program) (accel.Kernel, error) {
	drv, err := d.driver()
	if err != nil {
		return nil, err
	}
	number, err := drv.device(d.options.Number)
	if err != nil {
		return nil, err
	}
	ptx, err := d.kernel()
	if err != nil {
		return nil, err
	}
	return openKernel(drv, number, ptx, p)
}

// libraries are the names of the driver's library.
func libraries() []string {
	if runtime.GOOS == "windows" {
		return []string{"nvcuda.dll"}
	}
	return []string{"libcuda.so.1"}
}
