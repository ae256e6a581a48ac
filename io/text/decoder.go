package text

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/format"
)

const (
	bufferSize = 64 << 10 // events
	shortest   = 8        // bytes of the shortest line of an event
	mostNotes  = 100      // damaged ranges that are named one by one
)

// A decoder reads events line by line: as fast does where a line is plain numbers, else field by field.
type decoder struct {
	layout
	name   string
	policy format.Policy
	rep    *event.Report
	pool   *event.Pool
	lines  *lines

	rest []byte // whole lines that are not yet read
	at   int64  // where in the file they start
	line int    // the number of the first of them
	tail bool   // rest is the last line, which has no end
	last int64  // the time before it
	err  error  // what ends the scan, once the events before it are out

	scratch [][]byte
	damage  damage
}

func newDecoder(name string, f format.File, l layout, p format.Policy, rep *event.Report, pool *event.Pool) *decoder {
	return &decoder{layout: l, name: name, policy: p, rep: rep, pool: pool, line: l.line, lines: newLines(f, l.start, p.ReadSize), last: -1 << 63}
}

// Next implements format.Decoder.
func (d *decoder) Next(ctx context.Context) (*event.Buffer, error) {
	if d.err != nil {
		return nil, d.err
	}
	b := d.pool.Get()
	for d.err == nil && b.Len() < b.Cap() {
		if len(d.rest) == 0 {
			if d.rest, d.at, d.tail, d.err = d.lines.next(ctx); d.err != nil {
				break
			}
		}
		if !d.tail {
			n := d.fast(b, d.rest)
			d.take(n)
			if n := b.Len(); n > 0 {
				d.last = b.T[n-1]
			}
			if len(d.rest) == 0 || b.Len() == b.Cap() {
				continue
			}
		}
		n := bytes.IndexByte(d.rest, '\n') + 1
		d.err = d.slow(b, d.rest[:n-1])
		d.take(n)
		d.line++
	}
	d.finish()
	if b.Len() > 0 {
		return b, nil
	}
	b.Release()
	return nil, d.err
}

func (d *decoder) take(n int) { d.rest, d.at = d.rest[n:], d.at+int64(n) }

// finish settles what an end leaves open.
func (d *decoder) finish() {
	if d.err == nil {
		return
	}
	if errors.Is(d.err, errLong) {
		d.err = d.syntax(errLong)
	}
	d.damage.end(d.rep)
}

// Close implements format.Decoder.
func (d *decoder) Close() error {
	d.rest, d.err = nil, io.EOF
	return nil
}

func (d *decoder) syntax(err error) error {
	return &format.SyntaxError{Format: d.name, Offset: d.at, Msg: fmt.Sprintf("line %d: %v", d.line, err)}
}

// slow reads one line, whatever it holds.
func (d *decoder) slow(b *event.Buffer, line []byte) error {
	trimmed := bytes.TrimSpace(line)
	if len(trimmed) == 0 || isComment(trimmed) {
		return nil
	}
	d.scratch = d.fields(d.scratch, trimmed)
	e, err := d.parse(d.scratch)
	if err == nil && d.tail && e.t < d.last && d.roles[len(d.roles)-1] == roleT {
		err = errors.New("the time of the last line, which has no end, lies before the one before it")
	}
	switch {
	case err == nil:
		d.damage.end(d.rep)
		d.count(e)
		b.Append(e.t, e.x, e.y, e.p)
		d.last = e.t
		return nil
	case d.tail && !d.policy.Strict:
		d.rep.Lose(event.TrailingBytes, int64(len(line)), d.at)
		return nil
	case d.tail:
		return d.syntax(fmt.Errorf("the last line is cut: %w; without --strict it is left out", err))
	case d.policy.Salvage:
		d.rep.Lose(event.DamagedBytes, int64(len(line)+1), d.at)
		d.damage.add(d.rep, d.line, err)
		return nil
	}
	return format.Damaged(d.name, d.at, fmt.Sprintf("line %d: %v", d.line, err), err)
}

// count counts what was met in an event's line.
func (d *decoder) count(e row) {
	if e.remapped {
		d.rep.Count(event.RemappedPolarity, 1, d.at)
	}
	if e.unsigned {
		d.rep.Note("polarities of 255 or 4294967295 are a -1 without its sign, read as OFF.")
	}
	if e.negative {
		d.rep.Note("negative coordinates are read as 65535, which lies off every sensor.")
	}
}

// A damage is a range of lines that are no events.
type damage struct {
	from, to int // none where from is 0
	first    error
	named    int
}

func (r *damage) add(rep *event.Report, line int, err error) {
	if r.from != 0 && line != r.to+1 {
		r.end(rep)
	}
	if r.from == 0 {
		r.from, r.first = line, err
	}
	r.to = line
}

// end names the range in the report.
func (r *damage) end(rep *event.Report) {
	if r.from == 0 {
		return
	}
	switch {
	case r.named == mostNotes:
		rep.Note("more lines than these are damaged.")
	case r.named < mostNotes && r.from == r.to:
		rep.Note("line %d was left out: %v.", r.from, r.first)
	case r.named < mostNotes:
		rep.Note("lines %d to %d were left out; the first: %v.", r.from, r.to, r.first)
	}
	r.named++
	r.from = 0
}
