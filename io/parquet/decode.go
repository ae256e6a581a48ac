package parquet

import (
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/format"
)

// pieceLen is the number of events that are decoded at a time. Row groups of any size are read in such pieces,
// so a scan never holds a whole one.
const pieceLen = 64 << 10

// A reader is one of the library's typed column readers.
type reader[T any] interface {
	ReadBatchInPage(n int64, values []T, def, rep []int16) (rows int64, read int, err error)
}

// errNulls reports a column that has a row without a value.
var errNulls = contentError{errors.New("a row has no value; fill or drop such rows")}

// A contentError is about values that were read well and are none that an event can have.
type contentError struct{ error }

// fill reads len(dst) values.
func fill[T any](r reader[T], dst []T) error {
	for n := 0; n < len(dst); {
		rows, read, err := r.ReadBatchInPage(int64(len(dst)-n), dst[n:], nil, nil)
		if err != nil {
			return err
		}
		if rows != int64(read) {
			return errNulls
		}
		if read <= 0 {
			return io.ErrUnexpectedEOF
		}
		n += read
	}
	return nil
}

// A decoder decodes row groups, one at a time. It serves one goroutine.
type decoder struct {
	file     *file.Reader
	columns  columns
	want     event.Columns
	polarity polarity
	ordered  bool // t must rise
	salvage  bool // damaged row groups are passed over
	system   *watched
	only     *[numColumns]bool // the columns that are decoded to count; nil: t, and those of want
	held     *event.Buffer     // where they are decoded

	group  rowGroup
	next   int64                              // rows of the group that are decoded
	now    int                                // the column in work
	cols   [numColumns]file.ColumnChunkReader // of a column that the library decodes
	fast   [numColumns]*pages                 // of the others
	tables [numColumns]*[math.MaxUint16 + 1]uint16
	slow   bool // the library decodes all of them; for tests
	u16    []uint16
	i32    []int32
	i64    []int64
	bools  []bool
}

// open starts a row group.
func (d *decoder) open(g rowGroup) (err error) {
	defer d.guarded(&err)
	defer guard(&err)
	d.group, d.next, d.now = g, 0, colT
	d.close()
	rg := d.file.RowGroup(g.index)
	for k, at := range d.columns.at {
		if !d.wants(k) {
			continue
		}
		d.now = k
		if !d.slow && !d.columns.unsigned {
			physical, encodings := parquet.Types.Int32, fieldEncodings
			if k == colT {
				physical, encodings = parquet.Types.Int64, timeEncodings
			}
			if d.fast[k], err = newPages(rg, d.file.MetaData().RowGroup(g.index), at, physical, encodings, k == colP, d.table(k)); err != nil {
				return d.wrap(k, err)
			}
			if d.fast[k] != nil {
				continue
			}
		}
		if d.cols[k], err = rg.Column(at); err != nil {
			return d.wrap(k, err)
		}
	}
	return nil
}

// close gives the memory of the row group at hand back.
func (d *decoder) close() {
	for k := range numColumns {
		if d.fast[k] != nil {
			_ = d.fast[k].from.Close() // which has no error to tell
		}
		d.fast[k], d.cols[k] = nil, nil
	}
}

// table is the room for the dictionary of a column, which is used again in every row group.
func (d *decoder) table(k int) *[math.MaxUint16 + 1]uint16 {
	if d.tables[k] == nil && k != colT {
		d.tables[k] = new([math.MaxUint16 + 1]uint16)
	}
	return d.tables[k]
}

func (d *decoder) wants(k int) bool {
	if d.only != nil {
		return d.only[k]
	}
	return k == colT || d.want.Has([numColumns]event.Columns{colX: event.ColX, colY: event.ColY, colP: event.ColP}[k])
}

// wrap says where in the file an error lies.
func (d *decoder) wrap(k int, err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		err = ErrDamaged
	}
	msg := fmt.Sprintf("column %s, from row %d", columnNames[k], d.group.first+d.next)
	if _, ok := errors.AsType[contentError](err); ok || d.system.failed() {
		return fmt.Errorf("parquet: %s: %w", msg, err)
	}
	return format.Damaged(formatName, d.group.at[k], fmt.Sprintf("%s: %v", msg, err), err)
}

