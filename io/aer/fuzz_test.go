package aer

import (
	"testing"
	"time"

	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/formattest"
)

// FuzzRead offers any words, under a short and a long step of time.
func FuzzRead(f *testing.F) {
	formattest.Hostile{Format: Format, Known: []error{ErrNoTimeStep, ErrBadTimeStep},
		Policies: []format.Policy{every(1), every(100 * time.Hour), {TimeStep: time.Microsecond, Strict: true}, {}},
	}.Fuzz(f, formattest.Seeds(cases)...)
}
