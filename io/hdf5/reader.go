//go:build hdf5 && cgo

package hdf5

import (
	"encoding/binary"
	"fmt"
	"unsafe"

	"github.com/evq-project/evq/io/hdf5/chunk"
	"github.com/evq-project/evq/io/hdf5/ecf"
)

// readAtOnce bounds the bytes that the library is asked for at a time.
const readAtOnce = 8 << 20

// A reader reads the rows of one dataset; it holds the chunk it read last.
type reader struct {
	dataset
	dec    *chunk.Decoder // nil where the library decodes
	inECF  bool
	events ecf.Columns // in place of raw where rows are in ECF
	in     int         // the row of the chunk that rows returned last
	apart  bool        // shuffled bytes stay so: rows are had by span
	full   bool        // a chunk that was never written is damage
	at     int64       // the first row of the chunk that raw holds, -1: none
	raw    []byte
	layout chunk.Layout // of raw
	stored []byte
}

func newReader(d dataset, z chunk.ZstdCodec) (*reader, error) {
	r := &reader{dataset: d, at: -1}
	if d.chunk == 0 || d.byLibrary() {
		return r, nil
	}
	filters, size := d.filters, d.width()
	if d.cols > 1 {
		size = d.elem.size
	}
	if r.inECF = d.ecf(); r.inECF {
		filters = nil // ECF is undone here
	}
	var err error
	r.dec, err = chunk.NewDecoder(filters, size, z)
	return r, err
}

// rows returns the bytes of up to n rows from row lo: as many as lie in one chunk. Rows in ECF have no bytes: a view
// picks their fields.
func (r *reader) rows(lo int64, n int) ([]byte, int, error) {
	size := r.width()
	if r.dec == nil {
		n = min(n, max(readAtOnce/size, 1))
		switch {
		case r.chunk > 0: // one, so that damage is known to lie in it
			n = min(n, int(r.chunk-lo%r.chunk))
			if err := r.inFile(lo - lo%r.chunk); err != nil {
				return nil, 0, r.damaged(lo-lo%r.chunk, err)
			}
		case r.limit > 0:
			kept := r.kept()
			if lo >= kept {
				return nil, 0, r.cutFrom(kept)
			}
			n = int(min(int64(n), kept-lo))
		}
		r.raw = sized(r.raw, n*size)
		err := r.read(lo, int64(n), r.raw)
		if err != nil && r.chunk > 0 {
			err = r.damaged(lo-lo%r.chunk, err)
		}
		return r.raw, n, err
	}
	in, n, err := r.within(lo, n)
	if err != nil {
		return nil, 0, err
	}
	if r.inECF {
		r.in = in
		return nil, n, nil
	}
	return r.raw[in*size : (in+n)*size], n, nil
}

// within makes sure that the chunk of row lo is loaded. It returns where in the chunk the row stands, and how many of n
// rows lie in the chunk.
func (r *reader) within(lo int64, n int) (in, m int, err error) {
	start := lo / r.chunk * r.chunk
	if r.at != start {
		r.at = -1
		if err := r.load(start); err != nil {
			return 0, 0, r.damaged(start, err)
		}
		r.at = start
	}
	in = int(lo - start)
	return in, min(n, int(r.chunk)-in), nil
}

// load reads and decodes the chunk that starts at a row.
func (r *reader) load(start int64) error {
	if err := r.inFile(start); err != nil {
		return err
	}
	whole := int(r.chunk) * r.width()
	limit := whole + whole/4 + 1<<16
	if r.inECF {
		limit = 2*whole + 1<<16 // its own bound: steps of 60 bits and no runs
	}
	stored, mask, err := r.readChunk(start, r.stored, limit)
	if err != nil {
		return err
	}
	r.raw, r.layout = sized(r.raw, whole), chunk.Layout{}
	if len(stored) == 0 && r.full {
		return errUnwritten
	}
	if len(stored) == 0 { // never written
		if len(r.fill) == 0 {
			clear(r.raw)
		}
		for i := 0; len(r.fill) > 0 && i < len(r.raw); i += len(r.fill) {
			copy(r.raw[i:], r.fill)
		}
		return r.settle(nil)
	}
	r.stored = stored
	used := int(min(r.chunk, r.dataset.rows-start)) * r.width()
	if r.inECF && mask&1 == 0 {
		return r.loadECF(stored, used)
	}
	err = r.decode(whole, stored, mask)
	if err != nil && used < whole && r.decode(used, stored, mask) == nil {
		err = nil // a last chunk that was stored with its own rows only
	}
	return r.settle(err)
}

