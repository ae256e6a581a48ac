package scatter

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/evq-project/evq/accel"
)

// A Planner cuts one job after another into batches.
type Planner struct {
	grid   accel.Grid
	size   int // counts of a window
	plane  int // counts from a bin's OFF plane to the next bin's
	job    accel.Job
	rest   []accel.Segment // by window, of those that are not in a batch yet
	window int             // the first that is not
	sorted []accel.Segment // where the caller's are not
}

// NewPlanner returns a planner for a valid grid.
func NewPlanner(g accel.Grid) *Planner {
	return &Planner{grid: g, size: g.Len(), plane: g.Rows() * g.Columns()}
}

// NewTablePlanner returns a planner for a valid table.
func NewTablePlanner(t accel.Table) *Planner {
	return &Planner{grid: accel.Grid{Bins: t.Bins, Width: t.Width, Height: t.Height, Downsample: 1, Cutoff: 1},
		size: t.Len(), plane: t.Len() / t.Bins}
}

// A Limit is what a batch should not exceed; a single window may.
type Limit struct {
	Counts int
	Events int
}

// A Batch is a number of windows that a device counts at once.
type Batch struct {
	Window, Windows int // the first, and how many
	Counts          int
	Events          int // room for packed events
	Runs            int // room for runs

	segments []accel.Segment
	lo, hi   int  // the events between the first and the last of any segment
	shared   bool // they are packed once, for all segments
}

// Start begins a job that has room for so many counts; the errors are those of accel.Job.Validate, and one where that is
// not the size of the job's windows.
func (p *Planner) Start(job accel.Job, counts int) error {
	if err := job.Validate(p.grid); err != nil {
		return err
	}
	if counts/p.size != job.Windows || counts%p.size != 0 {
		return fmt.Errorf("accel: room for %d counts; %d windows of %d are asked for", counts, job.Windows, p.size)
	}
	p.job, p.rest, p.window = job, job.Segments, 0
	byWindow := func(a, b accel.Segment) int { return cmp.Compare(a.Window, b.Window) }
	if !slices.IsSortedFunc(p.rest, byWindow) {
		p.sorted = append(p.sorted[:0], p.rest...)
		slices.SortStableFunc(p.sorted, byWindow)
		p.rest = p.sorted
	}
	return nil
}

// Next returns the next batch: as many windows as fit into the limit, and one at least. It is the same until Advance
// is called; more is false after the last.
func (p *Planner) Next(limit Limit) (b Batch, more bool) {
	if p.window == p.job.Windows {
		return Batch{}, false
	}
	b = Batch{Window: p.window, lo: math.MaxInt}
	limit.Counts = min(limit.Counts, math.MaxInt32) // a cell is a word
	sum, taken := 0, 0
	for w := p.window; w < p.job.Windows; w++ {
		grown, total := b, sum
		grown.Windows, grown.Counts = b.Windows+1, b.Counts+p.size
		n := taken
		for ; n < len(p.rest) && int(p.rest[n].Window) == w; n++ {
			grown.add(p.rest[n])
			total += int(p.rest[n].Len)
		}
		grown.Events = total
		// Where windows share events, or lie close, the events between are packed once. The flat index needs a way
		// of its own for each window.
		if between := grown.hi - grown.lo; !p.grid.Flat && total > 0 && between <= total {
			grown.Events, grown.shared = between, true
		} else {
			grown.shared = false
		}
		if b.Windows > 0 && (grown.Counts > limit.Counts || grown.Events > limit.Events) {
			break
		}
		b, sum, taken = grown, total, n
	}
	b.segments = p.rest[:taken]
	return b, true
}

// add takes the measure of a segment.
func (b *Batch) add(s accel.Segment) {
	if s.Len == 0 {
		return
	}
	b.Runs += (int(s.Len) + runEvents - 1) / runEvents
	b.lo, b.hi = min(b.lo, int(s.Start)), max(b.hi, int(s.Start)+int(s.Len))
}

// Advance says that a batch is done with.
func (p *Planner) Advance(b Batch) {
	p.rest = p.rest[len(b.segments):]
	p.window += b.Windows
}

// Windows returns how many windows the job has.
func (p *Planner) Windows() int { return p.job.Windows }

// Bins returns how many bins a window has.
func (p *Planner) Bins() int { return p.grid.Bins }

// Size returns how many counts a window has.
func (p *Planner) Size() int { return p.size }
