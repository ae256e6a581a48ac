package exec

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/evq-project/evq/io/event"
)

// Scan reads a source on a goroutine of its own, a few batches ahead.
type Scan struct {
	Source   event.Source
	Want     event.Request
	Progress func(events int64) // called with the number of events read so far; may be nil

	batches chan scanned
	cancel  context.CancelFunc
	stopped chan struct{}
	report  *event.Report
	skipped int   // row groups that were left out
	groups  int   // of how many
	err     error // what ended the scan, io.EOF included
	read    int64
	first   int64
	last    int64
}

type scanned struct {
	batch event.Batch
	err   error
}

// ahead bounds the batches that are read before they are asked for.
const ahead = 3

func (s *Scan) String() string {
	str := "scan " + s.Source.String()
	if s.Want.Columns != 0 {
		str += " columns=" + s.Want.Columns.String()
	}
	if b := s.Want.Box.String(); b != "" {
		str += " box[" + b + "]"
	}
	return str + fmt.Sprintf(" (%d batches ahead)", ahead)
}

// Input implements Operator: a scan reads no operator.
func (s *Scan) Input() Operator { return nil }

// Next returns the next batch.
func (s *Scan) Next(ctx context.Context) (event.Batch, error) {
	if s.err != nil {
		return event.Batch{}, s.err
	}
	if s.batches == nil {
		s.start(ctx)
	}
	select {
	case b := <-s.batches:
		if b.err != nil {
			s.err = b.err
			return event.Batch{}, b.err
		}
		t := b.batch.T()
		if s.read == 0 {
			s.first = t[0]
		}
		s.last = t[len(t)-1]
		s.read += int64(len(t))
		if s.Progress != nil {
			s.Progress(s.read)
		}
		return b.batch, nil
	case <-ctx.Done():
		return event.Batch{}, ctx.Err()
	}
}

func (s *Scan) start(ctx context.Context) {
	ctx, s.cancel = context.WithCancel(ctx)
	s.batches, s.stopped = make(chan scanned, ahead), make(chan struct{})
	go func() {
		defer close(s.stopped)
		if err := s.pump(ctx); err != nil {
			select {
			case s.batches <- scanned{err: err}:
			case <-ctx.Done():
			}
		}
	}()
}

// pump reads the stream to its end and returns why it ended.
func (s *Scan) pump(ctx context.Context) (err error) {
	stream, err := s.Source.Scan(ctx, s.Want)
	if err != nil {
		return fmt.Errorf("%v: %w", s.Source, err)
	}
	defer func() {
		s.report = stream.Report()
		if p, ok := stream.(pruner); ok {
			s.skipped, s.groups = p.Pruned()
		}
		if e := stream.Close(); e != nil && errors.Is(err, io.EOF) {
			err = e
		}
	}()
	for {
		b, err := stream.Next(ctx)
		if errors.Is(err, io.EOF) {
			return io.EOF
		}
		if err != nil {
			return fmt.Errorf("%v: %w", s.Source, err)
		}
		if b.Len() == 0 {
			continue
		}
		select {
		case s.batches <- scanned{batch: b}:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Times returns the first and the last time that was handed on, 0 where there was none.
func (s *Scan) Times() (first, last int64) { return s.first, s.last }

// A pruner is a stream that leaves out parts of its file.
type pruner interface{ Pruned() (skipped, total int) }

// Skipped says what was left out without reading it; "" where the source does not tell.
func (s *Scan) Skipped() string {
	if s.groups == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d row groups skipped", s.skipped, s.groups)
}

// Report returns what the scan counted. It is complete after Next returned io.EOF, and valid after Close.
func (s *Scan) Report() *event.Report {
	if s.stopped == nil {
		return &event.Report{}
	}
	<-s.stopped
	if s.report == nil {
		return &event.Report{}
	}
	return s.report
}

// Close stops the reading goroutine and waits for it.
func (s *Scan) Close() error {
	if s.cancel != nil {
		s.cancel()
		<-s.stopped
	}
	return nil
}
