package sql

import (
	"context"
	"fmt"
	"runtime/debug"
)

// A pump lets what the engine pushes be pulled: DuckDB asks for rows when it wants some, while a query of the engine
// calls a function with each of its results. At most one result is on its way.
type pump[T any] struct {
	results chan T
	ack     chan struct{}
	done    chan struct{} // closed when the query has ended
	err     error         // why; to be read after done
	cancel  context.CancelFunc
	waiting bool // the engine waits for the last result to be let go
}

// newPump starts a query. run calls yield with each result, which stays valid until yield returns.
func newPump[T any](ctx context.Context, run func(ctx context.Context, yield func(T) error) error) *pump[T] {
	ctx, cancel := context.WithCancel(ctx)
	p := &pump[T]{results: make(chan T), ack: make(chan struct{}), done: make(chan struct{}), cancel: cancel}
	go func() {
		defer close(p.done)
		defer func() {
			if r := recover(); r != nil {
				p.err = fmt.Errorf("%v (a defect of a function, not of the query)\n%s", r, debug.Stack())
			}
		}()
		p.err = run(ctx, func(v T) error {
			select {
			case p.results <- v:
			case <-ctx.Done():
				return ctx.Err()
			}
			select {
			case <-p.ack:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	}()
	return p
}

// next lets the last result go and returns the next one; ok is false after the last.
func (p *pump[T]) next() (v T, ok bool, err error) {
	if p.waiting {
		p.waiting = false
		select {
		case p.ack <- struct{}{}:
		case <-p.done:
		}
	}
	select {
	case v = <-p.results:
		p.waiting = true
		return v, true, nil
	case <-p.done:
		return v, false, p.err
	}
}

// Close ends the query and waits for it.
func (p *pump[T]) Close() error {
	p.cancel()
	<-p.done
	return nil
}
