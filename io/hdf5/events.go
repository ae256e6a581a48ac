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

// kindsOf says how written columns are stored: t int64, x and y uint16, p uint8, as the readers of /events expect, and
// int8 where OFF is -1. t is not known to fit in 32 bits before the last event; DSEC's readers want it so.
func kindsOf(o format.CreateOptions) [numColumns]int {
	kinds := [numColumns]int{colT: -8, colX: 2, colY: 2, colP: 1}
	if o.Layout == layoutDSEC {
		kinds[colT] = 4
	}
	if o.OffValue() < 0 {
		kinds[colP] = -1
	}
	return kinds
}

// An eventSink writes events to /events/{t,x,y,p}.
type eventSink struct {
	geometry event.Geometry
	sizes    [numColumns]int // bytes of an element
	off      int8            // what is written for OFF
	index    *msIndex        // of DSEC's layout, else nil
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
	s := &eventSink{geometry: h.Geometry, off: o.OffValue()}
	if o.Layout == layoutDSEC {
		s.index = &msIndex{}
	}
	kinds := kindsOf(o)
	for i, k := range kinds {
		s.sizes[i] = max(k, -k)
	}
	s.target, err = createTarget(path, o.Force, func(h *hdf5.File) ([]int64, error) {
		g, err := h.CreateGroup(group)
		if err != nil {
			return nil, failed("creating group " + group)
		}
		defer g.Close()
		var ids []int64
		for i, name := range columnNames {
			id, err := createDataset(g.ID(), name, kinds[i], []int{chunkRows}, p.filters(s.sizes[i], chunkRows*s.sizes[i]))
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
	s.packer = newPacker(s.target, threads, true, func(col int) *chunk.Encoder {
		return p.encoder(s.sizes[col], chunkRows*s.sizes[col], newCZstd())
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
		s.err = fmt.Errorf("hdf5: %s: events without all of t, x, y, p cannot be written", s.target.path)
		return s.err
	}
	if s.err = ctx.Err(); s.err != nil {
		return s.err
	}
	if s.index != nil {
		if s.err = s.index.add(b.T()); s.err != nil {
			return s.err
		}
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
			s.buf[i] = s.memory(s.sizes[i])
		}
	}
	t, x, y, p := s.buf[colT][s.sizes[colT]*s.fill:], s.buf[colX][2*s.fill:], s.buf[colY][2*s.fill:], s.buf[colP][s.fill:]
	for i, v := range b.T() {
		if s.index != nil {
			binary.LittleEndian.PutUint32(t[4*i:], uint32(v-s.index.offset))
			continue
		}
		binary.LittleEndian.PutUint64(t[8*i:], uint64(v))
	}
	for i, v := range b.X() {
		binary.LittleEndian.PutUint16(x[2*i:], v)
	}
	for i, v := range b.Y() {
		binary.LittleEndian.PutUint16(y[2*i:], v)
	}
	for i, v := range b.P() {
		p[i] = byte(v + s.off*(1-v))
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
		clear(b[s.fill*s.sizes[i]:])
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

// WriteTriggers leaves triggers out: neither layout has a place for them.
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
		if s.index != nil {
			if err := s.index.write(h.ID()); err != nil {
				return err
			}
		}
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
