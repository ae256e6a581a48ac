// Package order puts a stream of events into time order, in bounded memory.
//
// It refuses to know formats: it gets buffers of events in file order and yields them in time order, or says
// where they are not. Recordings that are in order pass through uncopied.
package order

import (
	"context"
	"fmt"
	"sync"

	"github.com/evq-project/evq/io/event"
)

// An Input yields events in file order, at least one at a time, and io.EOF after the last. The caller of
// Next owns the buffer and releases it.
type Input interface {
	Next(ctx context.Context) (*event.Buffer, error)
	Close() error
}

// A Policy says what becomes of an event that lies before an earlier one.
type Policy string

// The policies.
const (
	Sort  Policy = "sort"  // order by time; events of one time keep their order
	Clamp Policy = "clamp" // give it the largest time so far; the order stays
	Drop  Policy = "drop"  // leave it out
	Error Policy = "error" // fail with an UnsortedError
	Keep  Policy = "keep"  // leave it where it is: only for who looks at a file's own order, no window or query does
)

// Options say how a stream is brought in order.
type Options struct {
	Policy  Policy
	Memory  int64  // bytes that sorting may hold
	TempDir string // where what does not fit is spilled; "" = the system's folder
	// Learned is what earlier scans of this recording found out; this scan adds to it.
	Learned *Learned
	// Whole says that the input holds every event of the recording, so that what it shows of the order is
	// true of any part.
	Whole bool
	// Restartable allows event.ErrRestart where the order turns out worse than expected. Otherwise Sort
	// reads the input once before, unless what it would learn is known.
	Restartable bool
}

// Learned is what the scans of one recording found out of its order. The zero value knows nothing. It is
// safe for concurrent use.
type Learned struct {
	mu    sync.Mutex
	known bool
	step  int64
}

// Step returns the largest step back in time, from the largest time before an event to its own, in
// microseconds.
func (l *Learned) Step() (step int64, known bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.step, l.known
}

// Set records the largest step back in time; 0 says that the recording is in order.
func (l *Learned) Set(step int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.known, l.step = true, max(l.step, step)
}

// An UnsortedError reports an event that lies before an earlier one.
type UnsortedError struct {
	Index int64 // of the event, counting from 0 those that came to be ordered
	Step  int64 // how far it lies before the largest time so far, in microseconds
}

func (e *UnsortedError) Error() string {
	return fmt.Sprintf("event %d lies %d us before an earlier one; --on-unsorted sort, clamp or drop accepts that", e.Index, e.Step)
}

// Apply orders the events of an input. open starts to read it from its first event; with probe set only the
// times matter and nothing is to be reported. Apply closes every input that it opens, that of the returned
// one when it is closed. Events that lie before an earlier one are counted into rep as unsorted.
func Apply(ctx context.Context, open func(ctx context.Context, probe bool) (Input, error), o Options, rep *event.Report) (Input, error) {
	switch o.Policy {
	case Clamp, Drop, Error, Keep:
		in, err := open(ctx, false)
		if err != nil {
			return nil, err
		}
		return &inPlace{Input: in, policy: o.Policy, rep: rep}, nil
	case Sort, "":
		return sorted(ctx, open, o, rep)
	default:
		return nil, fmt.Errorf("order: there is no policy %q", o.Policy)
	}
}