// decode undoes the filters of a chunk of n bytes.
func (r *reader) decode(n int, stored []byte, mask uint32) (err error) {
	r.raw = r.raw[:n]
	if r.apart {
		r.layout, err = r.dec.Inflate(r.raw, stored, mask)
		return err
	}
	return r.dec.Decode(r.raw, stored, mask)
}

// settle takes records that are not in ECF, in a dataset that is, apart.
func (r *reader) settle(err error) error {
	if err == nil && r.inECF {
		r.events.SetRecords(r.raw)
	}
	return err
}

// loadECF decodes a block, which must hold the rows of its chunk that are in use.
func (r *reader) loadECF(stored []byte, used int) error {
	n, err := ecf.Len(stored)
	if err != nil {
		return err
	}
	if n*ecf.RecordSize < used {
		return fmt.Errorf("%w: it holds %d events of %d", ecf.ErrDamaged, n, used/ecf.RecordSize)
	}
	return ecf.Decode(&r.events, stored)
}

func sized(b []byte, n int) []byte {
	if cap(b) < n {
		return make([]byte, n)
	}
	return b[:n]
}

// A view is one column of a reader's rows.
type view struct {
	column
	*reader
	from   int    // where in a row its element stands
	picked []byte // its elements, one after another
	whole  []byte // its elements as int64
}

// pick returns the elements of n rows, those that the reader returned last.
func (v *view) pick(rows []byte, n int) []byte {
	size, width := v.column.elem.size, v.width()
	if v.inECF {
		if b := v.field(n); b != nil {
			return b
		}
		v.reader.raw = v.events.AppendRecords(v.reader.raw[:0], v.in, v.in+n)
		rows = v.reader.raw
	}
	if size == width {
		return rows[:n*size]
	}
	v.picked = sized(v.picked, n*size)
	gather(v.picked, rows[v.from:], size, width)
	return v.picked
}

// field returns the elements of n rows in ECF as they lie there, nil where the column is not a field of theirs.
func (v *view) field(n int) []byte {
	lo, hi := v.in, v.in+n
	switch f := [2]int{v.from, v.column.elem.size}; {
	case !littleHost:
		return nil
	case f == [2]int{ecf.AtT, 8}:
		return bytesOf(v.events.T[lo:hi])
	case f == [2]int{ecf.AtX, 2}:
		return bytesOf(v.events.X[lo:hi])
	case f == [2]int{ecf.AtY, 2}:
		return bytesOf(v.events.Y[lo:hi])
	case f == [2]int{ecf.AtP, 2}:
		return bytesOf(v.events.P[lo:hi])
	}
	return nil
}

// bytesOf returns the memory of numbers.
func bytesOf[T int64 | uint16](v []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), len(v)*int(unsafe.Sizeof(v[0])))
}

// gather copies an element out of every row.
func gather(dst, rows []byte, size, width int) {
	n := len(dst) / size
	switch size {
	case 2:
		for i := range n {
			binary.LittleEndian.PutUint16(dst[2*i:], binary.LittleEndian.Uint16(rows[i*width:]))
		}
	case 8:
		for i := range n {
			binary.LittleEndian.PutUint64(dst[8*i:], binary.LittleEndian.Uint64(rows[i*width:]))
		}
	default:
		for i := range n {
			copy(dst[i*size:][:size], rows[i*width:])
		}
	}
}
