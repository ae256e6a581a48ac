//go:build !darwin || !(amd64 || arm64)

package metal

import (
	"fmt"

	"github.com/evq-project/evq/accel"
)

// Probe says that this is no Mac.
func (device) Probe() error {
	return fmt.Errorf("%w: Metal is there on macOS only", accel.ErrUnavailable)
}

// Open returns what Probe says.
func (d device) Open(accel.Grid) (accel.Kernel, error) { return nil, d.Probe() }

// OpenTable returns what Probe says.
func (d device) OpenTable(accel.Table) (accel.Kernel, error) { return nil, d.Probe() }
