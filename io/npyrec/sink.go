package npyrec

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/npy"
)

// How columns are written, by their letters: the types that the arrays of tonic and NumPy programs have.
var written = [numRoles][2]string{{"t", "<i8"}, {"x", "<u2"}, {"y", "<u2"}, {"p", "|i1"}}

// The bytes of a column's values, and of a record of all.
var (
	writtenSizes = [numRoles]int{8, 2, 2, 1}
	recordSize   = 13
)

// An output is one of the two containers.
type output interface {
	// write takes the columns of events that fill no more than a block.
	write(t []int64, x, y []uint16, p []int8, off int8) error
	close() error
	Abort() error
}

// A sink checks batches and hands them on in blocks.
type sink struct {
	name string
	off  int8
	out  output
	err  error // why nothing more is taken
}

// createNPY starts a .npy: a structured array of packed records with the fields t, x, y, p. It has no place for the
// sensor's size.
func createNPY(path string, _ format.Header, o format.CreateOptions) (event.Sink, error) {
	if o.Compression != "" && o.Compression != "none" {
		return nil, fmt.Errorf("npy: there is no compression %q; .npy is written as it is, .npz can be deflated", o.Compression)
	}
	a, err := npy.NewGrowingArray(path, npy.FieldsDescr(written[:]...), recordSize, o.Force)
	if err != nil {
		return nil, err
	}
	return &sink{name: "npy", off: o.OffValue(), out: &records{GrowingArray: a}}, nil
}

// createNPZ starts a .npz: arrays t, x, y and p, and width and height where they are known. It is deflated, at level 1
// unless --compression says none, deflate or a level from 0 to 9.
func createNPZ(path string, h format.Header, o format.CreateOptions) (event.Sink, error) {
	level, err := levelOf(o.Compression)
	if err != nil {
		return nil, err
	}
	members := make([]npy.GrowingMember, numRoles)
	for r, w := range written {
		members[r] = npy.GrowingMember{Name: w[0], Descr: "'" + w[1] + "'", Size: writtenSizes[r]}
	}
	a, err := npy.NewGrowingArchive(path, members, level, o.Force)
	if err != nil {
		return nil, err
	}
	return &sink{name: "npz", off: o.OffValue(), out: &columns{GrowingArchive: a, size: h.Geometry}}, nil
}

func levelOf(compression string) (int, error) {
	switch compression {
	case "", "deflate":
		return 1, nil
	case "none":
		return 0, nil
	}
	level, err := strconv.Atoi(compression)
	if err != nil || level < 0 || level > 9 {
		return 0, fmt.Errorf("npz: there is no compression %q; use deflate, none, or a level from 0 to 9", compression)
	}
	return level, nil
}

// blockRows is how many events are laid out at a time.
const blockRows = 16 << 10

// Write implements event.Sink. After an error the recording is dropped.
func (s *sink) Write(ctx context.Context, b event.Batch) error {
	if s.err != nil {
		return s.err
	}
	if err := ctx.Err(); err != nil {
		return s.fail(err)
	}
	n := b.Len()
	if len(b.X()) != n || len(b.Y()) != n || len(b.P()) != n {
		return s.fail(errors.New("a recording needs the columns t, x, y and p"))
	}
	for i := 0; i < n; i += blockRows {
		c := b.Slice(i, min(i+blockRows, n))
		if err := s.out.write(c.T(), c.X(), c.Y(), c.P(), s.off); err != nil {
			return s.fail(err)
		}
	}
	return nil
}

// fail drops the recording: a part of one would pass for the whole.
func (s *sink) fail(err error) error {
	s.err = errors.Join(fmt.Errorf("%s: %w", s.name, err), s.out.Abort())
	return s.err
}

// WriteTriggers implements event.Sink. Triggers are left out: there is no usual place for them.
func (s *sink) WriteTriggers([]event.Trigger) error { return s.err }

// Close implements event.Sink.
func (s *sink) Close() error {
	if s.err != nil {
		return s.err
	}
	s.err = fmt.Errorf("%s: the recording is closed", s.name)
	return s.out.close()
}

// Abort implements event.Sink.
func (s *sink) Abort() error {
	if s.err == nil {
		s.err = fmt.Errorf("%s: the recording was dropped", s.name)
	}
	return s.out.Abort()
}

// polarity is what is written for p: off for OFF, 1 for ON.
func polarity(p, off int8) byte { return byte(off + p*(1-off)) }

// records are events in one structured array.
type records struct {
	*npy.GrowingArray
	buf []byte
}

func (r *records) write(t []int64, x, y []uint16, p []int8, off int8) error {
	b := r.buf[:0]
	for i := range t {
		b = binary.LittleEndian.AppendUint64(b, uint64(t[i]))
		b = binary.LittleEndian.AppendUint16(b, x[i])
		b = binary.LittleEndian.AppendUint16(b, y[i])
		b = append(b, polarity(p[i], off))
	}
	r.buf = b
	_, err := r.Write(b)
	return err
}

func (r *records) close() error { return r.Close() }

// columns are events in an array for each column.
type columns struct {
	*npy.GrowingArchive
	size event.Geometry
	buf  []byte
}

func (c *columns) write(t []int64, x, y []uint16, p []int8, off int8) error {
	b := c.buf[:0]
	for _, v := range t {
		b = binary.LittleEndian.AppendUint64(b, uint64(v))
	}
	c.buf = b
	if err := c.Write(roleT, b); err != nil {
		return err
	}
	for r, coordinates := range [...][]uint16{roleX: x, roleY: y} {
		if r == roleT {
			continue
		}
		b = b[:0]
		for _, v := range coordinates {
			b = binary.LittleEndian.AppendUint16(b, v)
		}
		if err := c.Write(r, b); err != nil {
			return err
		}
	}
	b = b[:0]
	for _, v := range p {
		b = append(b, polarity(v, off))
	}
	return c.Write(roleP, b)
}

// close adds the sensor's size.
func (c *columns) close() error {
	var more []npy.Member
	if c.size.Known() {
		more = []npy.Member{{Name: "width", Array: npy.Ints{int64(c.size.Width)}}, {Name: "height", Array: npy.Ints{int64(c.size.Height)}}}
	}
	return c.GrowingArchive.Close(more...)
}
