package plan

import (
	"fmt"
	"strings"

	"github.com/evq-project/evq/accel"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/tensor"
	"github.com/evq-project/evq/udf"
)

// Window cuts the events into windows.
type Window struct {
	In Node
	By Windowing
}

// Bin numbers the events of each window by time: from 0 to Bins-1, or one bin for every Width of time from the
// window's start.
type Bin struct {
	In       Node
	Bins     int
	Width    int64 // microseconds; 0 where Bins says how many there are
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

// Dense lays grouped counts out as one block per window, shaped (2*bins, rows, columns).
type Dense struct {
	In     Node
	Cutoff int  // the largest count kept, 1..255
	Wrap   bool // counts wrap at 256 before Cutoff; otherwise they saturate
}

// Represent encodes each window with one or more representations: a window yields as many blocks, in their order.
type Represent struct {
	In     Node
	Reps   []udf.Representation
	Stream bool // the representations are gradual, and In is the whole recording as one window: no event is held
}

func (*Window) isNode()    {}
func (*Bin) isNode()       {}
func (*Dense) isNode()     {}
func (*Represent) isNode() {}

// Kind implements Node.
func (*Window) Kind() Kind { return Windows }

// Kind implements Node.
func (*Bin) Kind() Kind { return Windows }

// Kind implements Node.
func (*Dense) Kind() Kind { return Blocks }

// Kind implements Node.
func (*Represent) Kind() Kind { return Blocks }

// Input implements Node.
func (n *Window) Input() Node { return n.In }

// Input implements Node.
func (n *Bin) Input() Node { return n.In }

// Input implements Node.
func (n *Dense) Input() Node { return n.In }

// Input implements Node.
func (n *Represent) Input() Node { return n.In }

// With implements Node.
func (n *Window) With(in Node) Node { c := *n; c.In = in; return &c }

// With implements Node.
func (n *Bin) With(in Node) Node { c := *n; c.In = in; return &c }

// With implements Node.
func (n *Dense) With(in Node) Node { c := *n; c.In = in; return &c }

// With implements Node.
func (n *Represent) With(in Node) Node { c := *n; c.In = in; return &c }

func (n *Window) String() string { return "window " + n.By.String() }

func (n *Bin) String() string {
	if n.Width > 0 {
		return fmt.Sprintf("bin width=%v", micros(n.Width))
	}
	s := fmt.Sprintf("bin %d", n.Bins)
	if n.Rounding != accel.Torch32 {
		s += " rounding=" + n.Rounding.String()
	}
	if n.Base != EventTime {
		s += " timebase=" + n.Base.String()
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

func (n *Represent) String() string {
	reps := make([]string, len(n.Reps))
	for i, r := range n.Reps {
		reps[i] = r.String()
	}
	s := "represent " + strings.Join(reps, ", ")
	if n.Stream {
		s += " (as events come)"
	}
	return s
}

// Layouts returns what the blocks of a plan look like, one layout for each block that a window yields.
func Layouts(n Node) ([]tensor.Layout, error) {
	for {
		limit, ok := n.(*Limit)
		if !ok {
			break
		}
		n = limit.In
	}
	g := Geometry(n)
	switch n := n.(type) {
	case *Represent:
		out := make([]tensor.Layout, len(n.Reps))
		for i, r := range n.Reps {
			out[i] = r.Layout(g)
		}
		return out, nil
	case *Dense:
		l, err := n.Layout(g)
		return []tensor.Layout{l}, err
	}
	return nil, fmt.Errorf("%w: %q yields no blocks", ErrInvalid, n)
}

// Layout returns what the only block of each window looks like; several are an error.
func Layout(n Node) (tensor.Layout, error) {
	all, err := Layouts(n)
	if err == nil && len(all) > 1 {
		err = fmt.Errorf("%w: %d representations where one is possible", ErrInvalid, len(all))
	}
	if err != nil {
		return tensor.Layout{}, err
	}
	return all[0], nil
}

// Layout is that of the stacked histogram which grouped counts make.
func (n *Dense) Layout(g event.Geometry) (tensor.Layout, error) {
	of, err := n.Grouping()
	if err != nil {
		return tensor.Layout{}, err
	}
	return tensor.Layout{
		Name:  "stacked_histogram",
		Shape: tensor.Shape{2 * of.Bin.Bins, g.Height / of.Downsample, g.Width / of.Downsample},
		DType: tensor.Uint8,
	}, nil
}
