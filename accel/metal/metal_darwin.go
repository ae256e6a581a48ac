//go:build amd64 || arm64

package metal

import (
	"fmt"
	"runtime"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"
	"github.com/ebitengine/purego/objc"

	"github.com/evq-project/evq/accel"
	"github.com/evq-project/evq/accel/dl"
)

// hardware is Metal's default device with the kernels compiled; it lives as long as the process.
type hardware struct {
	device, queue        objc.ID
	scatter, clip, count objc.ID // pipelines
	push                 func() uintptr
	pop                  func(uintptr)
}

// theHardware is opened once, when it is first asked for.
var theHardware = sync.OnceValues(openHardware)

// Probe says why there is no device, or why it does not take the kernels.
func (device) Probe() error {
	_, err := theHardware()
	return err
}

// Open readies a kernel with buffers of its own; errors are those of accel.Grid.Validate and Probe.
func (device) Open(g accel.Grid) (accel.Kernel, error) {
	if err := g.Validate(); err != nil {
		return nil, err
	}
	h, err := theHardware()
	if err != nil {
		return nil, err
	}
	return newKernel(h, g), nil
}

// OpenTable readies a kernel for a table, as Open does for a grid.
func (device) OpenTable(t accel.Table) (accel.Kernel, error) {
	if err := t.Validate(); err != nil {
		return nil, err
	}
	h, err := theHardware()
	if err != nil {
		return nil, err
	}
	return newTableKernel(h, t), nil
}

// openHardware finds the default device and compiles the kernels.
func openHardware() (*hardware, error) {
	// Without CoreGraphics a program on the command line is given no default device.
	for _, framework := range []string{"Foundation", "CoreGraphics"} {
		if _, err := dl.Open("/System/Library/Frameworks/" + framework + ".framework/" + framework); err != nil {
			return nil, fmt.Errorf("%w: %w", accel.ErrUnavailable, err)
		}
	}
	h := new(hardware)
	var create func() objc.ID
	for _, f := range []struct {
		library, name string
		to            any
	}{
		{"/usr/lib/libobjc.A.dylib", "objc_autoreleasePoolPush", &h.push},
		{"/usr/lib/libobjc.A.dylib", "objc_autoreleasePoolPop", &h.pop},
		{"/System/Library/Frameworks/Metal.framework/Metal", "MTLCreateSystemDefaultDevice", &create},
	} {
		library, err := dl.Open(f.library)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", accel.ErrUnavailable, err)
		}
		address, err := library.Symbol(f.name)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", accel.ErrUnavailable, err)
		}
		purego.RegisterFunc(f.to, address)
	}
	var err error
	h.pooled(func() {
		if h.device = create(); h.device == 0 {
			err = fmt.Errorf("%w: this Mac has no device for Metal", accel.ErrUnavailable)
			return
		}
		err = h.compile()
	})
	if err != nil {
		return nil, err
	}
	return h, nil
}

// compile compiles the kernels' text.
func (h *hardware) compile() error {
	if h.queue = h.device.Send(selector("newCommandQueue")); h.queue == 0 {
		return fmt.Errorf("%w: Metal gave no command queue", accel.ErrUnavailable)
	}
	failure := new(objc.ID)
	library := h.device.Send(selector("newLibraryWithSource:options:error:"), text(Source()), objc.ID(0), unsafe.Pointer(failure))
	if library == 0 {
		return fmt.Errorf("%w: Metal does not compile the kernels: %s", accel.ErrUnavailable, reason(*failure))
	}
	defer library.Send(selector("release"))
	for name, to := range map[string]*objc.ID{"evq_scatter": &h.scatter, "evq_clip": &h.clip, "evq_count": &h.count} {
		function := library.Send(selector("newFunctionWithName:"), text(name))
		if function == 0 {
			return fmt.Errorf("%w: Metal finds no function %s", accel.ErrUnavailable, name)
		}
		*to = h.device.Send(selector("newComputePipelineStateWithFunction:error:"), function, unsafe.Pointer(failure))
		function.Send(selector("release"))
		if *to == 0 {
			return fmt.Errorf("%w: Metal makes no pipeline of %s: %s", accel.ErrUnavailable, name, reason(*failure))
		}
	}
	return nil
}

// pooled runs f in an autorelease pool, which belongs to a thread of the system.
func (h *hardware) pooled(f func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	pool := h.push()
	defer h.pop(pool)
	f()
}

func selector(name string) objc.SEL { return objc.RegisterName(name) }

func text(s string) objc.ID {
	return objc.ID(objc.GetClass("NSString")).Send(selector("stringWithUTF8String:"), s)
}

// reason returns what an NSError says.
func reason(e objc.ID) string {
	if e == 0 {
		return "no reason given"
	}
	return objc.Send[string](e.Send(selector("localizedDescription")), selector("UTF8String"))
}
