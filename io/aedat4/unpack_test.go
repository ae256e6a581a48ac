package aedat4

import (
	"math/rand/v2"
	"testing"

	"github.com/evq-project/evq/io/event"
)

// Events come out of their blocks as they are stored, behind those that the buffer holds, and no bit of a polarity is
// missed.
func TestUnpack(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	for _, n := range []int{0, 1, blockEvents - 1, blockEvents, blockEvents + 1, 5*blockEvents + 7} {
		var in []byte
		var seen byte
		for range n {
			in = le.AppendUint64(in, r.Uint64())
			in = le.AppendUint64(in, r.Uint64())
			seen |= in[len(in)-4]
		}
		b := event.NewBuffer(n + 3)
		b.Resize(n + 3)
		b.T[2], b.X[2], b.Y[2], b.P[2] = 1, 2, 3, 4
		if got := unpack(b, 3, in); got != seen {
			t.Errorf("%d events: the polarities have the bits %08b, want %08b", n, got, seen)
		}
		if b.T[2] != 1 || b.X[2] != 2 || b.Y[2] != 3 || b.P[2] != 4 {
			t.Errorf("%d events: the one before is lost", n)
		}
		for i := range n {
			e := in[i*eventSize:]
			if b.T[3+i] != int64(le.Uint64(e)) || b.X[3+i] != le.Uint16(e[8:]) || b.Y[3+i] != le.Uint16(e[10:]) || b.P[3+i] != int8(e[12]) {
				t.Fatalf("event %d of %d: %d, %d, %d, %d of % x", i, n, b.T[3+i], b.X[3+i], b.Y[3+i], b.P[3+i], e[:eventSize])
			}
		}
	}
}
