package exec

import (
	"fmt"
	"math"
	"sort"
	"strings"
	"time"

	"github.com/evq-project/evq/accel"
	"github.com/evq-project/evq/exprs"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/udf"
)

// Groups are the groups of one window, one row each, in ascending order of bin and keys.
type Groups struct {
	Window event.Window // Hi-Lo is the number of its events; Lo and Hi point nowhere
	N      int          // rows
	Bins   []int64      // the bin of each row; nil where windows are not binned
	Keys   [][]int64    // one column per key
	Values []udf.Column // one column per aggregate
}

// Binning says how the events of a window are numbered by time.
type Binning struct {
	Bins       int   // how many bins a window has, of equal length
	Width      int64 // or how long a bin is, in microseconds, from the window's start; both 0: not at all
	Rounding   accel.Rounding
	WindowTime bool // the bins divide the window's start to end, not its first to last event
}

// limits returns the times that the bins of a window divide: RVT's rule takes the first and last event of
// the window, before any of them is left out for where it lies.
func (b Binning) limits(w event.Window, t []int64) (from, to int64) {
	if b.WindowTime {
		return w.Start, w.End
	}
	return t[0], t[len(t)-1]
}

// An Agg is one aggregate of a group, with the integers it is computed from.
type Agg struct {
	Func udf.Aggregate
	Args []exprs.Value
}

// Grouping says by what events are grouped and what becomes of each group.
type Grouping struct {
	Bin   Binning
	Keys  []exprs.Value
	Where exprs.Expr // nil keeps all
	Aggs  []Agg
	// Ranges bound the values of every key, so that groups are found by address; nil finds them by hashing.
	// Values beyond them are no error: they only cost time.
	Ranges []KeyRange
	Max    int // the groups that may be held at a time; 0 = any number
	// Memory is what aggregates may hold beside a few numbers for each group, in bytes; 0 = their own bounds.
	Memory int64
	// MaxSlots bounds the groups that are found by address; more are hashed.
	MaxSlots int64
}

// A KeyRange is the closed range of the values of a key.
type KeyRange struct{ Lo, Hi int64 }

// String says what is grouped by what, and how groups are found.
func (g Grouping) String() string {
	var by []string
	switch {
	case g.Bin.Bins > 0:
		by = append(by, fmt.Sprintf("bin of %d", g.Bin.Bins))
	case g.Bin.Width > 0:
		by = append(by, fmt.Sprintf("bin of %v", time.Duration(g.Bin.Width)*time.Microsecond))
	}
	for _, k := range g.Keys {
		by = append(by, k.String())
	}
	s := "group"
	if len(by) > 0 {
		s += " by " + strings.Join(by, ", ")
	}
	var aggs []string
	for _, a := range g.Aggs {
		aggs = append(aggs, a.String())
	}
	s += ": " + strings.Join(aggs, ", ")
	if g.Where != nil {
		s += " where " + g.Where.String()
	}
	return s
}

// String prints the aggregate as a call, such as mean(x).
func (a Agg) String() string { return udf.Written(a.Func, a.Args) }

// open makes an accumulator that holds no more than memory allows; 0 leaves its own bound.
func (a Agg) open(memory int64) udf.Accumulator {
	acc := a.Func.Open()
	if b, ok := acc.(udf.Bounded); ok && memory > 0 {
		b.Bound(memory)
	}
	return acc
}

// A TooManyGroupsError reports a window with more groups than memory allows.
type TooManyGroupsError struct{ Max int }

func (e *TooManyGroupsError) Error() string {
	return fmt.Sprintf("more than %d groups in a window, which is what memory allows; group by fewer values, use shorter windows or raise --memory", e.Max)
}

// any reports whether windows are binned.
func (b Binning) any() bool { return b.Bins > 0 || b.Width > 0 }

// of returns the bin of an event at time t of a window whose events have the times all.
func (b Binning) of(t int64, w event.Window, all []int64) int {
	if b.Width > 0 {
		return int((uint64(t) - uint64(w.Start)) / uint64(b.Width) & math.MaxInt64) // the difference fits, whatever the times
	}
	from, to := b.limits(w, all)
	return b.Rounding.Bin(t-from, to-from, b.Bins)
}

// each calls do with every bin of a window's events that has any: those from lo to hi.
func (b Binning) each(w event.Window, t []int64, do func(bin, lo, hi int) error) error {
	for lo := 0; lo < len(t); {
		bin := b.of(t[lo], w, t)
		// The rule is monotone in time.
		n := sort.Search(len(t)-lo, func(i int) bool { return b.of(t[lo+i], w, t) > bin })
		if err := do(bin, lo, lo+n); err != nil {
			return err
		}
		lo += n
	}
	return nil
}
