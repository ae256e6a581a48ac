//go:build hdf5 && cgo

package hdf5

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/hdf5/chunk"
	"gonum.org/v1/hdf5"
)

// chunkRows is the chunk size of written events: small enough to read a window, large enough to compress.
const chunkRows = 64 << 10

// How written columns are stored: t int64, x and y uint16, p uint8, as the readers of /events expect. t is
// not known to fit in 32 bits before the last event.
var (
	writtenKinds = [numColumns]int{colT: -8, colX: 2, colY: 2, colP: 1}
	writtenSizes = [numColumns]int{colT: 8, colX: 2, colY: 2, colP: 1}
)

// An eventSink writes events to /events/{t,x,y,p}.
type eventSink struct {
	geometry event.Geometry
	target   *target
	packer   *packer
	buf      [numColumns][]byte // the chunk that fills up
	fill     int                // its rows
	rows     int64              // rows in the chunks before it
	free     chan []byte
	closed   bool
	err      error // the first; nothing is written after it
}

func create(path string, h format.Header, o format.CreateOptions) (event.Sink, error) {
	p, err := parsePacking(o.Compression)
	if err != nil {
		return nil, err
	}
	s := &eventSink{geometry: h.Geometry}
	s.target, err = createTarget(path, o.Force, func(h *hdf5.File) ([]int64, error) {
		g, err := h.CreateGroup(group)
		if err != nil {
			return nil, failed("creating group " + group)
		}
		defer g.Close()
		var ids []int64
		for i, name := range columnNames {
			id, err := createDataset(g.ID(), name, writtenKinds[i], []int{chunkRows}, p.filters(writtenSizes[i], chunkRows*writtenSizes[i]))
			if err != nil {
				return ids, err
			}
			ids = append(ids, id)
		}
		return ids, nil
	})
	if err != nil {
		return nil, err
	}
	threads := threadsOr(o.Threads)
	s.free = make(chan []byte, 4*numColumns+2*threads)
	s.packer = newPacker(s.target, threads, func(col int) *chunk.Encoder {
		return p.encoder(writtenSizes[col], chunkRows*writtenSizes[col], newCZstd())
	})
	return s, nil
}

// Write adds events. They must have all columns.
func (s *eventSink) Write(ctx context.Context, b event.Batch) error {
	if s.closed {
		return errors.New("hdf5: the file is closed")
	}
	if s.err != nil {
		return s.err
	}
	if n := b.Len(); len(b.X()) != n || len(b.Y()) != n || len(b.P()) != n {
		return fmt.Errorf("hdf5: %s: events without all of t, x, y, p cannot be written", s.target.path)
	}
	for b.Len() > 0 {
		n := min(b.Len(), chunkRows-s.fill)
		s.put(b.Slice(0, n))
		b = b.Slice(n, b.Len())
		if s.fill == chunkRows {
			if s.err = s.flush(ctx); s.err != nil {
				return s.err
			}
		}
	}
	return nil
}

// put copies events into the chunk that fills up; they fit.
func (s *eventSink) put(b event.Batch) {
	for i := range s.buf {
		if s.buf[i] == nil {
			s.buf[i] = s.memory(writtenSizes[i])
		}
	}
	t, x, y, p := s.buf[colT][8*s.fill:], s.buf[colX][2*s.fill:], s.buf[colY][2*s.fill:], s.buf[colP][s.fill:]
	for i, v := range b.T() {
		binary.LittleEndian.PutUint64(t[8*i:], uint64(v))
	}
	for i, v := range b.X() {
		binary.LittleEndian.PutUint16(x[2*i:], v)
	}
	for i, v := range b.Y() {
		binary.LittleEndian.PutUint16(y[2*i:], v)
	}
	for i, v := range b.P() {
		p[i] = byte(v)
	}
	s.fill += b.Len()
}

// memory returns bytes for one chunk of a column.
func (s *eventSink) memory(size int) []byte {
	select {
	case b := <-s.free:
		return b[:chunkRows*size]
	default:
		return make([]byte, chunkRows*size, chunkRows*8)
	}
}

// flush queues the chunk that fills up. What it lacks of a whole chunk is zero.
func (s *eventSink) flush(ctx context.Context) error {
	err := locked(func() error {
		for _, id := range s.target.sets {
			// Exactly as long as it is: shrinking later would make the library decode the last chunk.
			if err := extend(id, s.rows+int64(s.fill)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return s.target.wrap(err)
	}
	for i, b := range s.buf {
		clear(b[s.fill*writtenSizes[i]:])
		s.buf[i] = nil
		err := s.packer.add(ctx, i, s.rows, b, func() {
			select {
			case s.free <- b:
			default:
			}
		})
		if err != nil {
			return err
		}
	}
	s.rows += int64(s.fill)
	s.fill = 0
	return nil
}

// WriteTriggers leaves triggers out: the layout has no place for them.
func (s *eventSink) WriteTriggers([]event.Trigger) error { return nil }

// Close writes what is queued and the sensor's size, and gives the file its name.
func (s *eventSink) Close() error {
	if s.closed {
		return nil
	}
	s.closed = true
	if s.err == nil && s.fill > 0 {
		s.err = s.flush(context.Background())
	}
	if err := s.packer.stop(); s.err == nil {
		s.err = err
	}
	if s.err != nil {
		s.target.abort()
		return s.err
	}
	return s.target.finish(func(h *hdf5.File) error {
		if !s.geometry.Known() {
			return nil
		}
		return errors.Join(writeInt64s(h.ID(), group+"/height", []int64{int64(s.geometry.Height)}, true),
			writeInt64s(h.ID(), group+"/width", []int64{int64(s.geometry.Width)}, true))
	})
}

// Abort drops the file.
func (s *eventSink) Abort() error {
	if s.closed {
		return nil
	}
	s.closed = true
	_ = s.packer.stop()
	s.target.abort()
	return nil
}
