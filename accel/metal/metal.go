// Package metal counts events on the graphics hardware of a Mac, through Metal at run time: no cgo, no Xcode.
//
// It knows Metal's objects and the scatter kernel; it refuses to know times, files and plans.
package metal

import (
	_ "embed"

	"github.com/evq-project/evq/accel"
	"github.com/evq-project/evq/accel/scatter"
)

var (
	//go:embed kernel/prelude.metal
	prelude string
	//go:embed kernel/entry.metal
	entry string
)

// Source is the kernels' text in Metal's language, which Metal compiles when a device is first used.
func Source() string { return prelude + scatter.Body + entry }

// Device is the Mac's default graphics hardware.
var Device accel.Device = device{}

type device struct{}

// Name returns metal.
func (device) Name() string { return "metal" }
