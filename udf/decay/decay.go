// Package decay computes how much of an event is left after some time, for surfaces that fade.
//
// It knows microseconds and numbers only: no events, no pixels.
package decay

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/evq-project/evq/udf"
)

// Kind says how an event fades.
type Kind uint8

const (
	// Exp leaves exp(-d/tau).
	Exp Kind = iota
	// Linear leaves max(1-d/reach, 0).
	Linear
)

// String returns the word users type.
func (k Kind) String() string { return [...]string{"exp", "linear"}[k] }

// MaxTau is the longest time constant: an hour.
const MaxTau = 3_600_000_000

// Param is the parameter decay, which Of reads.
func Param() udf.Param {
	return udf.WordParam("decay", "how an event fades: exponentially, or linearly", Exp, Linear)
}

// Of reads the parameter of Param.
func Of(a udf.Args) Kind { return udf.Word(a, "decay", Exp, Linear) }

// Check reports a kind or a time constant that is not possible.
func Check(k Kind, tau int64) error {
	if k > Linear {
		return fmt.Errorf("decay %d has no name; use the constants", k)
	}
	if tau < 1 || tau > MaxTau {
		return fmt.Errorf("tau is %d us; 1 to %d are possible", tau, int64(MaxTau))
	}
	return nil
}

// A Curve is how events fade with one time constant. It serves any number of goroutines.
//
// An exponential is the product of two from tables: one of whole steps, one of the rest. That is within 3 units in
// the last place of a float64 and several times faster than computing it.
type Curve struct {
	end          uint64 // nothing is left from here on
	reach        float64
	linear       bool
	shift        uint
	coarse, fine []float64
}

// gone is -ln of what a float32 rounds to 0: half of its smallest value, 2^-150.
const gone = 150 * math.Ln2

// New makes the curve of a kind with the time constant tau in microseconds, which Check must have passed; a linear
// one reaches 0 after linearTaus times tau.
func New(k Kind, tau int64, linearTaus int64) *Curve {
	if k == Linear {
		reach := uint64(tau) * uint64(linearTaus)
		return &Curve{end: reach, reach: float64(reach), linear: true}
	}
	c := &Curve{end: uint64(math.Ceil(gone * float64(tau)))}
	c.shift = uint(bits.Len64(c.end)) / 2
	c.fine = make([]float64, 1<<c.shift)
	for i := range c.fine {
		c.fine[i] = math.Exp(-float64(i) / float64(tau))
	}
	c.coarse = make([]float64, c.end>>c.shift+1)
	for i := range c.coarse {
		c.coarse[i] = math.Exp(-float64(uint64(i)<<c.shift) / float64(tau))
	}
	return c
}

// At returns what is left of an event after d microseconds, in [0, 1]. It never rises with d.
func (c *Curve) At(d uint64) float64 {
	if d >= c.end {
		return 0
	}
	if c.linear {
		return 1 - float64(d)/c.reach
	}
	return c.coarse[d>>c.shift] * c.fine[d&(1<<c.shift-1)]
}
