package cuda

import (
	"bytes"
	"fmt"
	"unsafe"

	"github.com/evq-project/evq/accel"
)

// The attributes of a device that matter here, and the least compute capability that the kernel is compiled for.
const (
	memoryClock     = 36 // kHz
	memoryBusWidth  = 37 // bits
	capabilityMajor = 75
	capabilityMinor = 76
	leastCapability = 75
)

// attribute returns what the driver says of a device.
func (d *driver) attribute(handle int32, which uintptr) (value int32, err error) {
	err = d.call(cuDeviceGetAttribute, uintptr(unsafe.Pointer(&value)), which, uintptr(handle))
	return value, err
}

// device returns the driver's handle of a device, or why it cannot be used.
func (d *driver) device(number int) (int32, error) {
	if number < 0 || number >= d.devices {
		return 0, fmt.Errorf("%w: the NVIDIA driver has %d devices, and none of number %d", accel.ErrUnavailable, d.devices, number)
	}
	var handle int32
	if err := d.call(cuDeviceGet, uintptr(unsafe.Pointer(&handle)), uintptr(number)); err != nil {
		return 0, err
	}
	major, minor, err := d.capability(handle)
	if err != nil {
		return 0, err
	}
	if 10*major+minor < leastCapability {
		return 0, fmt.Errorf("%w: the device's compute capability is %d.%d; 7.5 or later (Turing, 2018) is needed", accel.ErrUnavailable, major, minor)
	}
	return handle, nil
}

func (d *driver) capability(handle int32) (major, minor int32, err error) {
	if major, err = d.attribute(handle, capabilityMajor); err != nil {
		return 0, 0, err
	}
	minor, err = d.attribute(handle, capabilityMinor)
	return major, minor, err
}

// Describe asks the driver what the device is. Memory moves two words of the bus's width a clock, as DDR, GDDR and HBM do
// by the clock that the driver gives.
func (d *device) Describe() (h accel.Hardware, err error) {
	drv, err := d.driver()
	if err != nil {
		return h, err
	}
	handle, err := drv.device(d.options.Number)
	if err != nil {
		return h, err
	}
	var name [256]byte
	if err := drv.call(cuDeviceGetName, uintptr(unsafe.Pointer(&name[0])), uintptr(len(name)), uintptr(handle)); err != nil {
		return h, err
	}
	before, _, _ := bytes.Cut(name[:], []byte{0})
	h.Name = string(before)
	major, minor, err := drv.capability(handle)
	if err != nil {
		return h, err
	}
	h.Capability = fmt.Sprintf("%d.%d", major, minor)
	var total uintptr
	if err := drv.call(cuDeviceTotalMem, uintptr(unsafe.Pointer(&total)), uintptr(handle)); err != nil {
		return h, err
	}
	h.Memory = int64(total)
	clock, err := drv.attribute(handle, memoryClock)
	if err != nil {
		return h, err
	}
	width, err := drv.attribute(handle, memoryBusWidth)
	h.Bandwidth = 2 * float64(clock) * 1e3 * float64(width) / 8
	return h, err
}
