package formattest

import (
	"bytes"
	"context"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"testing"
	"time"

	"github.com/evq-project/evq/io/format"
)

// attempt sniffs, opens and scans damaged bytes. Events and order policies that could hide a difference are off.
func (c Case) attempt(t *testing.T, f format.Format, data []byte, what string) (out outcome) {
	t.Helper()
	defer func() {
		if r := recover(); r != nil {
			t.Fatalf("%s: panic: %v\n%s", what, r, debug.Stack())
		}
	}()
	file, done := c.file(t, data)
	defer done()
	_ = f.Sniff(file)
	ctx, cancel := context.WithTimeout(t.Context(), budget)
	defer cancel()
	start := time.Now()
	p := c.Policy
	p.OnUnsorted, p.OnOffSensor = format.Clamp, format.Keep
	src, err := f.Open(ctx, file, p)
	if err != nil {
		return outcome{err: err}
	}
	defer closeSource(src)
	out = scanAll(ctx, src)
	if time.Since(start) > budget {
		t.Fatalf("%s: not done after %v", what, budget)
	}
	return out
}

// cuts drops every number of bytes from the end: what is left decodes to the first events of the whole, or is an
// error.
func (c Case) cuts(t *testing.T, f format.Format) {
	whole := c.attempt(t, f, c.Data, "the whole recording")
	for _, n := range spread(len(c.Data)) {
		// A copy, so that a read behind the cut cannot go unseen.
		got := c.attempt(t, f, slices.Clone(c.Data[:n]), "cut")
		if c.NoPrefix {
			continue
		}
		if len(got.events) > len(whole.events) {
			t.Fatalf("cut after %d bytes: %d events, the whole has %d", n, len(got.events), len(whole.events))
		}
		if d := difference(got.events, whole.events[:len(got.events)]); d != "" && n > c.head() {
			t.Fatalf("cut after %d bytes: %s", n, d)
		}
	}
}

// head is how many bytes a text header takes: one that is cut may be read as something else.
func (c Case) head() int {
	if i := bytes.Index(c.Data, []byte("% end\n")); i >= 0 && bytes.HasPrefix(c.Data, []byte("% ")) {
		return i + len("% end\n") - 1
	}
	return 0
}

// flips flips bits one at a time.
func (c Case) flips(t *testing.T, f format.Format) {
	data := slices.Clone(c.Data)
	r := rand.New(rand.NewPCG(3, 1))
	for _, at := range spread(len(data)) {
		bit := byte(1) << r.IntN(8)
		data[at] ^= bit
		c.attempt(t, f, data, "one bit flipped")
		data[at] ^= bit
	}
}

// spread returns every number below n, or as many as are tried, the first and the last among them.
func spread(n int) []int {
	k := min(n, damaged)
	out := make([]int, k)
	for i := range out {
		out[i] = int(int64(i) * int64(n) / int64(k))
	}
	if k < n {
		out[k-1] = n - 1
	}
	return out
}
