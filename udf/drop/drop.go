// Package drop is the filter that leaves out events by chance.
//
// It draws a number for each event; it refuses to look at it.
package drop

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/udf"
)

// name is what users type.
const name = "drop"

// A Filter drops each event with probability P, independently of all others. Event i of the stream is judged by the
// i-th number of a generator that only the seed determines, so that the same stream always loses the same events.
//
// Source: tonic, DropEvent, is the same in distribution, but that it drops an exact share. The generator is PCG-DXSM
// (O'Neill 2014; math/rand/v2), whose upper 53 bits are compared with P.
type Filter struct {
	P    float64 // 0 to 1
	Seed uint64
}

var _ udf.Filter = Filter{}

// Entry makes the filter available by name.
var Entry = udf.FilterEntry{
	Name:   name,
	Doc:    "drops each event with a given probability, always the same events for the same seed",
	Source: "after tonic, DropEvent; numbers by PCG-DXSM (O'Neill 2014)",
	Params: []udf.Param{
		{Name: "p", Default: "0.5", Doc: "the probability that an event is dropped, 0 to 1"},
		{Name: "seed", Default: "0", Doc: "a whole number that chooses the events"},
	},
	New: fromArgs,
}

func fromArgs(a udf.Args) (udf.Filter, error) {
	p, err := a.Float("p", 0, 1)
	if err != nil {
		return nil, err
	}
	seed, err := strconv.ParseUint(a["seed"], 10, 64)
	if err != nil {
		return nil, fmt.Errorf("seed is a whole number from 0 to 2^64-1, not %q", a["seed"])
	}
	return Filter{P: p, Seed: seed}, nil
}

// String prints the filter as users write it.
func (f Filter) String() string { return fmt.Sprintf("%s(p=%g, seed=%d)", name, f.P, f.Seed) }

// Columns are none.
func (f Filter) Columns() event.Columns { return 0 }

// stream keeps the numbers apart from those of other users of a generator with the same seed.
const stream = 0xda942042e4dd58b5

// Open readies the filter for one stream.
func (f Filter) Open(event.Geometry) (udf.Sieve, error) {
	if !(f.P >= 0 && f.P <= 1) {
		return nil, fmt.Errorf("%s: a probability of %g; 0 to 1 are possible", name, f.P)
	}
	return &sieve{numbers: rand.NewPCG(f.Seed, stream), below: uint64(math.Ceil(f.P * (1 << 53)))}, nil
}

type sieve struct {
	numbers *rand.PCG
	below   uint64 // numbers below are drawn with probability P, of 2^53
}

// Sift implements udf.Sieve.
func (s *sieve) Sift(_ event.Batch, keep []bool) error {
	numbers := *s.numbers
	for i := range keep {
		keep[i] = numbers.Uint64()>>11 >= s.below
	}
	*s.numbers = numbers
	return nil
}
