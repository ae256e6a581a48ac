package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/evq-project/evq/exprs"
)

// Validate reports the first node, from the result down, that reads what it cannot or asks for what has no
// meaning. Its errors wrap ErrInvalid.
func Validate(n Node) error {
	for ; n != nil; n = n.Input() {
		if in := n.Input(); in != nil {
			if want := reads(n); in.Kind() != want {
				return fmt.Errorf("%w: %q reads %v, but %q yields %v", ErrInvalid, n, want, in, in.Kind())
			}
		}
		if err := check(n); err != nil {
			return err
		}
	}
	return nil
}

// reads is the kind that a node reads.
func reads(n Node) Kind {
	switch n := n.(type) {
	case *Limit:
		return n.In.Kind()
	case *Filter:
		if n.In.Kind() == Windows {
			return Windows
		}
	case *Bin, *Represent, *Group:
		return Windows
	case *Dense, *Sort, *Having, *Select:
		return Rows
	case *Cells:
		return Blocks
	}
	return Events
}

func check(n Node) error {
	switch n := n.(type) {
	case *Window:
		return n.By.validate()
	case *Limit:
		if n.N < 0 {
			return fmt.Errorf("%w: a limit of %d", ErrInvalid, n.N)
		}
	case *Map:
		if _, err := n.Projection(); err != nil {
			return fmt.Errorf("%w: %w", ErrInvalid, err)
		}
	case *AddRandom:
		if n.N < 0 {
			return fmt.Errorf("%w: %d random events", ErrInvalid, n.N)
		}
		_, err := n.Pixels()
		return err
	case *Bin:
		return n.check()
	case *Represent:
		if len(n.Reps) == 0 {
			return fmt.Errorf("%w: no representation", ErrInvalid)
		}
	case *Group:
		return n.check()
	case *Sort:
		return n.check()
	case *Having:
		return n.check()
	case *Select:
		return n.check()
	case *Dense:
		if n.Cutoff < 1 || n.Cutoff > 255 {
			return fmt.Errorf("%w: cutoff %d; 1 to 255 is possible", ErrInvalid, n.Cutoff)
		}
		_, err := n.Grouping()
		return err
	}
	return nil
}

// mostBins bounds the bins of a window.
const mostBins = 4096

func (n *Bin) check() error {
	switch {
	case n.Width < 0 || n.Width > longest:
		return fmt.Errorf("%w: bins of %v; at least 1 µs is possible", ErrInvalid, micros(n.Width))
	case n.Width > 0 && n.Bins != 0:
		return fmt.Errorf("%w: bins have a number or a width, not both", ErrInvalid)
	case n.Width == 0 && (n.Bins < 1 || n.Bins > mostBins):
		return fmt.Errorf("%w: %d bins; 1 to %d are possible", ErrInvalid, n.Bins, mostBins)
	}
	if _, ok := n.In.(*Bin); ok {
		return fmt.Errorf("%w: %q bins what is binned already", ErrInvalid, n)
	}
	return nil
}

// MaxKeys bounds the keys of a group.
const MaxKeys = 6

func (n *Group) check() error {
	if len(n.Keys) > MaxKeys {
		return fmt.Errorf("%w: a group by %d keys; %d are possible", ErrInvalid, len(n.Keys), MaxKeys)
	}
	if len(n.Aggs) == 0 {
		return fmt.Errorf("%w: a group without aggregates; count is one", ErrInvalid)
	}
	for _, a := range n.Aggs {
		if a.Func == nil {
			return fmt.Errorf("%w: an aggregate without a function; count is one", ErrInvalid)
		}
		if least, most := a.Func.Arity(); len(a.Args) < least || len(a.Args) > most {
			return fmt.Errorf("%w: %s takes %s, not %d", ErrInvalid, a.Func, arguments(least, most), len(a.Args))
		}
	}
	seen := map[string]bool{}
	for _, f := range n.Fields() {
		if seen[f.Name] {
			return fmt.Errorf("%w: two columns called %q; name one of them", ErrInvalid, f.Name)
		}
		seen[f.Name] = true
	}
	return nil
}

func arguments(least, most int) string {
	switch {
	case least != most:
		return fmt.Sprintf("%d to %d arguments", least, most)
	case most == 1:
		return "one argument"
	}
	return fmt.Sprintf("%d arguments", most)
}

func (n *Sort) check() error {
	if n.N < 0 {
		return fmt.Errorf("%w: the first %d rows", ErrInvalid, n.N)
	}
	for _, o := range n.By {
		fields := Fields(n.In)
		if !slices.ContainsFunc(fields, func(f Field) bool { return f.Name == o.Column }) {
			names := make([]string, len(fields))
			for i, f := range fields {
				names[i] = f.Name
			}
			return fmt.Errorf("%w: no column %q to sort by; there are %s", ErrInvalid, o.Column, strings.Join(names, ", "))
		}
	}
	return nil
}

// A Grouping is what Dense reads: binned events counted by polarity, row and column.
type Grouping struct {
	Group      *Group
	Bin        *Bin
	Downsample int // the rows and columns are divided by it
}

// halved is how RVT's nearest-exact downsampling by 2 keeps one pixel of four.
var halved = exprs.And(exprs.X.Mod(2).Eq(1), exprs.Y.Mod(2).Eq(1))

// Halved is the predicate of the events that RVT's downsampling by 2 keeps: those with odd x and odd y
// (torch's nearest-exact resampling: out[i][j] = in[2i+1][2j+1]).
func Halved() exprs.Expr { return halved }

// Grouping returns what a dense node reads, or an error where its keys make no planes.
func (n *Dense) Grouping() (Grouping, error) {
	g, ok := n.In.(*Group)
	if !ok {
		return Grouping{}, fmt.Errorf("%w: %q reads a group, not %q", ErrInvalid, n, n.In)
	}
	b, ok := g.In.(*Bin)
	if !ok {
		return Grouping{}, fmt.Errorf("%w: %q needs binned windows below %q", ErrInvalid, n, g)
	}
	if len(g.Aggs) != 1 || g.Aggs[0].Call() != "count" || b.Width > 0 {
		return Grouping{}, fmt.Errorf("%w: %q lays out the counts of a number of bins, not %q", ErrInvalid, n, g)
	}
	for _, d := range []int{1, 2} {
		if sameKeys(g.Keys, PlaneKeys(d)) {
			return Grouping{g, b, d}, nil
		}
	}
	return Grouping{}, fmt.Errorf("%w: %q lays out counts by p, y, x or by p, y // 2, x // 2, not %q", ErrInvalid, n, g)
}

// PlaneKeys are the group keys that make planes of counts: polarity, row and column, the latter two divided by d.
func PlaneKeys(d int) []Key {
	x, y := exprs.X, exprs.Y
	if d > 1 {
		x, y = x.Div(int64(d)), y.Div(int64(d))
	}
	return []Key{exprs.NewKey(exprs.P), exprs.NewKey(y), exprs.NewKey(x)}
}

func sameKeys(a, b []Key) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !a[i].Value.Equal(b[i].Value) {
			return false
		}
	}
	return true
}
