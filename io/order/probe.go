package order

import (
	"context"
	"errors"
	"io"
)

// probe reads the times of a recording and returns its largest step back. An error of the input ends it
// without being one: the scan that follows meets it where it is.
func probe(ctx context.Context, open func(ctx context.Context, probe bool) (Input, error), learned *Learned) (int64, error) {
	in, err := open(ctx, true)
	if err != nil {
		return 0, err
	}
	step, err := exhaust(ctx, in, &clock{})
	_ = in.Close() // the scan that follows reports what matters
	if errors.Is(err, io.EOF) {
		learned.Set(step)
		return step, nil
	}
	return step, ctx.Err()
}

// exhaust reads the rest of an input for its largest step back.
func exhaust(ctx context.Context, in Input, c *clock) (step int64, err error) {
	for {
		if err := ctx.Err(); err != nil {
			return step, err
		}
		b, err := in.Next(ctx)
		if err != nil {
			return step, err
		}
		step = max(step, c.see(b.T).step)
		b.Release()
	}
}
