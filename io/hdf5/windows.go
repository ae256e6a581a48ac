//go:build hdf5 && cgo

package hdf5

import (
	"encoding/binary"

	"github.com/evq-project/evq/io/tensor"
	"gonum.org/v1/hdf5"
)

// windowRows is how many windows make one chunk of each column of a windowTable.
const windowRows = 1024

// A windowTable writes window_start, window_end and window_events, int64 of shape (N), while the blocks come: a
// query may have windows without number, most of them empty.
type windowTable struct {
	sets    [3]int64
	columns [3][]byte // the values that are not yet written
	rows    int64     // that are
}

// create makes the datasets and returns their numbers. Call it inside the library.
func (w *windowTable) create(h *hdf5.File) ([]int64, error) {
	for i, name := range []string{tensor.WindowStart, tensor.WindowEnd, tensor.WindowEvents} {
		id, err := createDataset(h.ID(), name, -8, []int{windowRows}, nil)
		if err != nil {
			return w.sets[:i], err
		}
		w.sets[i] = id
	}
	return w.sets[:], nil
}

// add notes the window of a block.
func (w *windowTable) add(b tensor.Block) error {
	for i, v := range []int64{b.Start, b.End, b.Events} {
		w.columns[i] = binary.LittleEndian.AppendUint64(w.columns[i], uint64(v))
	}
	if len(w.columns[0]) < 8*windowRows {
		return nil
	}
	return locked(w.flush)
}

// flush writes what is not yet written. Unless that is a whole chunk, nothing may be added afterwards. Call it
// inside the library.
func (w *windowTable) flush() error {
	n := int64(len(w.columns[0]) / 8)
	if n == 0 {
		return nil
	}
	for i, id := range w.sets {
		w.columns[i] = append(w.columns[i], make([]byte, 8*windowRows-len(w.columns[i]))...)
		if err := extend(id, w.rows+n); err != nil {
			return err
		}
		if err := writeChunk(id, w.rows, w.columns[i]); err != nil {
			return err
		}
		w.columns[i] = w.columns[i][:0]
	}
	w.rows += n
	return nil
}
