package event

import "context"

// A CountingSource can count the events of a box without yielding them.
type CountingSource interface {
	Source
	// Count counts the events in want.Box, whatever else want asks for. It decodes no more than it must: what the
	// recording says of its parts counts for those that lie wholly inside the box.
	Count(ctx context.Context, want Request) (Counted, error)
}

// Counted is what a source counted.
type Counted struct {
	Events      int64   // those in the box
	Report      *Report // what a scan for the box would report
	Read, Parts int     // parts of the recording of which something was decoded, of how many
}

// Counting returns the source that counts for src: itself, or one that it stands for. ok is false where there is none.
func Counting(src Source) (c CountingSource, ok bool) {
	for {
		if c, ok := src.(CountingSource); ok {
			return c, true
		}
		w, ok := src.(interface{ Unwrap() Source })
		if !ok {
			return nil, false
		}
		src = w.Unwrap()
	}
}
