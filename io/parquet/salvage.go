package parquet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/format"
)

// A watched file remembers whether the system failed to read it: that is no damage, whatever the library makes of it.
type watched struct {
	io.ReaderAt
	bad atomic.Bool
}

func (w *watched) ReadAt(b []byte, at int64) (int, error) {
	n, err := w.ReaderAt.ReadAt(b, at)
	if err != nil && !errors.Is(err, io.EOF) {
		w.bad.Store(true)
	}
	return n, err
}

func (w *watched) failed() bool { return w != nil && w.bad.Load() }

// mostHeld is how many rows of a row group a decoder holds until it knows that all are good. Larger groups are decoded
// twice.
const mostHeld = 1 << 20

// vet decodes a row group before any of it is yielded: it is all there or left out. It returns the pieces of one that is
// small enough to be held.
func (s *scan) vet(d *decoder, g rowGroup) (held []piece, err error) {
	for err = d.open(g); err == nil; err = s.ctx.Err() {
		p, err := s.read(d)
		switch {
		case errors.Is(err, io.EOF):
			return held, nil
		case err != nil:
			return nil, err
		case !inExtent(g, p.events):
			return nil, errExtent
		case g.rows <= mostHeld:
			held = append(held, p)
		default:
			p.events.Release()
		}
	}
	return nil, err
}

// lose makes a piece of an error: one that passes over rows where that is asked for and they are damaged.
func (s *scan) lose(d *decoder, g rowGroup, err error) piece {
	if d.salvage && !d.system.failed() && s.ctx.Err() == nil {
		return piece{lost: err, group: g}
	}
	return piece{err: err}
}

// left returns the next piece of the row groups that are not damaged; those that are it counts and names.
func (s *scan) left(ctx context.Context, bad *format.Damage, rep *event.Report) (piece, error) {
	for {
		p, err := s.next(ctx)
		if err != nil || p.lost == nil {
			return p, err
		}
		g := p.group
		from := g.at[0]
		for _, at := range g.at {
			from = min(from, at)
		}
		why := p.lost.Error()
		var syntax *format.SyntaxError
		if errors.As(p.lost, &syntax) && syntax.Err != nil {
			why = syntax.Err.Error()
		}
		bad.Skip(rep, from, max(g.end, from), fmt.Sprintf("row group %d with the rows %d-%d, of which none is kept: %s", g.index, g.first, g.first+g.rows-1, why))
	}
}

// errExtent reports values that damage has changed without a trace but this.
var errExtent = errors.New("a value lies outside the limits that the footer gives")

// inExtent reports whether events lie in the extent of their row group. Columns that were not read are not looked at.
func inExtent(g rowGroup, b *event.Buffer) bool {
	in := true
	for _, t := range b.T {
		in = in && t >= g.extent.T0 && t <= g.extent.T1
	}
	for _, x := range b.X {
		in = in && x >= g.extent.X0 && x <= g.extent.X1
	}
	for _, y := range b.Y {
		in = in && y >= g.extent.Y0 && y <= g.extent.Y1
	}
	if g.stats {
		for _, p := range b.P {
			in = in && p >= g.extent.P0 && p <= g.extent.P1
		}
	}
	return in
}
