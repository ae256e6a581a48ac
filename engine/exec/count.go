package exec

import (
	"context"
	"fmt"
	"io"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/udf"
)

// Count yields one group without keys: the number of a source's events in a box, which the source counts itself.
type Count struct {
	Source event.CountingSource
	Want   event.Request
	Aggs   int // how many aggregates there are, each that number

	counted event.Counted
	done    bool
}

func (c *Count) String() string {
	s := "count by " + c.Source.String()
	if b := c.Want.Box.String(); b != "" {
		s += " box[" + b + "]"
	}
	return s
}

// Input implements Operator: the source counts, and no operator is read.
func (c *Count) Input() Operator { return nil }

// Close implements Operator.
func (c *Count) Close() error { return nil }

// Next returns the one group.
func (c *Count) Next(ctx context.Context) (Groups, error) {
	if c.done {
		return Groups{}, io.EOF
	}
	var err error
	if c.counted, err = c.Source.Count(ctx, c.Want); err != nil {
		return Groups{}, fmt.Errorf("%v: %w", c.Source, err)
	}
	c.done = true
	out := Groups{N: 1, Values: make([]udf.Column, c.Aggs)}
	for i := range out.Values {
		out.Values[i] = udf.Column{Ints: []int64{c.counted.Events}}
	}
	return out, nil
}

// Report returns what the source met. It is complete after Next returned.
func (c *Count) Report() *event.Report {
	if c.counted.Report == nil {
		return &event.Report{}
	}
	return c.counted.Report
}

// Skipped says of how much nothing was decoded; "" where the source does not tell.
func (c *Count) Skipped() string {
	if c.counted.Parts == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d row groups skipped", c.counted.Parts-c.counted.Read, c.counted.Parts)
}
