package parquet

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/evq-project/evq/io/event"
)

// Count implements event.CountingSource. Row groups that lie wholly inside the box count by the footer; of those that
// the box cuts, only the columns are decoded by which it does.
func (s *Store) Count(ctx context.Context, want event.Request) (event.Counted, error) {
	if want.Box.Empty() {
		return event.Counted{Report: new(event.Report), Parts: len(s.groups)}, nil
	}
	if s.salvage { // what is damaged only decoding tells
		return s.countDecoded(ctx, want)
	}
	out := event.Counted{Report: new(event.Report), Parts: len(s.groups)}
	if s.note != "" {
		out.Report.Note("%s", s.note)
	}
	var cut []rowGroup
	for _, g := range prune(s.groups, want.Box) {
		out.Report.Events += g.rows
		if g.cuts(want.Box) == [numColumns]bool{} {
			out.Events += g.rows
			continue
		}
		cut = append(cut, g)
	}
	out.Read = len(cut)
	if len(cut) == 0 {
		return out, ctx.Err()
	}
	n, remapped, err := s.countCut(ctx, cut, want)
	if remapped > 0 {
		piece{remapped: remapped, row: cut[0].first}.count(out.Report)
	}
	out.Events += n
	return out, err
}

// countDecoded counts by a scan.
func (s *Store) countDecoded(ctx context.Context, want event.Request) (out event.Counted, err error) {
	want.Columns = 0
	out.Report, err = event.Each(ctx, s, want, func(b event.Batch) error {
		out.Events += countIn(event.Buffer{T: b.T(), X: b.X(), Y: b.Y(), P: b.P()}, b.Len(), want.Box, [numColumns]bool{true, true, true, true})
		return nil
	})
	out.Parts = len(s.groups)
	out.Read = len(prune(s.groups, want.Box))
	return out, err
}

// cuts returns the columns by which the box may leave out some events of the group, and those that may lack a value.
func (g rowGroup) cuts(box event.Box) (by [numColumns]bool) {
	e, within := g.extent, g.extent.Intersect(box)
	by[colT] = e.T0 != within.T0 || e.T1 != within.T1 || g.gaps[colT]
	all := event.Everything
	by[colX] = e.X0 != within.X0 || e.X1 != within.X1 || g.gaps[colX] && (box.X0 > all.X0 || box.X1 < all.X1)
	by[colY] = e.Y0 != within.Y0 || e.Y1 != within.Y1 || g.gaps[colY] && (box.Y0 > all.Y0 || box.Y1 < all.Y1)
	by[colP] = e.P0 != within.P0 || e.P1 != within.P1 || g.gaps[colP] && (box.P0 > all.P0 || box.P1 < all.P1)
	return by
}

// countCut counts the events of groups that have to be decoded, on several goroutines. Of several errors the one of the
// first group counts.
func (s *Store) countCut(ctx context.Context, groups []rowGroup, want event.Request) (n, remapped int64, err error) {
	threads := want.Threads
	if threads <= 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	var workers sync.WaitGroup
	var next, total, odd, failed atomic.Int64
	failed.Store(int64(len(groups)))
	errs := make([]error, len(groups)+1)
	work := func() {
		d, err := s.openDecoder(want.Columns, true)
		for i := next.Add(1) - 1; i < failed.Load(); i = next.Add(1) - 1 {
			var found, bad int64
			if err == nil {
				found, bad, err = d.count(ctx, groups[i], want.Box)
			}
			if err != nil {
				errs[i] = err
				lower(&failed, i)
				break
			}
			total.Add(found)
			odd.Add(bad)
		}
		if d != nil {
			d.close()
		}
	}
	for range min(threads, len(groups)) - 1 {
		workers.Go(work)
	}
	work()
	workers.Wait()
	return total.Load(), odd.Load(), errs[failed.Load()]
}

// lower sets v to n where that is less.
func lower(v *atomic.Int64, n int64) {
	for old := v.Load(); n < old && !v.CompareAndSwap(old, n); old = v.Load() {
	}
}

// count counts the events of a row group that lie in the box, and the polarities that were not 0 or 1.
func (d *decoder) count(ctx context.Context, g rowGroup, box event.Box) (n, remapped int64, err error) {
	by := g.cuts(box)
	d.only = &by
	if err := d.open(g); err != nil {
		return 0, 0, err
	}
	for d.next < g.rows && err == nil {
		var found, bad int64
		found, bad, err = d.countPiece(box)
		n, remapped = n+found, remapped+bad
		err = errors.Join(err, ctx.Err())
	}
	return n, remapped, err
}

// countPiece decodes the next piece of the row group, in the columns that are wanted, and counts.
func (d *decoder) countPiece(box event.Box) (n, remapped int64, err error) {
	defer d.guarded(&err)
	defer guard(&err)
	rows := int(min(pieceLen, d.group.rows-d.next))
	if d.held == nil || d.held.Cap() < rows { // the groups of other writers may grow
		d.held = event.NewBuffer(int(min(pieceLen, d.group.rows)))
	}
	b := d.held
	b.Resize(rows)
	d.now = colT
	if d.only[colT] {
		if err := d.times(b.T); err != nil {
			return 0, 0, d.wrap(colT, err)
		}
	}
	x, err := d.coordinates(colX, b.X)
	if err != nil {
		return 0, 0, err
	}
	y, err := d.coordinates(colY, b.Y)
	if err != nil {
		return 0, 0, err
	}
	if d.only[colP] {
		if remapped, err = d.polarities(b.P); err != nil {
			return 0, 0, err
		}
	}
	d.next += int64(rows)
	return countIn(event.Buffer{T: b.T, X: x, Y: y, P: b.P}, rows, box, *d.only), remapped, nil
}
