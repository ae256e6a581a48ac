package parquet

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/apache/arrow-go/v18/parquet/file"

	"github.com/evq-project/evq/io/event"
)

// laneLen is the number of decoded pieces a row group may be ahead of its reader.
const laneLen = 4

// A piece is a run of events from one row group.
type piece struct {
	events   *event.Buffer
	row      int64 // of the first event
	remapped int64 // polarities that were not 0 or 1
	lost     error // the damage for which the row group is left out
	group    rowGroup
	err      error
}

// A scan decodes row groups on several goroutines and yields their pieces in file order. Each group has a
// lane; at most one lane per goroutine is open ahead of the one being read, so memory is bounded whatever
// the size of the file and of its groups.
type scan struct {
	ctx     context.Context
	cancel  context.CancelFunc
	workers sync.WaitGroup
	pool    *event.Pool
	lanes   chan chan piece // in file order
	lane    chan piece      // the one being read
}

// A job is one row group to decode into its lane.
type job struct {
	group rowGroup
	lane  chan piece
}

// newScan starts to decode groups. open makes a decoder for each of the goroutines.
func newScan(ctx context.Context, groups []rowGroup, threads int, open func() (*decoder, error)) *scan {
	threads = max(1, min(threads, len(groups)))
	s := &scan{pool: event.NewPool(pieceLen), lanes: make(chan chan piece, threads)}
	s.ctx, s.cancel = context.WithCancel(ctx)
	jobs := make(chan job)
	s.workers.Go(func() { s.dispatch(groups, jobs) })
	for range threads {
		s.workers.Go(func() { s.work(jobs, open) })
	}
	return s
}

// dispatch opens the lanes and hands out the jobs, both in file order.
func (s *scan) dispatch(groups []rowGroup, jobs chan<- job) {
	defer close(jobs)
	defer close(s.lanes)
	for _, g := range groups {
		j := job{g, make(chan piece, laneLen)}
		select {
		case s.lanes <- j.lane:
		case <-s.ctx.Done():
			return
		}
		select {
		case jobs <- j:
		case <-s.ctx.Done():
			return
		}
	}
}

func (s *scan) work(jobs <-chan job, open func() (*decoder, error)) {
	d, err := open()
	for j := range jobs {
		if err != nil {
			s.send(j.lane, piece{err: err})
		} else {
			if whole := s.decode(d, j); !whole {
				d, err = open() // the library's reader is of no use after damage
			}
		}
		close(j.lane)
	}
	if d != nil {
		d.close()
	}
}

// decode fills the lane of a job, and reports whether the decoder can go on. An error is the last thing in the lane.
func (s *scan) decode(d *decoder, j job) (whole bool) {
	if d.salvage {
		held, err := s.vet(d, j.group)
		if err != nil {
			s.send(j.lane, s.lose(d, j.group, err))
			return false
		}
		for _, p := range held {
			if !s.send(j.lane, p) {
				return false
			}
		}
		if len(held) > 0 {
			return true
		}
	}
	err := d.open(j.group)
	for err == nil {
		var p piece
		if p, err = s.read(d); err == nil && !s.send(j.lane, p) {
			return false
		}
	}
	if errors.Is(err, io.EOF) {
		return true
	}
	rest := j.group
	rest.first, rest.rows = rest.first+d.next, rest.rows-d.next
	s.send(j.lane, s.lose(d, rest, err))
	return false
}

// read decodes the next piece of the row group that is open.
func (s *scan) read(d *decoder) (p piece, err error) {
	p = piece{events: s.pool.Get(), row: d.group.first + d.next}
	p.remapped, err = d.read(p.events)
	return p, err // after an error the buffer may lack columns, and is left to the garbage collector
}

func (s *scan) send(lane chan<- piece, p piece) bool {
	select {
	case lane <- p:
		return true
	case <-s.ctx.Done():
		return false
	}
}

// next returns the next piece in file order; io.EOF after the last.
func (s *scan) next(ctx context.Context) (piece, error) {
	for {
		if s.lane == nil {
			lane, err := receive(ctx, s.ctx, s.lanes)
			if err != nil {
				return piece{}, err
			}
			s.lane = lane
		}
		p, err := receive(ctx, s.ctx, s.lane)
		if errors.Is(err, io.EOF) {
			s.lane = nil
			continue
		}
		if err == nil {
			err = p.err
		}
		return p, err
	}
}

// receive waits for a value; io.EOF where the channel is closed.
func receive[T any](a, b context.Context, from <-chan T) (v T, err error) {
	select {
	case v, ok := <-from:
		if !ok {
			if err := b.Err(); err != nil {
				return v, err // closed because the scan was cancelled
			}
			return v, io.EOF
		}
		return v, nil
	case <-a.Done():
		return v, a.Err()
	case <-b.Done():
		return v, b.Err()
	}
}

// close ends the goroutines and waits for them: nobody reads the file afterwards.
func (s *scan) close() {
	s.cancel()
	s.workers.Wait()
}

// openDecoder makes a decoder of its own reader; the footer is shared.
func (s *Store) openDecoder(want event.Columns, ordered bool) (d *decoder, err error) {
	defer guard(&err)
	system := &watched{ReaderAt: s.file}
	r, err := file.NewParquetReader(io.NewSectionReader(system, 0, s.file.Size), file.WithMetadata(s.meta), readProps())
	if err != nil {
		return nil, err
	}
	return &decoder{file: r, columns: s.columns, want: want, polarity: s.polarity, ordered: ordered, salvage: s.salvage, slow: s.library, system: system}, nil
}
