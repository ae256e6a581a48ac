package background

import (
	"fmt"
	"math"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/udf"
)

type sieve struct {
	Filter
	last  *udf.Pixels[uint32] // the stamp of each pixel's last event, 0 = none within the window
	size  event.Geometry
	clock udf.Clock
}

// Sift implements udf.Sieve.
func (s *sieve) Sift(b event.Batch, keep []bool) error {
	if err := s.last.Cover(b); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	for b.Len() > 0 {
		n, back := s.clock.Next(b.T())
		udf.MoveBack(s.last.Values, back)
		s.run(b.Slice(0, n), keep[:n])
		if s.FromZero {
			s.zero(b.Slice(0, n), keep[:n])
		}
		b, keep = b.Slice(n, b.Len()), keep[n:]
	}
	return nil
}

func (s *sieve) run(b event.Batch, keep []bool) {
	ts, xs, ys := b.T(), b.X()[:len(keep)], b.Y()[:len(keep)]
	values, w, h := s.last.Values, s.last.Width, s.last.Height
	base, window, need := s.clock.Base(), uint32(s.Window), s.Neighbours
	for i, t := range ts[:len(keep)] {
		x, y := int(xs[i]), int(ys[i])
		if x >= w || y >= h {
			continue
		}
		now := uint32(t - base)
		var n int
		switch at := y*w + x; {
		case x == 0 || y == 0 || x == w-1 || y == h-1:
			n = s.border(x, y, now)
		case s.Four:
			n = four(values[at-w:at+w+1], w, now, window)
		default:
			n = eight(values[at-w-1:at+w+2], w, now, window)
		}
		values[y*w+x] = now
		keep[i] = n >= need
	}
}

// four counts the pixels that support an event: v reaches from the pixel above to the one below.
func four(v []uint32, w int, now, window uint32) int {
	return fired(v[0], now, window) + fired(v[w-1], now, window) + fired(v[w+1], now, window) + fired(v[2*w], now, window)
}

// eight counts the pixels that support an event: v reaches from the pixel above and left to the one below and right.
func eight(v []uint32, w int, now, window uint32) int {
	up, row, down := v[:3], v[w:w+3], v[2*w:2*w+3]
	return fired(up[0], now, window) + fired(up[1], now, window) + fired(up[2], now, window) +
		fired(row[0], now, window) + fired(row[2], now, window) +
		fired(down[0], now, window) + fired(down[1], now, window) + fired(down[2], now, window)
}

// fired is 1 if a stamp lies less than a window before now. No branch depends on the data.
func fired(stamp, now, window uint32) int {
	return int((uint64(now-stamp) - uint64(window)) >> 63)
}

// border counts the pixels that support an event where some of those around are not on the sensor.
func (s *sieve) border(x, y int, now uint32) int {
	n := 0
	for dy := -1; dy <= 1; dy++ {
		for dx := -1; dx <= 1; dx++ {
			u, v := x+dx, y+dy
			if !s.neighbour(dx, dy) || u < 0 || v < 0 || u >= s.last.Width || v >= s.last.Height {
				continue
			}
			n += fired(s.last.Values[v*s.last.Width+u], now, uint32(s.Window))
		}
	}
	return n
}

// neighbour reports whether the pixel so far away is a neighbour.
func (s *sieve) neighbour(dx, dy int) bool {
	return (dx != 0 || dy != 0) && (!s.Four || dx == 0 || dy == 0)
}

// zero keeps the events that pixels support by having fired at time 0. A sensor of unknown size has all the pixels
// that coordinates can name.
func (s *sieve) zero(b event.Batch, keep []bool) {
	w, h := s.size.Width, s.size.Height
	if !s.size.Known() {
		w, h = math.MaxUint16+1, math.MaxUint16+1
	}
	for i, t := range b.T() {
		if t >= s.Window {
			return
		}
		x, y := int(b.X()[i]), int(b.Y()[i])
		if t < 0 || x >= w || y >= h {
			continue
		}
		n := 0
		for dy := -1; dy <= 1; dy++ {
			for dx := -1; dx <= 1; dx++ {
				if s.neighbour(dx, dy) && x+dx >= 0 && x+dx < w && y+dy >= 0 && y+dy < h {
					n++
				}
			}
		}
		keep[i] = keep[i] || n >= s.Neighbours
	}
}
