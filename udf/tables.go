package udf

import (
	"context"
	"errors"
	"fmt"

	"github.com/evq-project/evq/accel"
	"github.com/evq-project/evq/io/event"
)

// A DeviceTable counts a representation's windows into a table on a device.
type DeviceTable struct {
	kernel    accel.Kernel
	zeros     []int8 // polarities where the representation reads none
	offSensor int64
}

// OpenDeviceTable opens a table for a representation of a name. It returns nil where the device counts no tables, so that
// the processor does.
func OpenDeviceTable(name string, d accel.Device, t accel.Table) (*DeviceTable, error) {
	k, err := accel.OpenTable(d, t)
	switch {
	case errors.Is(err, accel.ErrNoTables):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("%s on %s: %w; use --device cpu", name, d.Name(), err)
	}
	return &DeviceTable{kernel: k}, nil
}

// Count overwrites a block with the counts of a window's events in the segments.
func (t *DeviceTable) Count(ctx context.Context, ev Events, segments []accel.Segment, data []byte) error {
	p := ev.P
	if p == nil {
		if len(t.zeros) < len(ev.X) {
			t.zeros = make([]int8, len(ev.X))
		}
		p = t.zeros[:len(ev.X)]
	}
	off, err := t.kernel.Scatter(ctx, accel.Job{X: ev.X, Y: ev.Y, P: p, Segments: segments, Windows: 1}, data)
	t.offSensor += off
	return err
}

// OffSensor returns how many events were left out so far because they lay off the sensor.
func (t *DeviceTable) OffSensor() int64 { return t.offSensor }

// Close gives the kernel back.
func (t *DeviceTable) Close() error { return t.kernel.Close() }

// Skip looks at events that no segment holds: it counts those off the sensor, and refuses odd polarities.
func (t *DeviceTable) Skip(ev Events, g event.Geometry) error {
	for i, p := range ev.P {
		if p&^1 != 0 {
			return fmt.Errorf("polarity %d; 0 (OFF) and 1 (ON) are possible", p)
		}
		if int(ev.X[i]) >= g.Width || int(ev.Y[i]) >= g.Height {
			t.offSensor++
		}
	}
	return nil
}
