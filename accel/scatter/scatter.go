// Package scatter readies jobs for devices with a memory of their own: it cuts a job into batches of whole windows,
// packs their events into words, and holds the kernel's logic that such devices share.
//
// It knows grids and slices; it refuses to know drivers, and how a device is told what to do.
package scatter

import (
	_ "embed"

	"github.com/evq-project/evq/accel"
)

// Body is the kernel's logic in C; its first lines say what must be defined around it.
//
//go:embed kernel/body.h
var Body string

// Threads is how many threads of a device count one run together.
const Threads = 256

// runEvents is the most events of a run. A device counts runs side by side, so that a crowded bin must be several.
const runEvents = 16 * Threads

// A Run is a number of packed events, one after another, that count in the same two planes. Kernels read it as three
// words.
type Run struct {
	Base  uint32 // the cell where the OFF plane begins, from the start of the batch; or cells
	First uint32 // its first packed event
	Len   uint32
}

// cells as the base of a run says that its words are not events but cells already.
const cells = 1<<32 - 1

// nowhere marks a packed event off the sensor.
const nowhere = 1 << 31

// Params is what a kernel must know of a grid.
type Params struct {
	Columns   uint32 // of the counts
	HalfSize  uint32 // 1: only odd x and odd y count, at (x/2, y/2)
	PlaneStep uint32 // from an OFF plane to the ON plane of the same bin
	Wrap      uint32 // 1: counts wrap at 256 and are clipped afterwards; 0: they stop at Cutoff
	Cutoff    uint32
}

// ParamsOf returns what a kernel must know of a grid.
func ParamsOf(g accel.Grid) Params {
	p := Params{Columns: uint32(g.Columns()), HalfSize: uint32(g.Downsample - 1),
		PlaneStep: uint32(g.Bins * g.Rows() * g.Columns()), Cutoff: uint32(g.Cutoff)}
	if g.Wrap {
		p.Wrap = 1
	}
	return p
}

// Clips reports whether counts may be over the cutoff when all events are counted.
func (p Params) Clips() bool { return p.Wrap == 1 && p.Cutoff < 255 }

// Words returns the parameters in the order in which evq_scatter takes them.
func (p Params) Words() []uint32 {
	return []uint32{p.Columns, p.HalfSize, p.PlaneStep, p.Wrap, p.Cutoff}
}

// ClipWords returns those that evq_clip takes.
func (p Params) ClipWords() []uint32 { return []uint32{p.Columns, p.HalfSize, p.PlaneStep, p.Cutoff} }

// TableParams is what evq_count must know of a table.
type TableParams struct {
	Columns         uint32
	XFactor, XShift uint32 // divide by the width of a tile; see accel.Divider
	YFactor, YShift uint32
	PlaneStep       uint32 // from an OFF plane to the ON plane of the same bin; 0 where they are one
	Signed          uint32 // 1: OFF events count -1
}

// TableParamsOf returns what evq_count must know of a table.
func TableParamsOf(t accel.Table) TableParams {
	p := TableParams{Columns: uint32(t.Columns())}
	p.XFactor, p.XShift = accel.Divider(t.TileX)
	p.YFactor, p.YShift = accel.Divider(t.TileY)
	switch t.Polarity {
	case accel.Merged:
	case accel.Apart:
		p.PlaneStep = uint32(t.Rows() * t.Columns())
	case accel.Signed:
		p.Signed = 1
	}
	return p
}

// Words returns the parameters in the order in which evq_count takes them.
func (p TableParams) Words() []uint32 {
	return []uint32{p.Columns, p.XFactor, p.XShift, p.YFactor, p.YShift, p.PlaneStep, p.Signed}
}
