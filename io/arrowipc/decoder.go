package arrowipc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/format"
)

// pieceRows is how many events are decoded at a time; a multiple of eight, for the values of a column of bits.
const pieceRows = 64 << 10

// A decoder reads one batch after another, in pieces.
type decoder struct {
	*recording
	policy format.Policy
	rep    *event.Report
	pool   *event.Pool

	at    int64 // the next message
	now   *batch
	start message // of the batch
	left  int64   // rows of the batch
	row   int64   // rows before
	raw   []byte
	wide  []int64
	bad   format.Damage
	done  bool
	err   error
}

// Next implements format.Decoder.
func (d *decoder) Next(ctx context.Context) (*event.Buffer, error) {
	for d.err == nil {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if d.done {
			d.err = io.EOF
			break
		}
		if d.now == nil || d.left == 0 {
			d.err = d.advance()
			continue
		}
		b := d.pool.Get()
		err := d.fill(b)
		if err == nil {
			return b, nil
		}
		b.Release()
		d.err = d.damage(err)
	}
	return nil, d.err
}

// advance opens the next batch, or ends.
func (d *decoder) advance() error {
	d.shut()
	m, err := readMessage(d.file, d.at, d.end)
	var syn *format.SyntaxError
	switch {
	case errors.Is(err, errCut) && d.end == d.file.Size:
		d.done = true
		return d.tail(d.at)
	case errors.As(err, &syn):
		d.done = true
		return d.pass(d.at, d.end, err)
	case err != nil:
		return fmt.Errorf("%s: %w", name, err)
	case m.kind == kindEnd:
		d.done = true
		return d.ending(m)
	}
	d.at = m.next
	if m.kind != kindBatch {
		return nil // dictionaries of columns that nobody reads
	}
	d.start = m
	if d.now, err = openBatch(d.file, &d.schema, m); err != nil {
		return d.damage(err)
	}
	d.left = d.now.rows
	return nil
}

// ending judges what stands where messages end: nothing, or bytes that belong to none.
func (d *decoder) ending(m message) error {
	switch trailing := d.end - m.next; {
	case d.cut && d.policy.Strict:
		return syntax(d.file.Size, errCut, "the file ends without its footer; without --strict what is whole is read")
	case d.cut:
		d.rep.Note("the file ends without its footer: it was cut, and batches may be missing.")
		d.rep.Lose(event.TrailingBytes, max(trailing, 1), m.next) // how much is missing, nothing says
	case d.stream && trailing > 0:
		return d.lose(m.next, trailing, "lie behind the end of the stream")
	}
	return nil
}

// tail judges a message that the end of the file cut.
func (d *decoder) tail(at int64) error {
	return d.lose(at, d.file.Size-at, "are those of a message that the end of the file cut")
}

func (d *decoder) lose(at, n int64, what string) error {
	if d.policy.Strict {
		return syntax(at, errCut, "%d bytes %s; without --strict they are left out", n, what)
	}
	d.rep.Lose(event.TrailingBytes, n, at)
	d.rep.Note("%d bytes %s; the events before are whole.", n, what)
	return nil
}

// damage judges an error in the batch at hand: of the file, of a value, or of damaged bytes, which salvage passes over.
func (d *decoder) damage(err error) error {
	var v *valueError
	var system *fs.PathError
	switch {
	case errors.As(err, &v):
		return fmt.Errorf("%s: row %d: %w", name, d.row+int64(v.row), err)
	case errors.As(err, &system):
		return fmt.Errorf("%s: %w", name, err)
	}
	defer d.shut()
	return d.pass(d.start.at, d.start.next, err)
}

// pass passes over damaged bytes, or says how to.
func (d *decoder) pass(from, to int64, err error) error {
	msg := err.Error()
	var syn *format.SyntaxError
	if errors.As(err, &syn) {
		msg = syn.Msg
	}
	if !d.policy.Salvage {
		return format.Damaged(name, from, msg, err)
	}
	d.bad.Skip(d.rep, from, to, msg)
	return nil
}

// shut leaves the batch at hand.
func (d *decoder) shut() {
	if d.now != nil {
		d.now.Close()
	}
	d.now, d.left = nil, 0
}

// fill decodes the next rows of the batch.
func (d *decoder) fill(b *event.Buffer) error {
	n := int(min(int64(b.Cap()), d.left))
	if int64(n) < d.left && n >= 8 {
		n &^= 7
	}
	b.Resize(n)
	if cap(d.wide) < n {
		d.wide = make([]int64, n)
	}
	for k, c := range d.schema.columns {
		wide := d.wide[:n]
		if k == colT {
			wide = b.T
		}
		if err := d.values(wide, k, c); err != nil {
			return err
		}
		if err := d.convert(b, k, c, wide); err != nil {
			return fmt.Errorf("column %s: %w", c.name, err)
		}
	}
	d.left -= int64(n)
	d.row += int64(n)
	return nil
}

// values reads the next values of a column.
func (d *decoder) values(dst []int64, k int, c column) error {
	size := (int64(len(dst))*c.bits + 7) / 8
	if int64(cap(d.raw)) < size {
		d.raw = make([]byte, size)
	}
	raw := d.raw[:size]
	if _, err := io.ReadFull(d.now.readers[k], raw); err != nil {
		if errors.Is(err, io.EOF) { // which would pass for the end of the recording
			err = io.ErrUnexpectedEOF
		}
		return fmt.Errorf("column %s: reading its values: %w", c.name, err)
	}
	if d.policy.OnRead != nil && k == numColumns-1 {
		d.policy.OnRead(d.start.at + (d.start.next-d.start.at)*(d.now.rows-d.left)/max(d.now.rows, 1))
	}
	c.widen(dst, raw)
	return nil
}

// convert turns values into those of an event.
func (d *decoder) convert(b *event.Buffer, k int, c column, wide []int64) (err error) {
	negative := false
	switch k {
	case colT:
		return d.schema.unit.toMicros(wide, !c.signed)
	case colX:
		negative, err = c.coordinates(b.X, wide)
	case colY:
		negative, err = c.coordinates(b.Y, wide)
	default:
		n, first, unsigned, err := c.polarities(b.P, wide, d.schema.rule)
		if n > 0 {
			d.rep.Count(event.RemappedPolarity, int64(n), d.row+int64(first))
		}
		if unsigned {
			d.rep.Note("%s holds -1 without its sign in an unsigned column, read as OFF.", c.name)
		}
		return err
	}
	if negative {
		d.rep.Note("negative coordinates are read as 65535, which lies off every sensor.")
	}
	return err
}

// Close implements format.Decoder.
func (d *decoder) Close() error {
	d.shut()
	d.done, d.err = true, io.EOF
	return nil
}
