package order

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
)

// A tape is an input over events in memory, cut into buffers of random length up to batch.
type tape struct {
	events event.Batch
	batch  int
	fail   error // what the tape ends with; nil is io.EOF
	opened int
	probes int
	steady bool // every buffer but the last holds batch events
}

func (s *tape) open(_ context.Context, probe bool) (Input, error) {
	s.opened++
	if probe {
		s.probes++
	}
	return &reel{tape: s, rand: rand.New(rand.NewPCG(1, 2)), pool: event.NewPool(s.batch)}, nil
}

type reel struct {
	tape   *tape
	at     int
	rand   *rand.Rand
	pool   *event.Pool
	closed bool
}

func (r *reel) Next(ctx context.Context) (*event.Buffer, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if r.closed {
		return nil, errors.New("read after close")
	}
	n := r.tape.batch
	if !r.tape.steady {
		n = 1 + r.rand.IntN(n)
	}
	n = min(n, r.tape.events.Len()-r.at)
	if n == 0 {
		if r.tape.fail != nil {
			return nil, r.tape.fail
		}
		return nil, io.EOF
	}
	b := r.pool.Get()
	b.AppendBatch(r.tape.events.Slice(r.at, r.at+n))
	r.at += n
	return b, nil
}

func (r *reel) Close() error {
	if r.closed {
		return errors.New("closed twice")
	}
	r.closed = true
	r.tape.opened--
	return nil
}

// drain applies the policy until the input needs no restart, and returns what came with the last error.
func drain(t testing.TB, s *tape, o Options, rep *event.Report) (event.Batch, error) {
	t.Helper()
	for {
		*rep = event.Report{}
		out, err := drainOnce(t, s, o, rep)
		if !errors.Is(err, event.ErrRestart) {
			return out, err
		}
		if !o.Restartable {
			t.Fatal("a restart that was not allowed")
		}
	}
}

func drainOnce(t testing.TB, s *tape, o Options, rep *event.Report) (event.Batch, error) {
	t.Helper()
	in, err := Apply(t.Context(), s.open, o, rep)
	if err != nil {
		return event.Batch{}, err
	}
	out := event.NewBuffer(s.events.Len())
	for {
		var b *event.Buffer
		if b, err = in.Next(t.Context()); err != nil {
			break
		}
		if b.Len() == 0 {
			t.Error("an empty buffer")
		}
		out.AppendBatch(b.Batch())
		b.Release()
	}
	if err := in.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	if s.opened != 0 {
		t.Errorf("%d inputs left open", s.opened)
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return out.Batch(), err
}

// oracle sorts with the standard library and counts what lies before an earlier event.
func oracle(b event.Batch) (event.Batch, int64) {
	rows := make([]int, b.Len())
	late, now := int64(0), int64(math.MinInt64)
	for i := range rows {
		rows[i] = i
		if b.T()[i] < now {
			late++
		}
		now = max(now, b.T()[i])
	}
	slices.SortStableFunc(rows, func(i, j int) int { return cmp.Compare(b.T()[i], b.T()[j]) })
	out := event.NewBuffer(b.Len())
	for _, i := range rows {
		out.Append(b.T()[i], b.X()[i], b.Y()[i], b.P()[i])
	}
	return out.Batch(), late
}

// jitter makes n events whose times rise by up to rise a step, with some moved back by up to back; every
// event carries its number in x and y.
func jitter(seed uint64, n int, rise, back int64, share float64) event.Batch {
	r := rand.New(rand.NewPCG(seed, 7))
	b := event.NewBuffer(n)
	t := int64(-1000)
	for i := range n {
		t += r.Int64N(rise + 1)
		at := t
		if back > 0 && r.Float64() < share {
			at -= r.Int64N(back + 1)
		}
		b.Append(at, uint16(i), uint16(i>>16), int8(i&1))
	}
	return b.Batch()
}

// tempDir makes a folder for spills and checks at the end that it is empty.
func tempDir(t testing.TB) string {
	dir := t.TempDir()
	t.Cleanup(func() {
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Errorf("%d files left, the first %s", len(left), left[0].Name())
		}
	})
	return dir
}

func TestSortEqualsStableSort(t *testing.T) {
	const n = 8_000
	for _, rise := range []int64{0, 1, 5000} {
		for _, back := range []int64{0, 3, 20_000, 1 << 40} {
			for _, share := range []float64{0.0005, 1} {
				for _, memory := range []int64{1, 300_000, 64 << 20} {
					for _, batch := range []int{1, 100, 5000} {
						if batch == 1 && memory == 300_000 || back == 0 && share == 1 {
							continue
						}
						name := fmt.Sprintf("rise=%d/back=%d/share=%g/memory=%d/batch=%d", rise, back, share, memory, batch)
						t.Run(name, func(t *testing.T) { testSort(t, jitter(3, n, rise, back, share), memory, batch) })
					}
				}
			}
		}
	}
}

func testSort(t *testing.T, in event.Batch, memory int64, batch int) {
	want, late := oracle(in)
	for _, restartable := range []bool{false, true} {
		s := &tape{events: in, batch: batch}
		o := Options{Policy: Sort, Memory: memory, TempDir: tempDir(t), Learned: &Learned{}, Whole: true, Restartable: restartable}
		var rep event.Report
		for scan := range 2 { // the second knows what the first learned
			got, err := drain(t, s, o, &rep)
			if err != nil {
				t.Fatalf("scan %d, restartable %v: %v", scan, restartable, err)
			}
			if d := eventtest.Diff(got, want); d != "" {
				t.Fatalf("scan %d, restartable %v: %s", scan, restartable, d)
			}
			if rep.N(event.Unsorted) != late || rep.Lost() {
				t.Fatalf("scan %d: unsorted = %d, want %d; lost %v", scan, rep.N(event.Unsorted), late, rep.Losses())
			}
		}
		if want := map[bool]int{false: 1, true: 0}[restartable]; s.probes != want {
			t.Errorf("%d probes, want %d", s.probes, want)
		}
	}
}
