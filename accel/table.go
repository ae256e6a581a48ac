package accel

import (
	"errors"
	"fmt"
	"math/bits"
)

// A Table describes the wide counts of one window: for each bin a plane of tiles, or two where polarities are kept
// apart, OFF first. A count is a little-endian integer of 32 bits, signed where polarities are Signed.
type Table struct {
	Bins          int
	Width, Height int // of the sensor
	TileX, TileY  int // the pixels of a tile; 1 for pixels themselves. The last tiles may be cut off by the sensor's edge.
	Polarity      Polarity
}

// Polarity says what becomes of the polarity of an event that is counted.
type Polarity uint8

const (
	// Merged counts either polarity alike.
	Merged Polarity = iota
	// Apart counts each in a plane of its own.
	Apart
	// Signed counts ON events as 1 and OFF events as -1.
	Signed
)

// ErrNoTables reports a device that does not count into tables. The processor does, in the packages that want tables.
var ErrNoTables = errors.New("the device counts no tables")

// A Tabler is a device that counts into tables.
type Tabler interface {
	Device
	// OpenTable readies a kernel for one table. Its Scatter takes 4*Table.Len bytes for each window.
	OpenTable(t Table) (Kernel, error)
}

// OpenTable readies a kernel of d for a table; the error is ErrNoTables where d has none. Auto has none: tables are four
// times the bytes of counts to copy back, and the processor is done before that.
func OpenTable(d Device, t Table) (Kernel, error) {
	if many, ok := d.(Tabler); ok {
		return many.OpenTable(t)
	}
	return nil, ErrNoTables
}

// Validate reports a table that no device can count.
func (t Table) Validate() error {
	switch {
	case t.TileX < 1 || t.TileY < 1 || t.TileX > 1<<15 || t.TileY > 1<<15:
		return fmt.Errorf("accel: tiles of %dx%d pixels; 1x1 to 32768x32768 are possible", t.TileX, t.TileY)
	case t.Polarity > Signed:
		return errors.New("accel: a polarity that has no name; use the constants")
	}
	if err := validateSensor(t.Bins, t.Width, t.Height); err != nil {
		return err
	}
	if n := int64(t.Planes()) * int64(t.Rows()) * int64(t.Columns()); n > 1<<29-1 {
		return fmt.Errorf("accel: a window of %d wide counts; 1 to 2^29-1 are possible", n)
	}
	return nil
}

// grid has a table's bins, for what depends on those alone.
func (t Table) grid() Grid {
	return Grid{Bins: t.Bins, Width: t.Width, Height: t.Height, Downsample: 1, Cutoff: 1}
}

// ValidateTable reports a job whose columns or segments do not fit together.
func (j Job) ValidateTable(t Table) error { return j.Validate(t.grid()) }

// Planes returns how many planes a window has.
func (t Table) Planes() int {
	if t.Polarity == Apart {
		return 2 * t.Bins
	}
	return t.Bins
}

// Rows returns how many tiles lie in a column of a plane.
func (t Table) Rows() int { return (t.Height + t.TileY - 1) / t.TileY }

// Columns returns how many tiles lie in a row of a plane.
func (t Table) Columns() int { return (t.Width + t.TileX - 1) / t.TileX }

// Len returns the number of counts of one window.
func (t Table) Len() int { return t.Planes() * t.Rows() * t.Columns() }

// Divider returns a factor and a shift so that v/by = v*factor>>shift for every v below 2^15, without a carry out of 32
// bits; by lies in 1 to 2^15. With shift = 15 + ceil(log2 by) and factor = ceil(2^shift/by) the error, below
// v*by/(by*2^shift), is less than the 1/by that would matter.
func Divider(by int) (factor, shift uint32) {
	shift = 15 + uint32(bits.Len(uint(by-1)))
	return uint32((1<<shift + by - 1) / by), shift
}
