package aggregates

import (
	"fmt"
	"math/bits"
	"math/rand/v2"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/udf"
)

// MaxDistinct is how many different values distinct holds in all groups of a window: up to 3 GiB.
const MaxDistinct = 1 << 26

// A TooManyValuesError reports a window with more different values than distinct may hold, by number or by memory.
type TooManyValuesError struct{ Max int }

func (e *TooManyValuesError) Error() string {
	return fmt.Sprintf("more than %d different values in a window, which is what memory allows; use shorter windows or coarser values, or raise --memory", e.Max)
}

// A value is one that a group has, in an open hash table.
type value struct {
	a, b  int64
	group int32
	round uint32 // values of earlier windows are empty places
}

// valueBytes is what a value takes in the table.
const valueBytes = 24

// distincts counts by a set of the values that were met.
type distincts struct {
	table []value // its length is a power of two
	held  int     // values of this round
	max   int
	bytes int64 // what tables may take, the old one beside the new; 0 = any
	round uint32
	seed  uint64 // so that no recording is slow by design
	n     []int64
	zeros []int64 // stands for the second argument
}

func newDistincts(most int) *distincts {
	return &distincts{table: make([]value, 256), max: most, round: 1, seed: rand.Uint64()}
}

// Bound implements udf.Bounded.
func (d *distincts) Bound(bytes int64) { d.bytes = bytes }

// Add implements udf.Accumulator.
func (d *distincts) Add(args [][]int64, of []int32, groups int) error {
	d.n = grown(d.n, groups, 0)
	as, bs := args[0], d.zeros
	if len(args) > 1 {
		bs = args[1]
	} else if len(bs) < len(of) {
		d.zeros = make([]int64, len(of))
		bs = d.zeros
	}
	for i, g := range of {
		if !d.insert(as[i], bs[i], g) {
			continue
		}
		d.n[g]++
		if d.held > d.max {
			return &TooManyValuesError{d.max}
		}
		if d.held > len(d.table)/2 {
			if d.bytes > 0 && 3*int64(len(d.table))*valueBytes > d.bytes {
				return &TooManyValuesError{d.held - 1}
			}
			d.grow()
		}
	}
	return nil
}

// insert adds a value, and reports whether its group did not have it.
func (d *distincts) insert(a, b int64, group int32) bool {
	mask := uint64(len(d.table) - 1)
	for at := d.hash(a, b, group) & mask; ; at = (at + 1) & mask {
		switch v := &d.table[at]; {
		case v.round != d.round:
			*v = value{a, b, group, d.round}
			d.held++
			return true
		case v.a == a && v.b == b && v.group == group:
			return false
		}
	}
}

func (d *distincts) hash(a, b int64, group int32) uint64 {
	return mix(mix(uint64(a)^d.seed, uint64(b)^bits.RotateLeft64(d.seed, 32))^uint64(group), d.seed|1)
}

// mix is the product of 128 bits, folded.
func mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}

// grow moves the values to a table twice as long.
func (d *distincts) grow() {
	old := d.table
	d.table, d.held = make([]value, 2*len(old)), 0
	for _, v := range old {
		if v.round == d.round {
			d.insert(v.a, v.b, v.group)
		}
	}
}

// Values implements udf.Accumulator.
func (d *distincts) Values(_ event.Window, dst *udf.Column) error {
	dst.Ints = append(dst.Ints, d.n...)
	return nil
}

// Reset implements udf.Accumulator.
func (d *distincts) Reset() {
	d.n, d.held = d.n[:0], 0
	if d.round++; d.round == 0 { // the rounds began anew: no old value may be taken for one of this
		clear(d.table)
		d.round = 1
	}
}
