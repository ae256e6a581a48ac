// Package exec holds the running steps of a query, one operator per file.
//
// An operator pulls from the one below it. Operators know events, blocks and devices; they refuse to know
// plans, files and SQL.
package exec

import (
	"context"
	"fmt"
	"strings"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/tensor"
)

// An Operator is one running step. String names it in EXPLAIN and says how it works; Close stops it, and
// those below it, and waits for their goroutines.
type Operator interface {
	fmt.Stringer
	Input() Operator
	Close() error
}

// An Op is an operator that yields values of one type, io.EOF after the last.
type Op[T any] interface {
	Operator
	Next(ctx context.Context) (T, error)
}

// An EventOp yields batches of events in time order; the reader may Release them.
type EventOp = Op[event.Batch]

// A WindowOp yields runs of complete windows; the reader may Release their events. A run may be without
// windows, and then tells nothing.
type WindowOp = Op[event.Windowed]

// A GroupOp yields the groups of one window after another.
type GroupOp = Op[Groups]

// A BlockOp yields one dense block per window, in order; the reader may Release them.
type BlockOp = Op[tensor.Block]

// Format prints the operators, the result first.
func Format(op Operator) string {
	var b strings.Builder
	for depth := 0; op != nil; op, depth = op.Input(), depth+1 {
		fmt.Fprintf(&b, "%s%s\n", strings.Repeat("  ", depth), op)
	}
	return b.String()
}
