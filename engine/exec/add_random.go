package exec

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"sort"

	"github.com/evq-project/evq/io/event"
)

// AddRandom adds N events at random: uniform in time from the first event to the last, in the pixels of Region, and in
// polarity. It reads First to its end for these times. Of equal times the recording's events come first.
type AddRandom struct {
	In     EventOp
	N      int64
	Seed   uint64
	Region event.Box               // X0 to X1 and Y0 to Y1
	First  func() (EventOp, error) // the times of the same events once more

	noise   *noise
	b       event.Batch // what is left of the batch at hand
	owner   event.Batch
	pool    *event.Pool
	inEnded bool
}

func (a *AddRandom) String() string {
	return fmt.Sprintf("add %d random events, in two passes: first and last time, then all", a.N)
}

// Input implements Operator.
func (a *AddRandom) Input() Operator { return a.In }

// Close implements Operator.
func (a *AddRandom) Close() error { return a.In.Close() }

// Next returns the next events of both, in order of time.
func (a *AddRandom) Next(ctx context.Context) (event.Batch, error) {
	if err := a.start(ctx); err != nil {
		return event.Batch{}, err
	}
	for a.b.Len() == 0 && !a.inEnded {
		a.owner.Release()
		a.owner = event.Batch{}
		b, err := a.In.Next(ctx)
		if errors.Is(err, io.EOF) {
			a.inEnded = true
			break
		}
		if err != nil {
			return event.Batch{}, err
		}
		a.owner, a.b = b, b
	}
	out := a.pool.Get()
	for a.b.Len() > 0 && out.Len() < noiseBatch {
		t, more := a.noise.time()
		n := a.b.Len()
		if more {
			n = sort.Search(n, func(i int) bool { return a.b.T()[i] > t })
		}
		out.AppendBatch(a.b.Slice(0, n))
		a.b = a.b.Slice(n, a.b.Len())
		if more && a.b.Len() > 0 {
			a.noise.take(out)
		}
	}
	for a.inEnded && out.Len() < noiseBatch {
		if _, more := a.noise.time(); !more {
			break
		}
		a.noise.take(out)
	}
	if out.Len() == 0 {
		out.Release()
		return event.Batch{}, io.EOF
	}
	return out.Batch(), nil
}

// noiseBatch is how many events a batch holds, beside one run of the recording's.
const noiseBatch = 1 << 16

// start finds the times between which the events fall. Without an event there are none.
func (a *AddRandom) start(ctx context.Context) (err error) {
	if a.noise != nil {
		return nil
	}
	op, err := a.First()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, op.Close()) }()
	some, first, last := false, int64(0), int64(0)
	for {
		b, err := op.Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if b.Len() > 0 {
			if !some {
				some, first = true, b.T()[0]
			}
			last = b.T()[b.Len()-1]
		}
		b.Release()
	}
	a.pool = event.NewPool(noiseBatch)
	a.noise = &noise{r: rand.New(rand.NewPCG(a.Seed, 0x9e3779b97f4a7c15)), at: first, last: last, region: a.Region}
	if some {
		a.noise.left = a.N
	}
	a.noise.draw()
	return nil
}

// noise draws events in order of time without holding them: the least of n uniform times from at to last is drawn
// from the distribution of that minimum, and the rest lie uniformly behind it (Devroye 1986, chapter V.3).
type noise struct {
	r        *rand.Rand
	at, last int64
	left     int64
	region   event.Box
	next     int64
}

func (n *noise) time() (t int64, more bool) { return n.next, n.left > 0 }

func (n *noise) draw() {
	if n.left <= 0 {
		return
	}
	span := float64(uint64(n.last) - uint64(n.at))
	step := span * (1 - math.Pow(n.r.Float64(), 1/float64(n.left)))
	n.next = min(n.at+int64(step), n.last)
	n.at = n.next
}

// take appends the next event and draws another.
func (n *noise) take(to *event.Buffer) {
	x := n.region.X0 + uint16(n.r.IntN(int(n.region.X1-n.region.X0)+1))
	y := n.region.Y0 + uint16(n.r.IntN(int(n.region.Y1-n.region.Y0)+1))
	to.Append(n.next, x, y, int8(n.r.IntN(2)))
	n.left--
	n.draw()
}
