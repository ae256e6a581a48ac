// Package ratelimit is the filter that bounds how many events come in a second.
//
// It looks at times only; it refuses to know which events matter.
package ratelimit

import (
	"fmt"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/udf"
)

// name is what users type.
const name = "rate_limit"

// A Filter keeps the first events of each interval [k*Interval, (k+1)*Interval) of sensor time, up to a budget, and
// drops the rest. The budget is Rate*Interval, whole events only: interval k has
// floor((k+1)*Rate*Interval) - floor(k*Rate*Interval), so that nothing is lost over many intervals.
//
// Within an interval early events are preferred; a short interval spreads the loss. Filtering twice changes nothing.
//
// Source: the fixed-window counter, as the event rate controller of Prophesee's sensors meters events over a reference
// period (docs.prophesee.ai, Event Signal Processing); the sensor drops by place and chance as well, which is left out
// here to keep the result simple.
type Filter struct {
	Rate     int64 // events per second, 1 to 10^9
	Interval int64 // microseconds, 1 to 10^9
}

var _ udf.Filter = Filter{}

const (
	second  = 1_000_000
	largest = 1_000_000_000 // of both parameters: their product fits
)

// Entry makes the filter available by name.
var Entry = udf.FilterEntry{
	Name:   name,
	Doc:    "keeps the first events of each interval, as many as a rate allows",
	Source: "fixed-window counter, after the event rate controller of Prophesee's sensors",
	Params: []udf.Param{
		{Name: "rate", Default: "10000000", Doc: "events per second that are kept at most"},
		{Name: "interval", Default: "1ms", Doc: "the time over which the rate holds, counted from 0 of the recording's time"},
	},
	New: fromArgs,
}

func fromArgs(a udf.Args) (udf.Filter, error) {
	rate, err := a.Int("rate", 1, largest)
	if err != nil {
		return nil, err
	}
	interval, err := a.Micros("interval", 1, largest)
	return Filter{Rate: int64(rate), Interval: interval}, err
}

// String prints the filter as users write it.
func (f Filter) String() string {
	return fmt.Sprintf("%s(rate=%d, interval=%dus)", name, f.Rate, f.Interval)
}

// Columns are none.
func (f Filter) Columns() event.Columns { return 0 }

// Open readies the filter for one stream.
func (f Filter) Open(event.Geometry) (udf.Sieve, error) {
	if f.Rate < 1 || f.Rate > largest || f.Interval < 1 || f.Interval > largest {
		return nil, fmt.Errorf("%s: %d events/s over %d us; 1 to %d are possible for each", name, f.Rate, f.Interval, largest)
	}
	return &sieve{Filter: f}, nil
}

type sieve struct {
	Filter
	started bool
	index   int64 // of the interval
	left    int64 // how many events it may still have
}

// Sift implements udf.Sieve.
func (s *sieve) Sift(b event.Batch, keep []bool) error {
	ts := b.T()
	for lo := 0; lo < len(ts); {
		if k := floorDiv(ts[lo], s.Interval); !s.started || k != s.index {
			s.started, s.index, s.left = true, k, s.budget(k)
		}
		hi := lo + s.run(ts[lo:])
		pass := int(min(int64(hi-lo), s.left))
		s.left -= int64(pass)
		clear(keep[lo+pass : hi])
		lo = hi
	}
	return nil
}

// run returns how many times, from the first, lie within an interval of it.
func (s *sieve) run(ts []int64) int {
	into := uint64(ts[0]) - uint64(s.index)*uint64(s.Interval) // modulo 2^64, as an interval may begin below int64
	rest := uint64(s.Interval) - into                          // from ts[0] to the interval's end
	for i, t := range ts {
		if uint64(t)-uint64(ts[0]) >= rest {
			return i
		}
	}
	return len(ts)
}

// budget returns how many events interval k may have.
func (s *sieve) budget(k int64) int64 {
	whole, part := s.Rate*s.Interval/second, s.Rate*s.Interval%second
	phase := k % second // the parts add up to whole events in a period of so many intervals
	if phase < 0 {
		phase += second
	}
	if phase*part%second+part >= second {
		whole++
	}
	return whole
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
