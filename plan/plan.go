// Package plan describes what a query wants, as a chain of nodes. It never says how.
package plan

import (
	"errors"
	"fmt"
	"strings"

	"github.com/evq-project/evq/io/event"
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

// Geometry returns the size of the sensor that the events of a plan lie on, zero where it is not known.
func Geometry(n Node) event.Geometry {
	for ; n != nil; n = n.Input() {
		switch n := n.(type) {
		case *Scan:
			return n.Source.Geometry()
		case *Map:
			p, err := n.Projection()
			if err != nil {
				return event.Geometry{} // Validate says why
			}
			return p.Geometry
		}
	}
	return event.Geometry{}
}

// ErrInvalid reports a plan that asks for something that has no meaning.
var ErrInvalid = errors.New("invalid query")
