package plan

import (
	"fmt"

	"github.com/evq-project/evq/exprs"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/udf"
)

// Scan reads the events of a source, leaving out what Want allows.
type Scan struct {
	Source event.Source
	Want   event.Request // Columns and Box only
}

// Empty stands for a scan of which no event is wanted: nothing is read.
type Empty struct{ Of *Scan }

// Filter keeps the events that satisfy a predicate: of a stream, or in every window.
type Filter struct {
	In   Node
	Pred exprs.Expr
}

// Apply keeps the events that a filter with memory keeps.
type Apply struct {
	In     Node
	Filter udf.Filter
}

// Map moves events: each becomes one with other fields, on a sensor that may have another size, or none.
type Map struct {
	In Node
	By exprs.Transform
}

// AddRandom adds N events at random: uniform from the first event's time to the last's, and in the pixels of Region,
// the whole sensor where it has none.
type AddRandom struct {
	In     Node
	N      int64
	Seed   uint64
	Region *Rect
}

// A Rect is a rectangle of pixels; both corners belong to it.
type Rect struct{ X0, Y0, X1, Y1 uint16 }

// Limit keeps the first N events, windows, rows or blocks.
type Limit struct {
	In Node
	N  int64
}

func (*Scan) isNode()      {}
func (*Empty) isNode()     {}
func (*Filter) isNode()    {}
func (*Apply) isNode()     {}
func (*Map) isNode()       {}
func (*AddRandom) isNode() {}
func (*Limit) isNode()     {}

// Kind implements Node.
func (*Scan) Kind() Kind { return Events }

// Kind implements Node.
func (*Empty) Kind() Kind { return Events }

// Kind implements Node: a filter yields what it reads.
func (n *Filter) Kind() Kind { return n.In.Kind() }

// Kind implements Node.
func (*Apply) Kind() Kind { return Events }

// Kind implements Node.
func (*Map) Kind() Kind { return Events }

// Kind implements Node.
func (*AddRandom) Kind() Kind { return Events }

// Kind implements Node: a limit yields what it reads.
func (n *Limit) Kind() Kind { return n.In.Kind() }

// Input implements Node: a scan reads no node.
func (n *Scan) Input() Node { return nil }

// Input implements Node.
func (n *Empty) Input() Node { return n.Of }

// Input implements Node.
func (n *Filter) Input() Node { return n.In }

// Input implements Node.
func (n *Apply) Input() Node { return n.In }

// Input implements Node.
func (n *Map) Input() Node { return n.In }

// Input implements Node.
func (n *AddRandom) Input() Node { return n.In }

// Input implements Node.
func (n *Limit) Input() Node { return n.In }

// With implements Node: a scan has no input to replace.
func (n *Scan) With(Node) Node { return n }

// With implements Node.
func (n *Empty) With(in Node) Node {
	if s, ok := in.(*Scan); ok {
		return &Empty{s}
	}
	return n
}

// With implements Node.
func (n *Filter) With(in Node) Node { c := *n; c.In = in; return &c }

// With implements Node.
func (n *Apply) With(in Node) Node { c := *n; c.In = in; return &c }

// With implements Node.
func (n *Map) With(in Node) Node { c := *n; c.In = in; return &c }

// With implements Node.
func (n *AddRandom) With(in Node) Node { c := *n; c.In = in; return &c }

// With implements Node.
func (n *Limit) With(in Node) Node { c := *n; c.In = in; return &c }

func (n *Scan) String() string {
	s := "scan " + n.Source.String()
	if n.Want.Columns != 0 {
		s += " columns=" + n.Want.Columns.String()
	}
	if b := n.Want.Box.String(); b != "" {
		s += " box[" + b + "]"
	}
	return s
}

func (n *Empty) String() string  { return "empty" }
func (n *Filter) String() string { return "filter " + n.Pred.String() }
func (n *Apply) String() string  { return "apply " + n.Filter.String() }
func (n *Map) String() string    { return n.By.String() }
func (n *Limit) String() string  { return fmt.Sprintf("limit %d", n.N) }

func (n *AddRandom) String() string {
	s := fmt.Sprintf("add random n=%d seed=%d", n.N, n.Seed)
	if r := n.Region; r != nil {
		s += fmt.Sprintf(" region=%d,%d,%d,%d", r.X0, r.Y0, r.X1, r.Y1)
	}
	return s
}

// Pixels returns the region, or the whole sensor.
func (n *AddRandom) Pixels() (Rect, error) {
	g := Geometry(n.In)
	switch r := n.Region; {
	case r != nil && (r.X0 > r.X1 || r.Y0 > r.Y1):
		return Rect{}, fmt.Errorf("%w: %q: write the corner with the lesser x and y first", ErrInvalid, n)
	case r != nil:
		return *r, nil
	case !g.Known():
		return Rect{}, fmt.Errorf("%w: %q: the size of the sensor is not known; give it with --size WIDTHxHEIGHT, or a region", ErrInvalid, n)
	}
	return Rect{X1: uint16(min(g.Width, 1<<16) - 1), Y1: uint16(min(g.Height, 1<<16) - 1)}, nil
}

// Projection returns what the node does to each event.
func (n *Map) Projection() (exprs.Projection, error) {
	p, err := n.By.Project(Geometry(n.In))
	if err != nil {
		return p, fmt.Errorf("%v: %w", n.By, err)
	}
	return p, nil
}
