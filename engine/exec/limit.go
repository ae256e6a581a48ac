package exec

import (
	"context"
	"fmt"
	"io"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/tensor"
)

// LimitEvents yields the first N events.
type LimitEvents struct {
	In EventOp
	N  int64

	done int64
}

func (l *LimitEvents) String() string { return fmt.Sprintf("limit %d", l.N) }

// Input implements Operator.
func (l *LimitEvents) Input() Operator { return l.In }

// Close implements Operator.
func (l *LimitEvents) Close() error { return l.In.Close() }

// Next returns the next batch, cut where the limit is reached.
func (l *LimitEvents) Next(ctx context.Context) (event.Batch, error) {
	if l.done >= l.N {
		return event.Batch{}, io.EOF
	}
	b, err := l.In.Next(ctx)
	if err != nil {
		return event.Batch{}, err
	}
	if left := l.N - l.done; int64(b.Len()) > left {
		b = b.Slice(0, int(left))
	}
	l.done += int64(b.Len())
	return b, nil
}

// LimitBlocks yields the first N blocks.
type LimitBlocks struct {
	In BlockOp
	N  int64

	done int64
}

func (l *LimitBlocks) String() string { return fmt.Sprintf("limit %d", l.N) }

// Input implements Operator.
func (l *LimitBlocks) Input() Operator { return l.In }

// Close implements Operator.
func (l *LimitBlocks) Close() error { return l.In.Close() }

// Next returns the next block while the limit allows.
func (l *LimitBlocks) Next(ctx context.Context) (tensor.Block, error) {
	if l.done >= l.N {
		return tensor.Block{}, io.EOF
	}
	l.done++
	return l.In.Next(ctx)
}

// LimitRows yields the first N rows of a table.
type LimitRows struct {
	In TableOp
	N  int64

	done int64
}

func (l *LimitRows) String() string { return fmt.Sprintf("limit %d", l.N) }

// Input implements Operator.
func (l *LimitRows) Input() Operator { return l.In }

// Close implements Operator.
func (l *LimitRows) Close() error { return l.In.Close() }

// Next returns the next window's groups, cut where the limit is reached.
func (l *LimitRows) Next(ctx context.Context) (Groups, error) {
	if l.done >= l.N {
		return Groups{}, io.EOF
	}
	g, err := l.In.Next(ctx)
	if err != nil {
		return Groups{}, err
	}
	if left := l.N - l.done; int64(len(g.Counts)) > left {
		g = g.head(int(left))
	}
	l.done += int64(len(g.Counts))
	return g, nil
}
