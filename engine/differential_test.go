package engine_test

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/evq-project/evq/engine"
	"github.com/evq-project/evq/engine/exec"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/plan/optimize"
)

// A way is one way to run a query: over a source of the same events, with options.
type way struct {
	name string
	src  event.Source
	opts []engine.Option
}

// ways are all of them but the first, which is the plain oracle: the plan as written, over the recording itself.
func ways(t testing.TB, q question, seed uint64) (oracle way, rest []way) {
	memory := func(batch int) event.Source { return eventtest.Source(q.rec, q.size, batch) }
	asked := strict{memory(1), q.rec, seed}
	path := filepath.Join(t.TempDir(), "store.parquet")
	toStore(t, memory(500), path)
	store, err := engine.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	plain := engine.Rules()
	rest = []way{
		{"with all rules", memory(500), nil},
		{"on one thread", memory(500), []engine.Option{engine.Threads(1)}},
		{"on five threads", memory(500), []engine.Option{engine.Threads(5)}},
		{"as written, event by event", memory(1), []engine.Option{plain}},
		{"event by event", memory(1), nil},
		{"in batches of 7", memory(7), nil},
		{"as written, in one batch", memory(1 << 16), []engine.Option{plain}},
		{"in one batch", memory(1 << 16), nil},
		{"from a store, as written", store, []engine.Option{plain}},
		{"from a store", store, nil},
		{"pruned", asked, nil},
	}
	for _, r := range optimize.Default {
		off := []engine.Option{engine.WithoutRule(r.Name)}
		rest = append(rest, way{"pruned, without " + r.Name, asked, off})
	}
	return way{"as written", memory(500), []engine.Option{plain}}, rest
}

// tooLarge reports an error that says that memory does not suffice: not every way needs as much.
func tooLarge(err error) bool {
	var window *exec.WindowTooLargeError
	var groups *exec.TooManyGroupsError
	return errors.As(err, &window) || errors.As(err, &groups) || err != nil && strings.Contains(err.Error(), "--memory")
}

// agree runs a random query in every way, and holds the answers to one another and to plain loops.
func agree(t testing.TB, seed uint64) (naive bool) {
	t.Helper()
	q := ask(seed)
	fail := func(format string, args ...any) {
		t.Helper()
		t.Errorf("seed %d:\n  %s", seed, q.text)
		t.Fatalf(format, args...)
	}
	var limited []engine.Option
	if seed%16 == 5 {
		limited = []engine.Option{engine.Memory(1 << 15)}
	}
	run := func(w way) (answer, error) {
		return q.build(engine.Scan(w.src)).run(t.Context(), append(limited, w.opts...)...)
	}
	first, rest := ways(t, q, seed)
	want, err := run(first)
	if err == nil && q.want != nil {
		if d := q.want.diff(want); d != "" {
			fail("plain loops and the plan as written: %s", d)
		}
	}
	for _, w := range rest {
		got, e := run(w)
		switch {
		case tooLarge(e):
		case tooLarge(err):
			want, err = got, e
		case (e == nil) != (err == nil):
			fail("%s: %v\n%s: %v", first.name, err, w.name, e)
		case e != nil:
			if a, b := nameless(err, first), nameless(e, w); a != b {
				fail("%s: %s\n%s: %s", first.name, a, w.name, b)
			}
		default:
			if d := want.diff(got); d != "" {
				text, _ := q.build(engine.Scan(w.src)).explain(w.opts...)
				fail("%s and %s: %s\n%s", first.name, w.name, d, text)
			}
		}
	}
	if _, e := q.build(engine.Scan(first.src)).analyze(t.Context(), limited...); e != nil && err == nil && !tooLarge(e) {
		fail("analysed: %v", e)
	}
	return err == nil && q.want != nil
}

// nameless is an error without the name of its source.
func nameless(err error, w way) string {
	return strings.ReplaceAll(err.Error(), w.src.String(), "SOURCE")
}

// TestDifferential runs random queries over random recordings in every way there is. EVQ_LONG says how many, where 300
// are too few: `make test-long` runs 10,000. What a seed finds is written out as a case of its own.
func TestDifferential(t *testing.T) {
	n := 300
	if s := os.Getenv("EVQ_LONG"); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil {
			t.Fatal(err)
		}
	}
	naive := 0
	for seed := range uint64(n) {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			if agree(t, seed) {
				naive++
			}
		})
	}
	if naive < n/3 {
		t.Errorf("plain loops told the answer of %d queries of %d only", naive, n)
	}
}

// FuzzDifferential draws the seeds.
func FuzzDifferential(f *testing.F) {
	f.Add(uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64) { agree(t, seed) })
}
