package format

import (
	"context"

	"github.com/evq-project/evq/io/event"
)

// A Decoder turns the bytes of one recording into events, in file order and as they are stored. The policies
// come after it. A decoder serves one goroutine.
type Decoder interface {
	// Next returns the next events, at least one; io.EOF after the last. The caller owns the buffer, may
	// change its events, and releases it.
	Next(ctx context.Context) (*event.Buffer, error)
	Close() error
}

// A Recording is what a format hands to NewSource.
type Recording struct {
	File   File
	Info   event.Info
	Policy Policy
	// Decode starts to decode from the first event. It counts into rep what it meets.
	Decode func(ctx context.Context, want event.Request, rep *event.Report) (Decoder, error)
}
