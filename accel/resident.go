package accel

import (
	"context"
	"errors"
	"time"
	"unsafe"
)

// ErrReleased reports counts on a device that were given back.
var ErrReleased = errors.New("the counts on the device were given back")

// A Holder is a kernel whose counts can stay on the device, for who goes on with them there, such as a trainer.
type Holder interface {
	Kernel
	// Hold counts a job like Scatter, into memory of the device that is made for it and belongs to the caller, who
	// closes it. It returns when the work is queued; the job's columns may change from then on.
	Hold(ctx context.Context, job Job) (r Resident, offSensor int64, err error)
}

// A Resident is counts in the memory of a device. It outlives the kernel that counted them, and holds memory of the device
// until Close. It serves one goroutine at a time.
type Resident interface {
	// DLTensor describes the counts as DLPack does. What it points to stays in place, and the counts stay where they are,
	// until Close; reading them after that reads memory of somebody else. The error is ErrReleased after Close.
	DLTensor() (*DLTensor, error)
	// Stream is the device's stream that the counting is queued on, a CUstream: work queued on it, or after an event of
	// it, sees all counts. The error is ErrReleased after Close.
	Stream() (uintptr, error)
	// Wait returns when all is counted. The error is the device's, or ErrReleased.
	Wait() error
	// Read waits and copies all counts to the processor's memory, window after window; dst has just their bytes.
	Read(dst []byte) error
	// Close waits for what is queued on the stream and gives the memory and the stream back. Who has queued work on other
	// streams waits for that first. A second Close does nothing.
	Close() error
}

// A DLTensor is the struct of that name in DLPack 0.8 and 1.0 (dlpack.h), as C lays it out on 64 bits. It is borrowed: a
// consumer that wants a DLManagedTensor puts it into one whose deleter lets evq's side know.
type DLTensor struct {
	Data       unsafe.Pointer // on the device; the processor cannot follow it
	Device     DLDevice
	NDim       int32
	Type       DLType
	Shape      *int64 // NDim of them
	Strides    *int64 // in elements
	ByteOffset uint64
}

// A DLDevice is a device as DLPack numbers them.
type DLDevice struct {
	Kind   int32 // DLCUDA
	Number int32
}

// DLCUDA is kDLCUDA.
const DLCUDA = 2

// A DLType is the type of an element.
type DLType struct {
	Code  uint8 // DLInt or DLUInt
	Bits  uint8
	Lanes uint16 // 1
}

// The codes of types: kDLInt and kDLUInt.
const (
	DLInt  = 0
	DLUInt = 1
)

// A Tracer is a kernel that tells how long each stage of a job takes.
type Tracer interface {
	Kernel
	// Trace counts a job like Scatter, but one batch after another, and returns the stages in order: packing by the
	// processor's clock, the others by the device's.
	Trace(ctx context.Context, job Job, dst []uint8) ([]Stage, error)
}

// A Stage is a part of the work on a job.
type Stage struct {
	Name string
	Took time.Duration
}

// A Described device tells what hardware it is.
type Described interface {
	Device
	// Describe returns the hardware; the error is that of Probe.
	Describe() (Hardware, error)
}

// Hardware is what a driver says of a device.
type Hardware struct {
	Name       string
	Capability string  // of its instructions, such as 9.0
	Bandwidth  float64 // bytes a second that its memory moves at best, or 0 where the driver does not say
	Memory     int64   // bytes
}
