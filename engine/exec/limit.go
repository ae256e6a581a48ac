package exec

import (
	"context"
	"fmt"
	"io"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/tensor"
)

// A Limit yields the first N of what In yields: events, windows, blocks or rows.
type Limit[T any] struct {
	In Op[T]
	N  int64

	size func(T) int        // how many there are in one value
	head func(v T, n int) T // the first n of them
	done int64
}

// LimitEvents yields the first n events.
func LimitEvents(in EventOp, n int64) EventOp {
	return &Limit[event.Batch]{In: in, N: n, size: event.Batch.Len, head: func(b event.Batch, n int) event.Batch { return b.Slice(0, n) }}
}

// LimitBlocks yields the first n blocks.
func LimitBlocks(in BlockOp, n int64) BlockOp {
	return &Limit[tensor.Block]{In: in, N: n, size: func(tensor.Block) int { return 1 }}
}

// LimitWindows yields the first n windows.
func LimitWindows(in WindowOp, n int64) WindowOp {
	return &Limit[event.Windowed]{In: in, N: n, size: func(w event.Windowed) int { return len(w.Windows) },
		head: func(w event.Windowed, n int) event.Windowed { w.Windows = w.Windows[:n]; return w }}
}

// LimitRows yields the first n rows of a table.
func LimitRows(in RowOp, n int64) RowOp {
	return &limitRows{Limit[Rows]{In: in, N: n, size: func(r Rows) int { return r.N }, head: func(r Rows, n int) Rows { return r.Slice(0, n) }}, in.Fields()}
}

type limitRows struct {
	Limit[Rows]
	fields []Field
}

// Fields implements RowOp.
func (l *limitRows) Fields() []Field { return l.fields }

func (l *Limit[T]) String() string { return fmt.Sprintf("limit %d", l.N) }

// Input implements Operator.
func (l *Limit[T]) Input() Operator { return l.In }

// Close implements Operator.
func (l *Limit[T]) Close() error { return l.In.Close() }

// Next returns the next value, cut where the limit is reached.
func (l *Limit[T]) Next(ctx context.Context) (v T, err error) {
	left := l.N - l.done
	if left <= 0 {
		return v, io.EOF
	}
	if v, err = l.In.Next(ctx); err != nil {
		return v, err
	}
	if int64(l.size(v)) > left {
		v = l.head(v, int(left))
	}
	l.done += int64(l.size(v))
	return v, nil
}
