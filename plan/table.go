package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/evq-project/evq/exprs"
	"github.com/evq-project/evq/io/tensor"
	"github.com/evq-project/evq/udf"
)

// Group groups the events of each window, and of each bin after Bin, by keys, and computes aggregates of every
// group. Its rows are in the order of windows, bins and keys. Where leaves out events after they were binned.
type Group struct {
	In    Node
	Keys  []Key
	Aggs  []Agg
	Where exprs.Expr // nil keeps all
	// How groups are found, and whether events are held until their window is complete; rules choose them.
	Method GroupMethod
	Ranges []Range // with Dense grouping: the range of each key
	Stream bool    // windows do not overlap, and bins divide the windows' own time: no event is held
	// Counted says that In is the whole recording as one window, of a scan's source that counts the events in the scan's
	// box, behind filters that say no more than that box; every aggregate is their number.
	Counted bool
}

// A Key is an integer that events are grouped by, and the name of its column.
type Key = exprs.Key

// An Agg is an aggregate of a group's events, and the name of its column.
type Agg struct {
	Name string
	Func udf.Aggregate
	Args []exprs.Value
}

// A Range is a closed range of a key's values.
type Range struct{ Lo, Hi int64 }

// A GroupMethod says how groups are found.
type GroupMethod uint8

// The methods.
const (
	PlainGroups GroupMethod = iota // by a map: slow, obvious, the oracle of the others
	HashGroups                     // by hashing
	DenseGroups                    // by address
)

// String names the method.
func (m GroupMethod) String() string { return [...]string{"plain", "hash", "dense"}[m] }

// Sort orders the rows of a table.
type Sort struct {
	In Node
	By []Order
	N  int64 // only the first N rows are wanted; 0 = all
}

// An Order is a column to sort by.
type Order struct {
	Column string
	Desc   bool
}

// Cells lays blocks out as a table: one row for each element that is not zero.
type Cells struct{ In Node }

func (*Group) isNode() {}
func (*Sort) isNode()  {}
func (*Cells) isNode() {}

// Kind implements Node.
func (*Group) Kind() Kind { return Rows }

// Kind implements Node.
func (*Sort) Kind() Kind { return Rows }

// Kind implements Node.
func (*Cells) Kind() Kind { return Rows }

// Input implements Node.
func (n *Group) Input() Node { return n.In }

// Input implements Node.
func (n *Sort) Input() Node { return n.In }

// Input implements Node.
func (n *Cells) Input() Node { return n.In }

// With implements Node.
func (n *Group) With(in Node) Node { c := *n; c.In = in; return &c }

// With implements Node.
func (n *Sort) With(in Node) Node { c := *n; c.In = in; return &c }

// With implements Node.
func (n *Cells) With(in Node) Node { c := *n; c.In = in; return &c }

func (n *Group) String() string {
	var keys, aggs []string
	for _, k := range n.Keys {
		keys = append(keys, named(k.Value.String(), k.Name))
	}
	for _, a := range n.Aggs {
		aggs = append(aggs, named(a.Call(), a.Name))
	}
	s := "group"
	if len(keys) > 0 {
		s += " by " + strings.Join(keys, ", ")
	}
	s += ": " + strings.Join(aggs, ", ")
	if n.Where != nil {
		s += " where " + n.Where.String()
	}
	if n.Counted {
		return s + " (counted by the source)"
	}
	if n.Method != PlainGroups {
		s += " (" + n.Method.String()
		if n.Stream {
			s += ", as events come"
		}
		s += ")"
	} else if n.Stream {
		s += " (as events come)"
	}
	return s
}

// named prints what a column holds, and its name where that is another.
func named(what, name string) string {
	if name == what || name == "" {
		return what
	}
	return what + " as " + name
}

// Call prints the aggregate as users write it, such as mean(x); without arguments it is the bare name.
func (a Agg) Call() string { return udf.Written(a.Func, a.Args) }

func (n *Sort) String() string {
	by := make([]string, len(n.By))
	for i, o := range n.By {
		by[i] = o.Column
		if o.Desc {
			by[i] += " desc"
		}
	}
	s := "sort by " + strings.Join(by, ", ")
	if n.N > 0 {
		s += fmt.Sprintf(", the first %d", n.N)
	}
	return s
}

func (*Cells) String() string { return "cells" }

// A Field is one column of a table: integers, or floats.
type Field struct {
	Name  string
	Float bool
}

// WindowFields are the columns that say which window a row belongs to: its number, its start and end in
// microseconds, and how many events it holds.
var WindowFields = []Field{{Name: "window"}, {Name: "window_start"}, {Name: "window_end"}, {Name: "window_events"}}

// Windowed reports whether the rows of a group say which window they belong to: they do unless the whole
// recording is one.
func (n *Group) Windowed() bool {
	_, whole := windowing(n).(Whole)
	return !whole
}

// windowing returns how the events below a node are cut.
func windowing(n Node) Windowing {
	for ; n != nil; n = n.Input() {
		if w, ok := n.(*Window); ok {
			return w.By
		}
	}
	return nil
}

// Fields returns the columns of a group's rows.
func (n *Group) Fields() []Field {
	var out []Field
	if n.Windowed() {
		out = append(out, WindowFields...)
	}
	if _, ok := n.In.(*Bin); ok {
		out = append(out, Field{Name: "bin"})
	}
	for _, k := range n.Keys {
		out = append(out, Field{Name: k.Name})
	}
	for _, a := range n.Aggs {
		out = append(out, Field{Name: a.Name, Float: a.Func != nil && a.Func.Float()})
	}
	return out
}

// cellAxes are the names of a block's axes, from the last.
var cellAxes = []string{"x", "y", "channel", "bin", "axis4", "axis5"}

// Fields returns the columns of a plan that yields a table: none where it yields none.
func Fields(n Node) []Field {
	if n.Kind() != Rows {
		return nil
	}
	for ; n != nil; n = n.Input() {
		switch n := n.(type) {
		case *Group:
			return n.Fields()
		case *Select:
			return n.Fields()
		case *Cells:
			layout, err := Layout(n.In)
			if err != nil {
				return nil
			}
			out := slices.Clone(WindowFields)
			for i := range layout.Shape {
				out = append(out, Field{Name: cellAxes[min(len(layout.Shape)-1-i, len(cellAxes)-1)]})
			}
			return append(out, Field{Name: "value", Float: layout.DType == tensor.Float32})
		}
	}
	return nil
}
