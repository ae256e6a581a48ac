package npyrec

import (
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/format"
)

// A decoder reads the series side by side, one block of rows after another. Series of one array share what is read.
type decoder struct {
	name    string
	layout  *layout
	rep     *event.Report
	pool    *event.Pool
	strict  bool
	streams []*stream
	of      [numRoles]*stream
	at      int64 // the next row
	wide    []int64
	err     error
}

// A stream is one array, or one column of it, on its way.
type stream struct {
	io.ReadCloser
	path string
	from int64 // where in the file the array starts
	step int
	skip int64 // where in the array it starts
	raw  []byte
}

func newDecoder(name string, l *layout, p format.Policy, rep *event.Report, pool *event.Pool) (format.Decoder, error) {
	d := &decoder{name: name, layout: l, rep: rep, pool: pool, strict: p.Strict}
	if p.Salvage && name == "npy" {
		rep.Note("There is nothing to salvage: an array of NumPy has no checksums, so that no damage shows, and is read as it is.")
	}
	shared := map[string]*stream{}
	for r, s := range l.series {
		key, skip := s.array.Name, int64(0)
		if s.skip >= int64(s.step) { // a column of its own
			key, skip = s.path, s.skip
		}
		st := shared[key]
		if st == nil || st.step != s.step {
			var err error
			if st, err = open(s, skip); err != nil {
				return nil, errors.Join(fmt.Errorf("%s: %s: %w", name, s.path, err), d.Close())
			}
			shared[key] = st
			d.streams = append(d.streams, st)
		}
		d.of[r] = st
	}
	return d, nil
}

func open(s series, skip int64) (*stream, error) {
	r, err := s.array.Open()
	if err != nil {
		return nil, err
	}
	if _, err := io.CopyN(io.Discard, r, skip); err != nil && !errors.Is(err, io.EOF) {
		_ = r.Close()
		return nil, err
	}
	return &stream{ReadCloser: r, path: s.array.Name, from: s.array.At, step: s.step, skip: skip}, nil
}

// Next implements format.Decoder.
func (d *decoder) Next(ctx context.Context) (*event.Buffer, error) {
	if d.err != nil {
		return nil, d.err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if d.at == d.layout.rows {
		d.err = d.end()
		return nil, d.err
	}
	b := d.pool.Get()
	n := int(min(int64(b.Cap()), d.layout.rows-d.at))
	b.Resize(n)
	if err := d.fill(b, n); err != nil {
		b.Release()
		d.err = err
		return nil, err
	}
	d.at += int64(n)
	return b, nil
}

// fill reads n rows.
func (d *decoder) fill(b *event.Buffer, n int) error {
	for _, st := range d.streams {
		if need := n * st.step; cap(st.raw) < need {
			st.raw = make([]byte, need)
		}
		st.raw = st.raw[:n*st.step]
		if _, err := io.ReadFull(st, st.raw); err != nil {
			if errors.Is(err, io.EOF) { // which would pass for the end of the recording
				err = io.ErrUnexpectedEOF
			}
			return d.broken(st, err)
		}
	}
	if cap(d.wide) < n {
		d.wide = make([]int64, n)
	}
	wide := d.wide[:n]
	for r := range d.layout.series {
		if err := d.column(b, r, wide); err != nil {
			return d.located(r, err)
		}
	}
	return nil
}

// column converts the values of one role.
func (d *decoder) column(b *event.Buffer, r int, wide []int64) error {
	s, st := &d.layout.series[r], d.of[r]
	raw := st.raw[s.skip-st.skip:]
	if r == roleT {
		return s.times(b.T, raw, d.layout.unit)
	}
	if err := s.whole(wide, raw); err != nil {
		if r != roleP || d.layout.rule != polarityNonzero {
			return err
		}
		for i := range wide {
			wide[i] = 0
			if s.float(raw, i) != 0 {
				wide[i] = 2
			}
		}
	}
	if r == roleP {
		n, first, unsigned, err := s.polarities(b.P, wide, d.layout.rule)
		if n > 0 {
			d.rep.Count(event.RemappedPolarity, int64(n), d.at+int64(first))
		}
		if unsigned {
			d.rep.Note("%s holds -1 without its sign in an unsigned column, read as OFF.", s.path)
		}
		return err
	}
	to := b.X
	if r == roleY {
		to = b.Y
	}
	negative, err := coordinates(to, wide)
	if negative {
		d.rep.Note("negative coordinates are read as 65535, which lies off every sensor.")
	}
	return err
}

// located says which value an error is about.
func (d *decoder) located(r int, err error) error {
	var v *valueError
	if errors.As(err, &v) {
		return fmt.Errorf("%s: %s[%d]: %w", d.name, d.layout.series[r].path, d.at+int64(v.index), err)
	}
	return err
}

// end reads on to the checksums and counts what the file lacks or has too much of.
func (d *decoder) end() error {
	for _, st := range d.streams {
		if d.name != "npz" {
			break
		}
		if _, err := io.Copy(io.Discard, st); err != nil {
			return d.broken(st, err)
		}
	}
	lost := d.layout.lost
	if lost == 0 {
		return io.EOF
	}
	what := "are missing"
	if lost < 0 {
		lost, what = -lost, "lie behind the array"
	}
	if d.strict {
		return &format.SyntaxError{Format: d.name, Offset: d.layout.end, Msg: fmt.Sprintf("%d bytes %s; without --strict they are left out", lost, what)}
	}
	d.rep.Lose(event.TrailingBytes, lost, d.layout.end)
	d.rep.Note("%d bytes %s; %d events are whole.", lost, what, d.layout.rows)
	return io.EOF
}

// broken is the error of an array whose bytes cannot be had. Arrays of an archive are packed as a whole: what shows damage
// does not say where in the array it is. What the system could not read is no damage.
func (d *decoder) broken(st *stream, err error) error {
	var failed syscall.Errno
	switch {
	case errors.As(err, &failed):
		return fmt.Errorf("%s: reading rows from %d: %w", d.name, d.at, err)
	case d.name != "npz":
		return fmt.Errorf("%s: reading rows from %d: %w; the file was changed while it was read", d.name, d.at, err)
	}
	return &format.SyntaxError{Format: d.name, Offset: st.from, Err: err,
		Msg: fmt.Sprintf("the array %s is damaged (%v); nothing says where in it, and nothing of it can be salvaged: fetch the file again", st.path, err)}
}

// Close implements format.Decoder.
func (d *decoder) Close() error {
	for _, st := range d.streams {
		_ = st.Close()
	}
	d.streams, d.err = nil, io.EOF
	return nil
}
