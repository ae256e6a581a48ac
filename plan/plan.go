// Package plan describes what a query wants, as a chain of nodes. It never says how.
package plan

import (
	"errors"
	"fmt"
	"strings"

	"github.com/evq-project/evq/accel"
	"github.com/evq-project/evq/exprs"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/udf"
)

// A Kind is what a node yields.
type Kind int

// The kinds, in the order in which a query passes through them.
const (
	Events  Kind = iota // events in time order
	Windows             // windows of events
	Rows                // rows of a table
	Blocks              // dense blocks, one per window
)

// String names the kind as messages do.
func (k Kind) String() string { return [...]string{"events", "windows", "table", "blocks"}[k] }

// A Node is one step of a query. Nodes are immutable, and their set is closed.
type Node interface {
	// String describes the node alone, on one line.
	fmt.Stringer
	Kind() Kind
	// Input returns the node it reads, or nil for a scan.
	Input() Node
	// With returns a copy that reads in.
	With(in Node) Node
	isNode()
}

// Scan reads the events of a source, leaving out what Want allows.
type Scan struct {
	Source event.Source
	Want   event.Request // Columns and Box only
}

// Filter keeps the events that satisfy a predicate.
type Filter struct {
	In   Node
	Pred exprs.Expr
}

// Limit keeps the first N events, windows, rows or blocks.
type Limit struct {
	In Node
	N  int64
}

// Window cuts the events into windows.
type Window struct {
	In Node
	By Windowing
}

// Bin numbers the events of each window by time, from 0 to Bins-1.
type Bin struct {
	In       Node
	Bins     int
	Rounding accel.Rounding
	Base     TimeBase
}

// A TimeBase says what the bins of a window divide.
type TimeBase uint8

// The time bases.
const (
	EventTime  TimeBase = iota // the time from the window's first event to its last
	WindowTime                 // the time from the window's start to its end
)

// String returns the word users type.
func (b TimeBase) String() string { return [...]string{"events", "window"}[b] }

// Group counts the events of each window, and of each bin after Bin, by keys. Where leaves out events after
// they were binned.
type Group struct {
	In    Node
	Keys  []exprs.Value
	Where exprs.Expr // nil keeps all
}

// Dense lays grouped counts out as one block per window, shaped (2*bins, rows, columns).
type Dense struct {
	In     Node
	Cutoff int  // the largest count kept, 1..255
	Wrap   bool // counts wrap at 256 before Cutoff; otherwise they saturate
}

// Represent encodes each window with a representation.
type Represent struct {
	In  Node
	Rep udf.Representation
}

func (*Scan) isNode()      {}
func (*Filter) isNode()    {}
func (*Limit) isNode()     {}
func (*Window) isNode()    {}
func (*Bin) isNode()       {}
func (*Group) isNode()     {}
func (*Dense) isNode()     {}
func (*Represent) isNode() {}

// Kind implements Node.
func (*Scan) Kind() Kind { return Events }

// Kind implements Node.
func (*Filter) Kind() Kind { return Events }

// Kind implements Node: a limit yields what it reads.
func (n *Limit) Kind() Kind { return n.In.Kind() }

// Kind implements Node.
func (*Window) Kind() Kind { return Windows }

// Kind implements Node.
func (*Bin) Kind() Kind { return Windows }

// Kind implements Node.
func (*Group) Kind() Kind { return Rows }

// Kind implements Node.
func (*Dense) Kind() Kind { return Blocks }

// Kind implements Node.
func (*Represent) Kind() Kind { return Blocks }

// Input implements Node: a scan reads no node.
func (n *Scan) Input() Node { return nil }

// Input implements Node.
func (n *Filter) Input() Node { return n.In }

// Input implements Node.
func (n *Limit) Input() Node { return n.In }

// Input implements Node.
func (n *Window) Input() Node { return n.In }

// Input implements Node.
func (n *Bin) Input() Node { return n.In }

// Input implements Node.
func (n *Group) Input() Node { return n.In }

// Input implements Node.
func (n *Dense) Input() Node { return n.In }

// Input implements Node.
func (n *Represent) Input() Node { return n.In }

// With implements Node: a scan has no input to replace.
func (n *Scan) With(Node) Node { return n }

// With implements Node.
func (n *Filter) With(in Node) Node { c := *n; c.In = in; return &c }

// With implements Node.
func (n *Limit) With(in Node) Node { c := *n; c.In = in; return &c }

// With implements Node.
func (n *Window) With(in Node) Node { c := *n; c.In = in; return &c }

// With implements Node.
func (n *Bin) With(in Node) Node { c := *n; c.In = in; return &c }

// With implements Node.
func (n *Group) With(in Node) Node { c := *n; c.In = in; return &c }

// With implements Node.
func (n *Dense) With(in Node) Node { c := *n; c.In = in; return &c }

// With implements Node.
func (n *Represent) With(in Node) Node { c := *n; c.In = in; return &c }

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

func (n *Filter) String() string { return "filter " + n.Pred.String() }
func (n *Limit) String() string  { return fmt.Sprintf("limit %d", n.N) }
func (n *Window) String() string { return "window " + n.By.String() }

func (n *Bin) String() string {
	s := fmt.Sprintf("bin %d", n.Bins)
	if n.Rounding != accel.Torch32 {
		s += " rounding=" + n.Rounding.String()
	}
	if n.Base != EventTime {
		s += " timebase=" + n.Base.String()
	}
	return s
}

func (n *Group) String() string {
	keys := make([]string, len(n.Keys))
	for i, k := range n.Keys {
		keys[i] = k.String()
	}
	s := "group by " + strings.Join(keys, ", ") + ": count"
	if n.Where != nil {
		s += " where " + n.Where.String()
	}
	return s
}

func (n *Dense) String() string {
	s := fmt.Sprintf("dense cutoff=%d", n.Cutoff)
	if n.Wrap {
		s += " overflow=wrap"
	}
	return s
}

func (n *Represent) String() string { return "represent " + n.Rep.String() }

// Format prints the chain, the result first, each input indented below its reader.
func Format(n Node) string {
	var b strings.Builder
	for depth := 0; n != nil; n, depth = n.Input(), depth+1 {
		fmt.Fprintf(&b, "%s%s\n", strings.Repeat("  ", depth), n)
	}
	return b.String()
}

// Source returns the scan at the bottom of a plan.
func Source(n Node) *Scan {
	for n.Input() != nil {
		n = n.Input()
	}
	return n.(*Scan)
}

// ErrInvalid reports a plan that asks for something that has no meaning.
var ErrInvalid = errors.New("invalid query")
