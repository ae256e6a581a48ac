package exec

import (
	"context"
	"io"

	"github.com/evq-project/evq/io/event"
)

// Empty yields no event.
type Empty struct{}

func (Empty) String() string { return "empty: nothing is read" }

// Input implements Operator.
func (Empty) Input() Operator { return nil }

// Close implements Operator.
func (Empty) Close() error { return nil }

// Next returns io.EOF.
func (Empty) Next(context.Context) (event.Batch, error) { return event.Batch{}, io.EOF }
