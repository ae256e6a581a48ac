package plan

import (
	"fmt"

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
	case *Bin, *Represent, *Group:
		return Windows
	case *Dense:
		return Rows
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
		if n.In.Kind() == Windows {
			return fmt.Errorf("%w: a limit reads events, a table or blocks, but %q yields windows", ErrInvalid, n.In)
		}
	case *Bin:
		if n.Bins < 1 || n.Bins > 4096 {
			return fmt.Errorf("%w: %d bins; 1 to 4096 are possible", ErrInvalid, n.Bins)
		}
		if _, ok := n.In.(*Bin); ok {
			return fmt.Errorf("%w: %q bins what is binned already", ErrInvalid, n)
		}
	case *Group:
		if len(n.Keys) == 0 {
			return fmt.Errorf("%w: a group without keys", ErrInvalid)
		}
	case *Dense:
		if n.Cutoff < 1 || n.Cutoff > 255 {
			return fmt.Errorf("%w: cutoff %d; 1 to 255 is possible", ErrInvalid, n.Cutoff)
		}
		_, err := n.Grouping()
		return err
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
	for _, d := range []int{1, 2} {
		if sameKeys(g.Keys, PlaneKeys(d)) {
			return Grouping{g, b, d}, nil
		}
	}
	return Grouping{}, fmt.Errorf("%w: %q lays out counts by p, y, x or by p, y // 2, x // 2, not %q", ErrInvalid, n, g)
}

// PlaneKeys are the group keys that make planes of counts: polarity, row and column, the latter two divided by d.
func PlaneKeys(d int) []exprs.Value {
	if d == 1 {
		return []exprs.Value{exprs.P, exprs.Y, exprs.X}
	}
	return []exprs.Value{exprs.P, exprs.Y.Div(int64(d)), exprs.X.Div(int64(d))}
}

func sameKeys(a, b []exprs.Value) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !a[i].Equal(b[i]) {
			return false
		}
	}
	return true
}
