package format

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/order"
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
	// Decode starts to decode from the first event. It counts into rep what it meets. The box and the columns
	// of want are in the file's own coordinates and times.
	Decode func(ctx context.Context, want event.Request, rep *event.Report) (Decoder, error)
}

// NewSource puts the decode policies around a format's decoder: exchanged axes, events off the sensor, time
// order, and a start at zero, in this order. Its Info shows the geometry that holds after Policy.Size.
func NewSource(r Recording) event.Source {
	r.Policy = r.Policy.WithDefaults()
	s := &source{Recording: r, declared: r.Info.Geometry}
	if r.Policy.Size.Known() {
		s.Recording.Info.Geometry = r.Policy.Size
	}
	if r.Info.Sorted {
		s.learned.Set(0)
	}
	return s
}

// A source is a recording under its policies. What its scans learn is shared between them.
type source struct {
	Recording
	declared event.Geometry // the file's own
	learned  order.Learned
	start    start
}

// A start is the first time of the recording, once a scan of all events has met it.
type start struct {
	mu    sync.Mutex
	known bool
	t     int64
}

func (s *start) get() (t int64, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.t, s.known
}

func (s *start) set(t int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.t, s.known = t, true
}

func (s *source) String() string           { return s.Recording.Info.Name }
func (s *source) Geometry() event.Geometry { return s.Recording.Info.Geometry }
func (s *source) Info() event.Info         { return s.Recording.Info }

// Scan starts to decode. Under the order policy sort it may have to read the recording's times once before,
// unless want is Restartable or an earlier scan has.
func (s *source) Scan(ctx context.Context, want event.Request) (event.Stream, error) {
	rep := &event.Report{}
	if size := s.Policy.Size; size.Known() && s.declared.Known() && size != s.declared {
		rep.Note("the file says that the sensor has %v pixels; the given size %v is used instead.", s.declared, size)
	}
	st := &stream{source: s, rep: rep}
	if s.Policy.Zero {
		st.shift.init(&s.start, want.Triggers)
		if want.Triggers != nil {
			want.Triggers = st.shift.triggers
		}
	}
	want = s.decoded(want)
	st.shift.whole = want.Box == event.Everything
	in, err := order.Apply(ctx, s.opener(want, rep), order.Options{
		Policy: order.Policy(s.Policy.OnUnsorted), Memory: s.Policy.Memory, TempDir: s.Policy.TempDir,
		Learned: &s.learned, Whole: st.shift.whole, Restartable: want.Restartable,
	}, rep)
	if err != nil {
		return nil, err
	}
	st.in = in
	return st, nil
}

// decoded turns what a reader wants into what the decoder may leave out: less than asked for where a policy
// must see other events or columns as well.
func (s *source) decoded(want event.Request) event.Request {
	p := s.Policy
	if p.OnUnsorted != Sort && !s.Recording.Info.Sorted {
		want.Box = event.Everything // what becomes of an event depends on all before it
	}
	if p.OnOffSensor == Error {
		want.Box = event.Everything
	}
	if p.Zero {
		if t, known := s.start.get(); known {
			want.Box.T0, want.Box.T1 = addSaturated(want.Box.T0, t), addSaturated(want.Box.T1, t)
		} else {
			want.Box = event.Everything
		}
	}
	if p.SwapXY {
		want.Box.X0, want.Box.X1, want.Box.Y0, want.Box.Y1 = want.Box.Y0, want.Box.Y1, want.Box.X0, want.Box.X1
	}
	if want.Columns != 0 && (p.SwapXY || p.OnOffSensor != Keep && s.Geometry().Known()) {
		want.Columns |= event.ColX | event.ColY
	}
	return want
}

// opener starts the decoder and the stages that look at one event at a time.
func (s *source) opener(want event.Request, rep *event.Report) func(context.Context, bool) (order.Input, error) {
	return func(ctx context.Context, probe bool) (order.Input, error) {
		want, rep := want, rep
		if probe {
			want.Triggers, want.Box, rep = nil, event.Everything, &event.Report{}
		}
		d, err := s.Decode(ctx, want, rep)
		if err != nil {
			return nil, s.File.locate(err)
		}
		return &placed{Decoder: d, file: s.File, format: s.Recording.Info.Format, swap: s.Policy.SwapXY, policy: s.Policy.OnOffSensor, sensor: s.Geometry(), rep: rep}, nil
	}
}

// A stream freezes ordered buffers into batches.
type stream struct {
	source *source
	in     order.Input
	rep    *event.Report
	shift  shift
	err    error // sticky
	closed bool
}

func (s *stream) Next(ctx context.Context) (event.Batch, error) {
	for s.err == nil {
		b, err := s.in.Next(ctx)
		if err != nil {
			return event.Batch{}, s.end(err)
		}
		if b.Len() == 0 {
			b.Release()
			continue
		}
		if s.source.Policy.Zero {
			if err := s.shift.apply(b.T, s.rep); err != nil {
				b.Release()
				return event.Batch{}, s.end(err)
			}
		}
		s.rep.Events += int64(b.Len())
		return b.Batch(), nil
	}
	return event.Batch{}, s.err
}

// end makes an error, or the end, final.
func (s *stream) end(err error) error {
	if errors.Is(err, io.EOF) {
		err = io.EOF
		if held := s.shift.flush(); held != nil {
			err = held
		}
	}
	s.err = err
	return err
}

func (s *stream) Report() *event.Report { return s.rep }

func (s *stream) Close() error {
	if s.closed {
		return nil
	}
	s.closed = true
	if s.err == nil {
		s.err = errClosed
	}
	return s.in.Close()
}

var errClosed = errors.New("format: the stream is closed")

// Drain scans all events of src into one batch, restarting where the source asks for it. It is for tools
// and tests whose recordings fit in memory.
func Drain(ctx context.Context, src event.Source) (event.Batch, *event.Report, error) {
	want := event.All
	want.Restartable = true
	for {
		all := event.NewBuffer(0)
		rep, err := event.Each(ctx, src, want, func(b event.Batch) error { all.AppendBatch(b); return nil })
		if !errors.Is(err, event.ErrRestart) {
			return all.Batch(), rep, err
		}
	}
}
