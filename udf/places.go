package udf

import "github.com/evq-project/evq/io/event"

// A Part is a share of a sensor's rows, for encoders that take in the same events side by side: of parts 0 to Of-1, each
// row belongs to one. The zero Part has them all.
type Part struct{ N, Of int }

// partRows are the rows that lie together in a part: few, so that parts have about as many events each, and enough that
// two do not write to one line of memory.
const partRows = 8

// MaxParts is how many parts there are at most; Of is a power of two.
const MaxParts = 8

// Has reports whether a row belongs to the part.
func (p Part) Has(row int) bool { return p.Of < 2 || row/partRows&(p.Of-1) == p.N }

// Rows calls do with each run of rows that belong to the part.
func (p Part) Rows(height int, do func(from, to int)) {
	if p.Of < 2 {
		do(0, height)
		return
	}
	for from := p.N * partRows; from < height; from += p.Of * partRows {
		do(from, min(from+partRows, height))
	}
}

// A Divisible encoder may be divided by rows. What Divide returns stands for it: each is handed every event, and writes
// its own part of the block. It is nil where the encoder cannot be divided.
type Divisible interface {
	GradualEncoder
	Divide(of int) []GradualEncoder
}

// PlaceRun is how many events a Places looks at together: few enough that all stays near, and many enough that a short
// loop over their places has the processor wait for many far ones at a time.
const PlaceRun = 256

// A Places finds where events lie in an encoder's memory: at Polarity*p + Row*y + Column*x.
type Places struct {
	At    [PlaceRun]uint32 // of the events found
	Index [PlaceRun]uint8  // which events they are

	polarity, row, column uint32
	width, height         int64
	n, of                 int64 // the part
	off                   int64
}

// NewPlaces makes one for a sensor, or a part of its rows. Memory of 2^32 places or more is a mistake of the caller.
func NewPlaces(g event.Geometry, part Part, polarity, row, column int) *Places {
	return &Places{polarity: uint32(polarity), row: uint32(row), column: uint32(column),
		width: int64(g.Width), height: int64(g.Height), n: int64(part.N), of: int64(max(part.Of, 1) - 1)}
}

// OffSensor returns how many events of the part lay off the sensor.
func (s *Places) OffSensor() int64 { return s.off }

// Find finds the events, at most PlaceRun of them, that lie on the sensor and in the part, and returns how many. One whose
// polarity is neither 0 nor 1 is an error.
func (s *Places) Find(ev Events) (n int, err error) {
	y, p := ev.Y[:len(ev.X)], ev.P[:len(ev.X)]
	off, odd := int64(0), int64(0)
	for i, x := range ev.X {
		column, row, on := int64(x), int64(y[i]), int64(uint8(p[i]))
		here := ((column - s.width) & (row - s.height)) >> 63 // all bits where it lies on the sensor: no branch to foresee
		mine := ((row/partRows&s.of ^ s.n) - 1) >> 63         // and where it belongs to the part
		s.At[n&(PlaceRun-1)] = uint32(on)*s.polarity + uint32(row)*s.row + uint32(column)*s.column
		s.Index[n&(PlaceRun-1)] = uint8(i)
		n -= int(here & mine)
		off -= mine &^ here
		odd |= on & here & mine
	}
	s.off += off
	if odd > 1 {
		return 0, ErrPolarity
	}
	return n, nil
}

// Runs hands the events to Find, run by run, and calls do with each run and how many of it were found.
func (s *Places) Runs(ev Events, do func(run Events, n int)) error {
	for lo := 0; lo < len(ev.T); lo += PlaceRun {
		run := ev.Slice(lo, min(lo+PlaceRun, len(ev.T)))
		n, err := s.Find(run)
		if err != nil {
			return err
		}
		do(run, n)
	}
	return nil
}
