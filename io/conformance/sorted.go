package conformance

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/order"
)

// A key is the pixel and the polarity of an event: keys compare as x, y, p do.
type key = int64

// largestKey is greater than any key: 16 bits of x, 16 of y and one of p.
const largestKey key = 1 << 33

func keyOf(x, y uint16, p int8) key { return int64(x)<<17 | int64(y)<<1 | int64(p&1) }

// bufferSize is how many events the buffers made here hold.
const bufferSize = 1 << 14

// sortedDigest digests src in the order of t, x, y, p. step is the largest step back in time of src.
func sortedDigest(ctx context.Context, src event.Source, step int64, o Options) (sum string, err error) {
	learned := &order.Learned{}
	learned.Set(step)
	in, err := order.Apply(ctx, opener(src, o), o.order(learned), &event.Report{})
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	s := &sorting{Options: o, events: cursor{in: in}, hash: newHasher()}
	for {
		more, err := s.events.fill(ctx)
		switch {
		case err != nil:
			return "", err
		case !more:
			return s.hash.sum(), nil
		}
		if err := s.tie(ctx); err != nil {
			return "", err
		}
	}
}

// A sorting digests events in time order, those of one time in the order of their keys.
type sorting struct {
	Options
	events cursor
	hash   *hasher
	keys   []key // of one time, reused
}

// tie digests the next event and all others of its time. As many as fit are sorted in memory; more go the way that
// unsorted recordings go, with keys for times.
func (s *sorting) tie(ctx context.Context) error {
	t := s.events.time()
	var err error
	if s.keys, err = s.events.take(ctx, t, s.keys[:0], s.ties()); err != nil {
		return err
	}
	if len(s.keys) == s.ties() {
		return s.longTie(ctx, t)
	}
	slices.Sort(s.keys)
	s.add(t, s.keys)
	return nil
}

func (s *sorting) add(t int64, keys []key) {
	for _, k := range keys {
		s.hash.add(t, uint16(k>>17), uint16(k>>1), int8(k&1))
	}
}

func (s *sorting) longTie(ctx context.Context, t int64) (err error) {
	learned := &order.Learned{}
	learned.Set(largestKey)
	open := func(context.Context, bool) (order.Input, error) {
		return &tieInput{sorting: s, t: t, pool: event.NewPool(bufferSize)}, nil
	}
	in, err := order.Apply(ctx, open, s.order(learned), &event.Report{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	for {
		b, err := in.Next(ctx)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		s.add(t, b.T)
		b.Release()
	}
}

// A tieInput yields the events of one time, with their keys for times.
type tieInput struct {
	*sorting
	t    int64
	pool *event.Pool
}

func (s *tieInput) Next(ctx context.Context) (*event.Buffer, error) {
	var err error
	if len(s.keys) == 0 {
		if s.keys, err = s.events.take(ctx, s.t, s.keys, bufferSize); err != nil {
			return nil, err
		}
	}
	if len(s.keys) == 0 {
		return nil, io.EOF
	}
	b := s.pool.Get()
	n := min(len(s.keys), bufferSize)
	for _, k := range s.keys[len(s.keys)-n:] {
		b.Append(k, 0, 0, 0)
	}
	s.keys = s.keys[:len(s.keys)-n]
	return b, nil
}

func (s *tieInput) Close() error { return nil }

// A cursor walks through ordered events.
type cursor struct {
	in order.Input
	b  *event.Buffer
	at int
}

// fill makes an event available; false at the end.
func (c *cursor) fill(ctx context.Context) (bool, error) {
	for c.b == nil || c.at == c.b.Len() {
		if c.b != nil {
			c.b.Release()
		}
		var err error
		if c.b, err = c.in.Next(ctx); err != nil {
			c.b = nil
			if errors.Is(err, io.EOF) {
				return false, nil
			}
			return false, err
		}
		c.at = 0
	}
	return true, nil
}

func (c *cursor) time() int64 { return c.b.T[c.at] }

// take appends the keys of the events that follow at time t, until there are limit.
func (c *cursor) take(ctx context.Context, t int64, keys []key, limit int) ([]key, error) {
	for len(keys) < limit {
		more, err := c.fill(ctx)
		if err != nil || !more {
			return keys, err
		}
		b := c.b
		for ; c.at < b.Len() && b.T[c.at] == t && len(keys) < limit; c.at++ {
			keys = append(keys, keyOf(b.X[c.at], b.Y[c.at], b.P[c.at]))
		}
		if c.at < b.Len() {
			break
		}
	}
	return keys, nil
}

// opener starts to read src as the input of an order.
func opener(src event.Source, o Options) func(context.Context, bool) (order.Input, error) {
	return func(ctx context.Context, _ bool) (order.Input, error) {
		want := event.All
		want.Threads = o.Threads
		st, err := src.Scan(ctx, want)
		if err != nil {
			return nil, err
		}
		return &input{st, event.NewPool(bufferSize)}, nil
	}
}

// An input hands on the batches of a stream as buffers.
type input struct {
	event.Stream
	pool *event.Pool
}

func (s *input) Next(ctx context.Context) (*event.Buffer, error) {
	for {
		batch, err := s.Stream.Next(ctx)
		if err != nil {
			return nil, err
		}
		b := s.pool.Get()
		b.AppendBatch(batch)
		batch.Release()
		if b.Len() > 0 {
			return b, nil
		}
		b.Release()
	}
}