// guarded says where in the file a panic of the library lies.
func (d *decoder) guarded(err *error) {
	if _, ok := errors.AsType[*format.SyntaxError](*err); !ok && errors.Is(*err, ErrDamaged) && !d.system.failed() {
		*err = d.wrap(d.now, *err)
	}
}

// read decodes the next piece of the row group into b, which is empty; io.EOF after the last. It returns how
// many polarities were not 0 or 1 and what the first of them was.
func (d *decoder) read(b *event.Buffer) (remapped int64, err error) {
	defer d.guarded(&err)
	defer guard(&err)
	n := int(min(int64(b.Cap()), pieceLen, d.group.rows-d.next))
	if n == 0 {
		return 0, io.EOF
	}
	b.Resize(n)
	d.now = colT
	if err := d.times(b.T); err != nil {
		return 0, d.wrap(colT, err)
	}
	if b.X, err = d.coordinates(colX, b.X); err != nil {
		return 0, err
	}
	if b.Y, err = d.coordinates(colY, b.Y); err != nil {
		return 0, err
	}
	if !d.wants(colP) {
		b.P = b.P[:0]
	} else if remapped, err = d.polarities(b.P); err != nil {
		return 0, err
	}
	d.next += int64(n)
	return remapped, nil
}

func (d *decoder) times(dst []int64) error {
	if fast := d.fast[colT]; fast != nil {
		if err := fast.times(dst); err != nil {
			return err
		}
	} else {
		r, ok := d.cols[colT].(reader[int64])
		if !ok {
			return ErrDamaged
		}
		if err := fill(r, dst); err != nil {
			return err
		}
	}
	if d.columns.unsigned {
		for _, t := range dst {
			if t < 0 {
				return contentError{fmt.Errorf("time %d does not fit into 63 bits", uint64(t))}
			}
		}
	}
	if d.ordered {
		for i := 1; i < len(dst); i++ {
			if dst[i] < dst[i-1] {
				return contentError{d.disorder(int64(i))}
			}
		}
	}
	return nil
}

// disorder reports that a file breaks its promise to be sorted.
func (d *decoder) disorder(i int64) error { return disorderAt(d.group.first + d.next + i) }

func disorderAt(row int64) error {
	return fmt.Errorf("row %d lies before the one ahead of it, though the file says that it is sorted by t; sort it and write it again", row)
}

// coordinates decodes x or y; a column that nobody wants becomes empty.
func (d *decoder) coordinates(k int, dst []uint16) ([]uint16, error) {
	if !d.wants(k) {
		return dst[:0], nil
	}
	d.now = k
	bad := -1
	var err error
	if fast := d.fast[k]; fast != nil {
		err = fast.fields(dst)
		if r, ok := errors.AsType[rangeError](err); ok {
			bad, err = r.at, nil
		}
		return d.checked(k, dst, bad, err)
	}
	switch r := d.cols[k].(type) {
	case reader[int32]:
		src := scratch(&d.i32, len(dst))
		if err = fill(r, src); err == nil {
			bad = narrow(dst, src)
		}
	case reader[int64]:
		src := scratch(&d.i64, len(dst))
		if err = fill(r, src); err == nil {
			bad = narrow(dst, src)
		}
	default:
		err = ErrDamaged
	}
	return d.checked(k, dst, bad, err)
}

// checked reports coordinates that could not be read, or that are none.
func (d *decoder) checked(k int, dst []uint16, bad int, err error) ([]uint16, error) {
	if err != nil {
		return nil, d.wrap(k, err)
	}
	if bad >= 0 {
		return nil, fmt.Errorf("parquet: row %d: %s is not in 0..65535; drop such rows", d.group.first+d.next+int64(bad), columnNames[k])
	}
	return dst, nil
}

