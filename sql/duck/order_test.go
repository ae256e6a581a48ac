package duck

import (
	"math/rand/v2"
	"testing"

	"github.com/evq-project/evq/io/event"
)

// Runs that come in any order are put together again, and events of one time stay in the order of their run.
func TestInOrder(t *testing.T) {
	const n = 5000
	all := columnsOf(n)
	for i := range n {
		all.t[i], all.x[i], all.y[i], all.p[i] = int64(i/3), uint16(i), uint16(i>>8), int8(i&1)
	}
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 1))
		var parts []run
		for lo := 0; lo < n; {
			hi := min(lo+3*(1+r.IntN(400)), n) // parts begin with a new time
			parts, lo = append(parts, run{lo, hi}), hi
		}
		r.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
		mixed, at := columnsOf(n), 0
		for _, p := range parts {
			mixed.copy(at, all.batch().Slice(p.lo, p.hi))
			at += p.hi - p.lo
		}
		got := inOrder(mixed.batch())
		for i := range n {
			if got.T()[i] != all.t[i] || got.X()[i] != all.x[i] || got.Y()[i] != all.y[i] || got.P()[i] != all.p[i] {
				t.Fatalf("seed %d: event %d differs", seed, i)
			}
		}
	}
	if got := inOrder(event.Batch{}); got.Len() != 0 {
		t.Error(got)
	}
}
