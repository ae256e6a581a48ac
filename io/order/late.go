package order

import (
	"math"
	"slices"

	"github.com/evq-project/evq/io/event"
)

// lateness is what came behind the queue in file order and does not follow it in time.
type lateness struct {
	buffers  []*event.Buffer
	n        int
	earliest int64
	due      int // how many events make sorting them worth while
}

func (l *lateness) add(b *event.Buffer) {
	t := slices.Min(b.T)
	if l.n == 0 {
		l.earliest = t
	}
	l.earliest = min(l.earliest, t)
	l.buffers = append(l.buffers, b)
	l.n += b.Len()
}

// repairIfDue sorts the late events once one of them may go, and they are as many as those of the queue that
// they overlap, so that no event is sorted often.
func (s *sorter) repairIfDue() {
	if s.late.n < max(s.late.due, s.size) || s.late.earliest > earlier(s.clock.now(), s.horizon) {
		return
	}
	overlap := 0
	for _, b := range slices.Backward(s.queue) {
		if b.T[b.Len()-1] <= s.late.earliest || overlap > s.late.n {
			break
		}
		overlap += b.Len() - after(b.T, s.late.earliest)
	}
	if overlap > s.late.n {
		s.late.due = 2 * s.late.n
		return
	}
	s.repair()
}

// repair sorts the late events and what they overlap into the end of the queue.
func (s *sorter) repair() {
	s.block.reset()
	from := len(s.queue)
	for from > 0 && s.queue[from-1].T[s.queue[from-1].Len()-1] > s.late.earliest {
		from--
	}
	overlapped := slices.Clone(s.queue[from:])
	s.queue = s.queue[:from]
	for i, b := range overlapped {
		lo := 0
		if i == 0 {
			lo = after(b.T, s.late.earliest)
		}
		s.block.add(b, lo, b.Len())
		if lo > 0 {
			shrink(b, lo)
			s.queue = append(s.queue, b)
		} else {
			s.discard(b)
		}
	}
	for _, b := range s.late.buffers {
		s.block.add(b, 0, b.Len())
		s.discard(b)
	}
	s.late = lateness{buffers: s.late.buffers[:0]}
	s.block.sort()
	for lo := 0; lo < s.block.len(); lo += s.size {
		b := s.pool.Get()
		s.block.gather(b, lo, min(lo+s.size, s.block.len()))
		s.held += b.Cap()
		s.queue = append(s.queue, b)
	}
}

// discard releases a held buffer.
func (s *sorter) discard(b *event.Buffer) {
	s.held -= b.Cap()
	b.Release()
}

// after returns the index of the first time after t in a sorted column.
func after(times []int64, t int64) int {
	if t == math.MaxInt64 {
		return len(times)
	}
	i, _ := slices.BinarySearch(times, t+1)
	return i
}
