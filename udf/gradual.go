package udf

import (
	"context"
	"fmt"

	"github.com/evq-project/evq/io/event"
)

// A Gradual is a representation that may take in a window in parts, so that nobody need hold all of its events.
type Gradual interface {
	Representation
	// Gradual reports whether its encoders are GradualEncoders, and whether those must be told the times of a window
	// before its first event.
	Gradual() (ok, foretold bool)
}

// A GradualEncoder encodes a window in parts. The block has the bytes that Encode gives it, however the events are cut.
type GradualEncoder interface {
	Encoder
	// Begin starts a window whose block will be in data, which holds stale values and is the encoder's until Finish.
	// It forgets a window that was begun and not finished. Where times must be foretold, w holds the limits of the
	// window, and first and last are the times of its first and last event.
	Begin(w event.Window, first, last int64, data []byte) error
	// Add takes in the next events of the window, in time order.
	Add(ctx context.Context, b event.Batch) error
	// Finish completes the block. w is the window as it turned out to be: from Lo = 0 on, it holds Hi events.
	Finish(w event.Window) error
}

// Pieces is the frame of a GradualEncoder, as Blocks is that of an Encoder: it checks what Each checks, and words
// errors as Each does.
type Pieces struct {
	Blocks
	index int
	taken int64
}

// Start checks a window and its block.
func (p *Pieces) Start(w event.Window, data []byte) error {
	if p.index, p.taken = w.Index, 0; len(data) != p.Size {
		return fmt.Errorf("%s: window %d has a block of %d bytes, not %d", p.Name, w.Index, len(data), p.Size)
	}
	return nil
}

// Take calls do with the columns of a batch.
func (p *Pieces) Take(ctx context.Context, b event.Batch, do func(Events) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	ev, err := p.Events(b)
	if err != nil {
		return err
	}
	if p.taken += int64(b.Len()); p.taken > MaxWindow {
		return fmt.Errorf("%s: window %d holds more than 2^31-1 events; use shorter windows", p.Name, p.index)
	}
	if err := do(ev); err != nil {
		return fmt.Errorf("%s: window %d: %w", p.Name, p.index, err)
	}
	return nil
}