// polarities decodes p.
func (d *decoder) polarities(dst []int8) (remapped int64, err error) {
	d.now = colP
	bad := -1
	if d.fast[colP] != nil {
		return d.fastPolarities(dst)
	}
	switch r := d.cols[colP].(type) {
	case reader[int32]:
		src := scratch(&d.i32, len(dst))
		if err = fill(r, src); err == nil {
			remapped, bad = polarize(d.polarity, dst, src)
		}
	case reader[int64]:
		src := scratch(&d.i64, len(dst))
		if err = fill(r, src); err == nil {
			remapped, bad = polarize(d.polarity, dst, src)
		}
	case reader[bool]:
		src := scratch(&d.bools, len(dst))
		if err = fill(r, src); err == nil {
			for i, v := range src {
				dst[i] = int8(b2i(v))
			}
		}
	default:
		err = ErrDamaged
	}
	return d.polarized(remapped, bad, err)
}

func (d *decoder) fastPolarities(dst []int8) (remapped int64, err error) {
	src := scratch(&d.u16, len(dst))
	bad := -1
	err = d.fast[colP].fields(src)
	if r, ok := errors.AsType[rangeError](err); ok {
		bad, err = r.at, nil
	}
	if err == nil && bad < 0 && !narrowBits(dst, src) {
		remapped, bad = polarize(d.polarity, dst, widen(scratch(&d.i32, len(dst)), src))
	}
	return d.polarized(remapped, bad, err)
}

// polarized reports polarities that could not be read, or that are none.
func (d *decoder) polarized(remapped int64, bad int, err error) (int64, error) {
	if err != nil {
		return 0, d.wrap(colP, err)
	}
	if bad >= 0 {
		return 0, fmt.Errorf("parquet: row %d: p is not a polarity; give --polarity-encoding nonzero if every value but 0 is ON", d.group.first+d.next+int64(bad))
	}
	return remapped, nil
}

// scratch returns the first n values of a slice that grows to pieceLen once.
func scratch[T any](s *[]T, n int) []T {
	if *s == nil {
		*s = make([]T, pieceLen)
	}
	return (*s)[:n]
}

// narrow copies coordinates and returns the index of the first that does not fit, or -1.
func narrow[T int32 | int64](dst []uint16, src []T) int {
	var all T
	dst = dst[:len(src)]
	for i, v := range src {
		dst[i] = uint16(v)
		all |= v
	}
	if all&^0xffff == 0 {
		return -1
	}
	for i, v := range src {
		if v&^0xffff != 0 {
			return i
		}
	}
	return -1
}

// A polarity is how values other than 0 and 1 are read.
type polarity int

const (
	polaritySigned  polarity = iota // -1, and 255 where -1 was stored as an unsigned byte, are OFF
	polarityStrict                  // 0 and 1 only
	polarityNonzero                 // all but 0 is ON
)

func polarityOf(encoding string) (polarity, error) {
	switch encoding {
	case "", "auto", "pm1":
		return polaritySigned, nil
	case "01":
		return polarityStrict, nil
	case "nonzero":
		return polarityNonzero, nil
	}
	return 0, fmt.Errorf("the polarity encoding is one of auto, 01, pm1, nonzero, not %q", encoding)
}

// polarize copies polarities. It returns how many were not 0 or 1, and the index of the first that is none at
// all, or -1.
func polarize[T int32 | int64](enc polarity, dst []int8, src []T) (remapped int64, bad int) {
	var all T
	dst = dst[:len(src)]
	for i, v := range src {
		dst[i] = int8(v)
		all |= v
	}
	if all&^1 == 0 {
		return 0, -1
	}
	for i, v := range src {
		switch {
		case v&^1 == 0:
			continue
		case enc == polarityNonzero:
			dst[i] = 1
		case enc == polaritySigned && (v == -1 || v == 255):
			dst[i] = 0
		default:
			return remapped, i
		}
		remapped++
	}
	return remapped, -1
}

func widen[T uint16 | int8](dst []int32, src []T) []int32 {
	for i, v := range src {
		dst[i] = int32(v)
	}
	return dst
}
