package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/evq-project/evq/engine/exec"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/tensor"

	"github.com/apache/arrow-go/v18/arrow"
)

// Analyze runs the query and returns, for each operator, how many rows it yielded (events, windows, blocks or rows of
// a table) in how many runs, how long its reader waited for it, and the most bytes it held.
func (f Frame) Analyze(ctx context.Context, opts ...Option) (string, error) {
	return analyze(opts, func(opts []Option) error {
		return f.Each(ctx, func(event.Batch) error { return nil }, opts...)
	})
}

// Analyze runs the query and returns what each operator did, as that of Frame.
func (q Tensors) Analyze(ctx context.Context, opts ...Option) (string, error) {
	return analyze(opts, func(opts []Option) error {
		return q.Each(ctx, func(tensor.Block) error { return nil }, opts...)
	})
}

// Analyze runs the query and returns what each operator did, as that of Frame.
func (q Table) Analyze(ctx context.Context, opts ...Option) (string, error) {
	return analyze(opts, func(opts []Option) error {
		return q.Each(ctx, func(arrow.RecordBatch) error { return nil }, opts...)
	})
}

func analyze(opts []Option, run func([]Option) error) (string, error) {
	var m measured
	start := time.Now()
	if err := run(append(slices.Clip(opts), func(s *settings) { s.measure = &m })); err != nil {
		return "", err
	}
	return m.text(time.Since(start)), nil
}

// measured is what an analysed run leaves behind, from the scan to the result.
type measured struct {
	meters  []exec.Meter
	skipped string
}

func (m measured) text(elapsed time.Duration) string {
	var b strings.Builder
	fmt.Fprintf(&b, "analysed, in %v\n", elapsed.Round(time.Millisecond))
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "  rows\truns\twaited\tself\tpeak\toperator")
	for i := len(m.meters) - 1; i >= 0; i-- {
		e := m.meters[i]
		self := e.Time
		if i > 0 {
			self = max(0, e.Time-m.meters[i-1].Time) // what is below works on this one's time, or beside it
		}
		peak := "-"
		if e.Peak > 0 {
			peak = fmt.Sprintf("%.1f MiB", float64(e.Peak)/(1<<20))
		}
		op := e.Op.String()
		if i == 0 && m.skipped != "" {
			op += ", " + m.skipped
		}
		fmt.Fprintf(t, "  %d\t%d\t%v\t%v\t%s\t%s\n", e.Rows, e.Values, e.Time.Round(10*time.Microsecond), self.Round(10*time.Microsecond), peak, op)
	}
	_ = t.Flush() // into memory
	return b.String()
}
