package formattest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"regexp"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/format"
)

const (
	// MaxAllocated bounds what one scan of hostile bytes may allocate, all of its buffers together.
	MaxAllocated = 256 << 20
	// hostileBudget bounds how long it may take: less than the fuzzing engine's own limit, and far longer than any needs.
	hostileBudget = 8 * time.Second
	// hostileEvents are enough of a recording that is small and says that it is endless.
	hostileEvents = 1 << 20
)

// A Hostile is a format that is offered any bytes whatever.
type Hostile struct {
	Format format.Format
	// Policies are the ones it is opened under, each after the other; none are the default and salvage.
	Policies []format.Policy
	// Known are the errors that a scan may end with beside a *format.SyntaxError.
	Known []error
	// OnDisk puts the bytes into a file, for formats whose libraries open files themselves.
	OnDisk bool
}

// Fuzz offers seeds, and whatever the engine makes of them.
func (h Hostile) Fuzz(f *testing.F, seeds ...[]byte) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, data []byte) { _ = h.Check(t, data) })
}

// Check sniffs, opens and scans data. It fails the test at a scan that takes too much memory or time, at an error that
// says neither which format nor where, and at a confidence that is none; it returns the error of the first policy.
func (h Hostile) Check(t testing.TB, data []byte) error {
	t.Helper()
	policies := h.Policies
	if policies == nil {
		policies = []format.Policy{{}, {Salvage: true, OnUnsorted: format.Clamp, OnOffSensor: format.Keep}}
	}
	file, done := Case{Name: "hostile", OnDisk: h.OnDisk}.file(t, data)
	defer done()
	if p := h.Format.Sniff(file); p.Confidence < 0 || p.Confidence > 1 || p.Confidence > 0 && p.Why == "" {
		t.Errorf("the proof is %+v", p)
	}
	var first error
	for i, p := range policies {
		started, before := time.Now(), allocated()
		err := h.scan(t, file, p)
		if n := allocated() - before; n > MaxAllocated {
			t.Errorf("policy %d: %d MiB allocated for %d bytes; the error is %v", i, n>>20, len(data), err)
		}
		if took := time.Since(started); took > hostileBudget {
			t.Errorf("policy %d: %v for %d bytes; the error is %v", i, took, len(data), err)
		}
		if i == 0 {
			first = err
		}
	}
	return first
}

// Extremes puts extreme numbers in the place of each width bytes of data from from to to, one place at a time: sizes
// and offsets among them lead nowhere, around in circles, below zero or far beyond the end.
func (h Hostile) Extremes(t *testing.T, data []byte, from, to, width int) {
	t.Helper()
	if t.Failed() {
		return
	}
	for at := from; at+width <= to; at += width {
		tried := map[string]bool{}
		for _, v := range [][8]byte{
			{}, {1}, {4}, {0x7F}, {0xFF, 0xFF}, {0, 0, 0, 0x40}, {0xFF, 0xFF, 0xFF, 0x7F}, {0, 0, 0, 0x80}, {0xFC, 0xFF, 0xFF, 0xFF},
			{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F}, {0, 0, 0, 0, 0, 0, 0, 0x80}, {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF},
		} {
			bad := bytes.Clone(data)
			copy(bad[at:at+width], v[:])
			if tried[string(bad[at:at+width])] {
				continue // the values differ further on
			}
			tried[string(bad[at:at+width])] = true
			if _ = h.Check(t, bad); t.Failed() {
				t.Fatalf("bytes %d to %d are % x", at, at+width-1, v[:width])
			}
		}
	}
}

// scan opens and reads a file, at most hostileEvents of it.
func (h Hostile) scan(t testing.TB, file format.File, p format.Policy) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*hostileBudget)
	defer cancel()
	src, err := h.Format.Open(ctx, file, p)
	if err != nil {
		if !strings.HasPrefix(err.Error(), h.Format.Name+": ") && !h.known(err) {
			t.Errorf("an error that does not name the format: %v", err)
		}
		return err
	}
	defer closeSource(src)
	want := event.All
	want.Restartable = true
	want.Triggers = func([]event.Trigger) error { return nil }
	st, err := src.Scan(ctx, want)
	for n := 0; err == nil && n < hostileEvents; {
		var b event.Batch
		if b, err = st.Next(ctx); err == nil {
			n += b.Len()
			b.Release()
		}
	}
	if st != nil {
		if e := st.Close(); e != nil {
			t.Errorf("closing: %v", e)
		}
	}
	if errors.Is(err, io.EOF) || errors.Is(err, event.ErrRestart) {
		return nil
	}
	if err != nil && !h.known(err) && !(strings.HasPrefix(err.Error(), h.Format.Name+": ") && place.MatchString(err.Error())) {
		t.Errorf("an error that says neither by its type nor in words what is wrong and where: %v", err)
	}
	return err
}

func (h Hostile) known(err error) bool {
	var syntax *format.SyntaxError
	if errors.As(err, &syntax) {
		return true
	}
	for _, k := range h.Known {
		if errors.Is(err, k) {
			return true
		}
	}
	return false
}

// place is where in a recording something lies, in the words of those that count rows instead of bytes.
var place = regexp.MustCompile(`rows? (from )?\d+|\[\d+\]`)

// allocated is how many bytes the process has allocated so far, freed ones as well.
func allocated() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// Seeds are the bytes of cases.
func Seeds(of ...[]Case) (out [][]byte) {
	for _, cases := range of {
		for _, c := range cases {
			out = append(out, bytes.Clone(c.Data))
		}
	}
	return out
}
