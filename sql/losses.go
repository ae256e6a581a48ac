package sql

import (
	"cmp"
	"context"
	"io"
	"maps"
	"slices"
	"sync"

	"github.com/evq-project/evq/engine"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/parquet"
)

// A Loss is what queries met in a recording and did not hand on, or had to say of it.
type Loss struct {
	// Path is the recording's; of blocks that an aggregate makes it is the name of the aggregate.
	Path string
	// Report counts what reading met; nil where reading lost nothing and had nothing to say. It is partial where the
	// query did not need the whole recording.
	Report *event.Report
	// OffSensor are the events that a representation left out because they lie off the sensor.
	OffSensor int64
}

// Lost reports whether events or bytes were lost, rather than something merely said.
func (l Loss) Lost() bool { return l.OffSensor > 0 || l.Report != nil && l.Report.Lost() }

// Losses returns what queries that have ended met since it was called last, by path: in SQL a recording that is
// damaged, cut or off its sensor yields what is left of it. Of several queries over one recording it is the one that
// lost most.
func (s *Session) Losses() []Loss { return s.losses.take() }

// losses gathers them. It may be used from several goroutines.
type losses struct {
	mu sync.Mutex
	of map[string]Loss
}

// mostLosses bounds the paths of a session that is never asked.
const mostLosses = 1 << 12

func (l *losses) take() []Loss {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := slices.SortedFunc(maps.Values(l.of), func(a, b Loss) int { return cmp.Compare(a.Path, b.Path) })
	l.of = nil
	return out
}

// at changes what is known of a path.
func (l *losses) at(path string, change func(*Loss)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.of == nil {
		l.of = map[string]Loss{}
	}
	v, known := l.of[path]
	if !known && len(l.of) == mostLosses {
		return
	}
	v.Path = path
	change(&v)
	l.of[path] = v
}

// read takes in the report of a scan that has ended.
func (l *losses) read(path string, rep *event.Report) {
	if rep == nil || !rep.Lost() && len(rep.Notes) == 0 {
		return
	}
	l.at(path, func(v *Loss) {
		if v.Report == nil || lostOf(rep) >= lostOf(v.Report) {
			v.Report = rep.Clone()
		}
	})
}

// dropped takes in how many events a representation left out; more says that they are part of those of a query.
func (l *losses) dropped(path string, n int64, more bool) {
	if n == 0 {
		return
	}
	l.at(path, func(v *Loss) {
		if more {
			v.OffSensor += n
		} else {
			v.OffSensor = max(v.OffSensor, n)
		}
	})
}

// lostOf is how much a report has lost, of whatever kind.
func lostOf(r *event.Report) (n int64) {
	for c := range event.Counters() {
		n += r.Get(event.Counter(c)).Lost
	}
	return n
}

// open opens a recording whose losses the session is told. Stores of evq lost what they lost when they were made.
func (s *Session) open(path string, opts []engine.Option) (*engine.Recording, error) {
	rec, err := engine.Open(path, opts...)
	if err != nil {
		return nil, err
	}
	if info := rec.Info(); info.Format != parquet.Format.Name || info.Version == "" {
		rec.Source = &heard{rec.Source, path, &s.losses}
	}
	return rec, nil
}

// A heard source tells what its scans lost when they end.
type heard struct {
	event.Source
	path string
	to   *losses
}

// Scan starts to read.
func (h *heard) Scan(ctx context.Context, want event.Request) (event.Stream, error) {
	st, err := h.Source.Scan(ctx, want)
	if err != nil {
		return nil, err
	}
	return &heardStream{st, h}, nil
}

// Close closes the recording.
func (h *heard) Close() error {
	if c, ok := h.Source.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

type heardStream struct {
	event.Stream
	source *heard
}

// Close ends a scan, also one that has not read everything.
func (h *heardStream) Close() error {
	h.source.to.read(h.source.path, h.Report())
	return h.Stream.Close()
}
