//go:build hdf5 && cgo

package hdf5

import (
	"math"

	"github.com/evq-project/evq/io/format"
)

// An msIndex is DSEC's index by milliseconds: entry k is the first event at or after k ms from the offset on, so that
// t[index[k]] >= 1000k and t[index[k]-1] < 1000k. It ends with the millisecond of the last event; as times have 32 bits,
// it never has more than 2^32/1000 entries, which are 34 MB.
//
// Source: the class EventSlicer of the data set's own code (uzh-rpg/DSEC, scripts/utils/eventslicer.py).
type msIndex struct {
	offset  int64 // the first time, to which others are relative
	n       int64 // events
	last    int64 // the last time
	entries []uint64
}

// add takes the times of the next events, in microseconds.
func (m *msIndex) add(t []int64) error {
	for i, v := range t {
		if m.n == 0 {
			m.offset, m.last = v, v
		}
		past := uint64(v - m.offset)
		switch {
		case v < m.last:
			return format.Unordered("hdf5", m.n, t[i], m.last)
		case past > math.MaxUint32:
			return format.OutOfRange("hdf5", m.n, "at %d µs lies more than 2^32 µs after the first at %d µs, which is all that DSEC's layout holds; cut the times with --time, or write the layout flat", v, m.offset)
		}
		for uint64(len(m.entries))*1000 <= past {
			m.entries = append(m.entries, uint64(m.n))
		}
		m.n, m.last = m.n+1, v
	}
	return nil
}

// write adds the index and the offset to a file. Call it inside the library.
func (m *msIndex) write(file int64) error {
	if err := writeInt64s(file, "t_offset", []int64{m.offset}, true); err != nil {
		return err
	}
	return writeUint64s(file, "ms_to_idx", m.entries)
}
