package exec

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/evq-project/evq/accel"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/tensor"
	"github.com/evq-project/evq/udf"
)

// Gradual represents a whole recording as one window, as its events come: it holds none of them.
//
// What must know the first and the last time beforehand learns them from Foretold, or where that is nil from a first
// pass. What was foretold is not trusted: where the recording turns out to have other times, the pass has told them,
// and another one makes the blocks.
type Gradual struct {
	In       EventOp
	Reps     []udf.Representation // all of them udf.Gradual, which say that they are
	Geometry event.Geometry
	Device   accel.Device
	Foretold *Span
	Times    func() (EventOp, error) // the events once more, of which only times are looked at
	Again    func() (EventOp, error) // the events once more

	encoders []udf.GradualEncoder
	blocks   []tensor.Block
	made     bool
	part     int
	off      int64
	notes    []string
	err      error
}

// A Span is the time from a first event to a last, microseconds.
type Span struct{ First, Last int64 }

func (g *Gradual) String() string {
	parts := make([]string, len(g.Reps))
	for i, rep := range g.Reps {
		l := rep.Layout(g.Geometry)
		parts[i] = fmt.Sprintf("%v, %v %v", rep, l.Shape, l.DType)
	}
	s := fmt.Sprintf("represent %s, on cpu, the whole recording as events come", strings.Join(parts, "; "))
	if g.foretold() && g.Foretold == nil {
		s += ", in two passes: first and last time, then events"
	}
	return s
}

// Input implements Operator.
func (g *Gradual) Input() Operator { return g.In }

// Close implements Operator.
func (g *Gradual) Close() error {
	g.dismiss()
	return g.In.Close()
}

// Peak returns the bytes of the blocks.
func (g *Gradual) Peak() (n int64) {
	for _, rep := range g.Reps {
		n += int64(rep.Layout(g.Geometry).Bytes())
	}
	return n
}

// OffSensor returns how many events were left out because they lay off the sensor.
func (g *Gradual) OffSensor() int64 { return g.off }

// Notes returns what the encoders had to tell.
func (g *Gradual) Notes() []string { return slices.Clone(g.notes) }

// foretold reports whether an encoder must know the times beforehand.
func (g *Gradual) foretold() bool {
	return slices.ContainsFunc(g.Reps, func(r udf.Representation) bool {
		_, foretold := r.(udf.Gradual).Gradual()
		return foretold
	})
}

// Next returns the block of the next representation.
func (g *Gradual) Next(ctx context.Context) (tensor.Block, error) {
	if !g.made && g.err == nil {
		g.made = true
		g.err = g.make(ctx)
	}
	if g.err == nil && g.part == len(g.blocks) {
		g.err = io.EOF
	}
	if g.err != nil {
		return tensor.Block{}, g.err
	}
	g.part++
	return g.blocks[g.part-1], nil
}

// make makes the blocks, in one pass or two.
func (g *Gradual) make(ctx context.Context) error {
	span, must := Span{}, g.foretold()
	if must && g.Foretold == nil {
		seen, err := g.look(ctx)
		if err != nil {
			return err
		}
		span = seen.Span
	} else if must {
		span = *g.Foretold
	}
	seen, err := g.pass(ctx, g.In, span, must)
	if err == nil && must && seen.events > 0 && seen.Span != span {
		op, e := g.Again()
		if e != nil {
			return e
		}
		span = seen.Span
		if seen, err = g.pass(ctx, op, span, true); err == nil && seen.Span != span {
			err = fmt.Errorf("the recording ran from %d to %d µs, and when it was read once more from %d to %d µs; let nobody change it meanwhile",
				span.First, span.Last, seen.First, seen.Last)
		}
		err = errors.Join(err, op.Close())
	}
	if err != nil {
		return err
	}
	return g.finish(seen)
}

// look reads the recording for its times.
func (g *Gradual) look(ctx context.Context) (s sight, err error) {
	op, err := g.Times()
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, op.Close()) }()
	return s, s.each(ctx, op, func(event.Batch) error { return nil })
}

// pass begins the window anew and hands all events to the encoders, as long as its times may be those of span where
// they must.
func (g *Gradual) pass(ctx context.Context, op EventOp, span Span, must bool) (s sight, err error) {
	if err := g.begin(span); err != nil {
		return s, err
	}
	return s, s.each(ctx, op, func(b event.Batch) error {
		if must && (s.First != span.First || s.Last > span.Last) {
			return nil // another pass will make the blocks
		}
		for _, e := range g.encoders {
			if err := e.Add(ctx, b); err != nil {
				return fmt.Errorf("window 0: %w", err)
			}
		}
		return nil
	})
}

// begin opens new encoders: those of another pass have counted what they left out.
func (g *Gradual) begin(span Span) error {
	g.dismiss()
	w := event.Window{Start: span.First, End: span.Last}
	for i, rep := range g.Reps {
		e, err := rep.Open(g.Geometry, g.Device)
		if err != nil {
			return err
		}
		gradual, ok := e.(udf.GradualEncoder)
		if !ok {
			return errors.Join(fmt.Errorf("%v does not take in windows in parts, though it says so; leave out the rule stream_whole", rep), e.Close())
		}
		g.encoders = append(g.encoders, gradual)
		if len(g.blocks) == i {
			l := rep.Layout(g.Geometry)
			g.blocks = append(g.blocks, tensor.Block{Part: i, Shape: l.Shape, DType: l.DType, Data: make([]byte, l.Bytes())})
		}
		if err := gradual.Begin(w, span.First, span.Last, g.blocks[i].Data); err != nil {
			return err
		}
	}
	return nil
}

// finish completes the blocks. Representations of one query see the same events, so that the one that left out most
// tells how many.
func (g *Gradual) finish(s sight) error {
	w := event.Window{Start: s.First, End: s.Last, Hi: int(s.events)}
	for i, e := range g.encoders {
		if err := e.Finish(w); err != nil {
			return fmt.Errorf("window 0: %w", err)
		}
		b := &g.blocks[i]
		b.Start, b.End, b.Events = s.First, s.Last, s.events
		blank, ok := g.Reps[i].(udf.Blanker)
		b.Zero = s.events == 0 && ok && blank.Blank()
		g.off = max(g.off, e.OffSensor())
		if n, ok := e.(udf.Noter); ok {
			for _, note := range n.Notes() {
				if !slices.Contains(g.notes, note) {
					g.notes = append(g.notes, note)
				}
			}
		}
	}
	g.dismiss()
	return nil
}

// dismiss closes the encoders.
func (g *Gradual) dismiss() {
	for _, e := range g.encoders {
		_ = e.Close()
	}
	g.encoders = nil
}

// A sight is what a pass has seen.
type sight struct {
	Span
	events int64
}

// each calls do with every batch of op, and releases it.
func (s *sight) each(ctx context.Context, op EventOp, do func(event.Batch) error) error {
	for {
		b, err := op.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if n := b.Len(); n > 0 {
			if s.events == 0 {
				s.First = b.T()[0]
			}
			s.Last = b.T()[n-1]
			s.events += int64(n)
			err = do(b)
		}
		b.Release()
		if err != nil {
			return err
		}
	}
}
