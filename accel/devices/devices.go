// Package devices lists the devices evq can count on, fastest first. A new one adds one line here.
package devices

import (
	"github.com/evq-project/evq/accel"
	"github.com/evq-project/evq/accel/cpu"
	"github.com/evq-project/evq/accel/cuda"
	"github.com/evq-project/evq/accel/metal"
)

// All holds every device, whether or not this machine has it; accel.Pick chooses.
var All = []accel.Device{
	cuda.New(cuda.Options{}),
	metal.Device,
	cpu.Device,
}
