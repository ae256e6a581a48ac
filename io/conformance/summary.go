// Package conformance says in a few numbers what a recording decodes to, and compares that with a reference.
//
// It refuses to know formats and files of events: it reads a source, in memory that does not grow with the recording.
package conformance

import (
	"github.com/evq-project/evq/io/event"
)

// Ends is how many events at the start and at the end of a recording a summary holds.
const Ends = 16

// An Event is x, y, p, t: p is 0 = OFF or 1 = ON, t in microseconds.
type Event [4]int64

// A Trigger is the edge (1 rising, 0 falling), the channel and t in microseconds.
type Trigger [3]int64

// A Summary is what a recording decodes to. File order is the order in which the recording holds its events, sorted
// order is by t, x, y, p. A digest is the SHA-256 over one record of 13 bytes an event: x and y as uint16, p as uint8, t
// as int64, little-endian, without padding.
type Summary struct {
	N            int64     `json:"n"`
	Geometry     string    `json:"geometry,omitempty"` // WIDTHxHEIGHT; "" where the recording does not say it
	TFirst       int64     `json:"t_first"`            // of the first event in file order
	TLast        int64     `json:"t_last"`
	XMax         uint16    `json:"x_max"`
	YMax         uint16    `json:"y_max"`
	Pos          int64     `json:"pos"` // ON events
	Neg          int64     `json:"neg"` // OFF events
	SumX         uint64    `json:"sum_x"`
	SumY         uint64    `json:"sum_y"`
	SumT         uint64    `json:"sum_t_mod64"`  // modulo 2^64
	Nonmonotonic int64     `json:"nonmonotonic"` // events whose t is less than that of the event before
	Head         []Event   `json:"head"`         // the first events in file order
	Tail         []Event   `json:"tail"`         // the last
	Sorted       string    `json:"sha256_canonical_sorted"`
	FileOrder    string    `json:"sha256_file_order"`
	Triggers     int64     `json:"triggers"`
	TriggerHead  []Trigger `json:"trigger_head_value_id_t"`
	TriggerSumT  int64     `json:"trigger_sum_t"`
}

// A summing adds events to a summary.
type summing struct {
	Summary
	tail  ring
	last  int64 // t of the event before
	most  int64 // the largest t so far
	step  int64 // the largest step back from it
	order *hasher
}

func newSumming() *summing {
	return &summing{Summary: Summary{Head: []Event{}, TriggerHead: []Trigger{}}, order: newHasher()} // [] in JSON, not null
}

func (s *summing) add(b event.Batch) {
	t, x, y, p := b.T(), b.X(), b.Y(), b.P()
	if len(t) == 0 {
		return
	}
	if s.N == 0 {
		s.TFirst, s.last, s.most = t[0], t[0], t[0]
	}
	for i, v := range t {
		if v < s.last {
			s.Nonmonotonic++
			s.step = max(s.step, s.most-v)
		}
		s.last, s.most = v, max(s.most, v)
		s.XMax, s.YMax = max(s.XMax, x[i]), max(s.YMax, y[i])
		s.SumX, s.SumY, s.SumT = s.SumX+uint64(x[i]), s.SumY+uint64(y[i]), s.SumT+uint64(v)
		s.Pos += int64(p[i])
		s.order.add(v, x[i], y[i], p[i])
	}
	at := func(i int) Event { return Event{int64(x[i]), int64(y[i]), int64(p[i]), t[i]} }
	for i := 0; i < len(t) && len(s.Head) < Ends; i++ {
		s.Head = append(s.Head, at(i))
	}
	for i := max(0, len(t)-Ends); i < len(t); i++ {
		s.tail.put(at(i))
	}
	s.N += int64(len(t))
	s.TLast, s.Neg = s.last, s.N-s.Pos
}

func (s *summing) addTriggers(tr []event.Trigger) error {
	for _, v := range tr {
		s.Triggers++
		s.TriggerSumT += v.T
		if len(s.TriggerHead) < Ends {
			edge := int64(0)
			if v.Rising {
				edge = 1
			}
			s.TriggerHead = append(s.TriggerHead, Trigger{edge, int64(v.Channel), v.T})
		}
	}
	return nil
}

// A ring keeps the last events.
type ring struct {
	kept [Ends]Event
	n    int
}

func (r *ring) put(e Event) {
	r.kept[r.n%Ends] = e
	r.n++
}

func (r *ring) events() []Event {
	out := make([]Event, 0, Ends)
	for i := max(0, r.n-Ends); i < r.n; i++ {
		out = append(out, r.kept[i%Ends])
	}
	return out
}
