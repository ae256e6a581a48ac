package parquet

import (
	"context"
	"io"
	"runtime"

	"github.com/apache/arrow-go/v18/parquet/metadata"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/format"
)

// A Store is a sorted Parquet file of events. Its scans leave out the row groups that hold nothing of the box
// that is asked for, and decode the rest in parallel.
type Store struct {
	file     format.File
	meta     *metadata.FileMetaData // shared by all readers, which only read it
	columns  columns
	groups   []rowGroup
	polarity polarity
	salvage  bool
	library  bool // the library decodes every column; for tests
	info     event.Info
	note     string // what every scan's report says, if anything
}

// String names the file.
func (s *Store) String() string { return s.info.Name }

// Geometry is the size of the sensor, as stored or as given.
func (s *Store) Geometry() event.Geometry { return s.info.Geometry }

// Info is what the footer says.
func (s *Store) Info() event.Info { return s.info }

// Prune returns how many of the store's row groups a scan of the box would skip.
func (s *Store) Prune(box event.Box) (skipped, total int) {
	return len(s.groups) - len(prune(s.groups, box)), len(s.groups)
}

// Scan starts to read. The stream is a *Stream.
func (s *Store) Scan(ctx context.Context, want event.Request) (event.Stream, error) {
	groups := prune(s.groups, want.Box)
	rep := new(event.Report)
	if s.note != "" {
		rep.Note("%s", s.note)
	}
	return &Stream{store: s, scan: s.start(ctx, groups, want, true), triggers: want.Triggers, kept: len(groups), report: rep}, nil
}

func (s *Store) start(ctx context.Context, groups []rowGroup, want event.Request, ordered bool) *scan {
	threads := want.Threads
	if threads <= 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	return newScan(ctx, groups, threads, func() (*decoder, error) { return s.openDecoder(want.Columns, ordered) })
}

// A Stream yields the events of a store.
type Stream struct {
	store    *Store
	scan     *scan
	kept     int
	triggers func([]event.Trigger) error
	report   *event.Report
	bad      format.Damage
	last     int64
	err      error
}

// Pruned returns how many row groups the scan skips, of how many.
func (s *Stream) Pruned() (skipped, total int) {
	return len(s.store.groups) - s.kept, len(s.store.groups)
}

// Next returns the next events.
func (s *Stream) Next(ctx context.Context) (event.Batch, error) {
	if s.err != nil {
		return event.Batch{}, s.err
	}
	if s.triggers != nil {
		if s.err = deliver(ctx, s.store.file.Path, s.triggers, s.report); s.err != nil {
			return event.Batch{}, s.err
		}
		s.triggers = nil
	}
	p, err := s.scan.left(ctx, &s.bad, s.report)
	if err == nil && s.report.Events > 0 && p.events.T[0] < s.last {
		err = disorderAt(p.row)
	}
	if err != nil {
		if ctx.Err() == nil {
			s.err = err
		}
		return event.Batch{}, err
	}
	p.count(s.report)
	s.report.Events += int64(p.events.Len())
	s.last = p.events.T[p.events.Len()-1]
	return p.events.Batch(), nil
}

// Report counts events, triggers and remapped polarities; Info has what the conversion counted.
func (s *Stream) Report() *event.Report { return s.report }

// Close ends the scan.
func (s *Stream) Close() error {
	s.scan.close()
	if s.err == nil {
		s.err = io.ErrClosedPipe
	}
	return nil
}

// count adds what was met in a piece to a report.
func (p piece) count(rep *event.Report) {
	if p.remapped > 0 {
		rep.Count(event.RemappedPolarity, p.remapped, p.row)
		rep.Note("polarities other than 0 and 1 were read as 0 or 1.")
	}
}

// deliver hands over the triggers beside a store.
func deliver(ctx context.Context, path string, to func([]event.Trigger) error, rep *event.Report) error {
	n, err := readTriggers(ctx, path, to)
	if n > 0 {
		rep.Count(event.Triggers, n, -1)
	}
	return err
}

// A storeDecoder serves files that the decode policies have to look at: those that are not sorted, or that
// are to be shifted, turned or cut.
type storeDecoder struct {
	scan   *scan
	report *event.Report
	bad    format.Damage
}

// decode starts a decoder for format.NewSource.
func (s *Store) decode(ctx context.Context, want event.Request, rep *event.Report) (format.Decoder, error) {
	if want.Triggers != nil {
		if err := deliver(ctx, s.file.Path, want.Triggers, rep); err != nil {
			return nil, err
		}
	}
	return &storeDecoder{scan: s.start(ctx, prune(s.groups, want.Box), want, s.info.Sorted), report: rep}, nil
}

func (d *storeDecoder) Next(ctx context.Context) (*event.Buffer, error) {
	p, err := d.scan.left(ctx, &d.bad, d.report)
	if err != nil {
		return nil, err
	}
	p.count(d.report)
	return p.events, nil
}

func (d *storeDecoder) Close() error {
	d.scan.close()
	return nil
}
