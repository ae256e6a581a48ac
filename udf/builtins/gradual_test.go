package builtins

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/evq-project/evq/accel/cpu"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/tensor"
	"github.com/evq-project/evq/udf"
)

// gradual returns an encoder for windows in parts; ok is false where the representation takes none.
func gradual(t testing.TB, rep udf.Representation) (e udf.GradualEncoder, ok bool) {
	t.Helper()
	if g, is := rep.(udf.Gradual); !is {
		return nil, false
	} else if ok, _ := g.Gradual(); !ok {
		return nil, false
	}
	plain, err := rep.Open(sensor, cpu.Device)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = plain.Close() })
	e, ok = plain.(udf.GradualEncoder)
	if !ok {
		t.Fatalf("%v says that it is gradual, and its encoder is not", rep)
	}
	return e, true
}

// inParts encodes one window of all events, cut at random into parts of up to most events.
func inParts(t testing.TB, r *rand.Rand, rep udf.Representation, e udf.GradualEncoder, b event.Batch, w event.Window, most int) []byte {
	t.Helper()
	first, last, begin := int64(0), int64(0), event.Window{Start: 123, End: 7}
	if _, foretold := rep.(udf.Gradual).Gradual(); foretold {
		begin.Start, begin.End = w.Start, w.End
		if b.Len() > 0 {
			first, last = b.T()[0], b.T()[b.Len()-1]
		}
	}
	data := bytes.Repeat([]byte{0xa5}, rep.Layout(sensor).Bytes())
	if err := e.Begin(begin, first, last, data); err != nil {
		t.Fatal(err)
	}
	for lo := 0; lo < b.Len(); {
		hi := min(lo+r.IntN(most+1), b.Len())
		if err := e.Add(context.Background(), b.Slice(lo, hi)); err != nil {
			t.Fatal(err)
		}
		lo = hi
	}
	w.Lo, w.Hi = 0, b.Len()
	if err := e.Finish(w); err != nil {
		t.Fatal(err)
	}
	return data
}

// A window in parts has the bytes, the events off the sensor and the notes of a window at once, however it is cut, and
// whatever the encoder did before.
func TestGradual(t *testing.T) {
	recordings := map[string]event.Batch{
		"many": recording(21, 4000, -30_000), "few": recording(22, 9, 5), "none": {}, "one": at(1, 3, 2, 1, 777),
		"equal times": at(500, 4, 4, 0, 42), "all off the sensor": at(50, 60_000, 3, 1, 42),
	}
	seen := 0
	for _, call := range calls {
		rep := made(t, call)
		e, ok := gradual(t, rep)
		if !ok {
			continue
		}
		seen++
		r := rand.New(rand.NewPCG(5, 5))
		plain, err := rep.Open(sensor, cpu.Device)
		if err != nil {
			t.Fatal(err)
		}
		for name, b := range recordings {
			w := whole(b)
			for _, wide := range []int64{0, 50} {
				w.Windows[0].Start -= wide
				w.Windows[0].End += wide
				for _, most := range []int{1, 7, 1000, 10_000} {
					want := []tensor.Block{{Data: make([]byte, rep.Layout(sensor).Bytes())}}
					if err := plain.Encode(context.Background(), w, want); err != nil {
						t.Fatal(err)
					}
					if got := inParts(t, r, rep, e, b, w.Windows[0], most); !bytes.Equal(got, want[0].Data) {
						t.Errorf("%s, %s in parts of up to %d: other bytes than at once", call, name, most)
					}
				}
			}
		}
		if e.OffSensor() != plain.OffSensor() || e.OffSensor() == 0 {
			t.Errorf("%s: %d events off the sensor in parts, %d at once", call, e.OffSensor(), plain.OffSensor())
		}
		if n, ok := e.(udf.Noter); ok && !slices.Equal(n.Notes(), plain.(udf.Noter).Notes()) {
			t.Errorf("%s: notes %q in parts, %q at once", call, n.Notes(), plain.(udf.Noter).Notes())
		}
	}
	if seen < 15 {
		t.Errorf("%d calls are gradual", seen)
	}
}

// What is wrong is said as Encode says it, and a window that broke off leaves nothing behind for the next, in parts or
// at once.
func TestGradualRefuses(t *testing.T) {
	r, b := rand.New(rand.NewPCG(6, 6)), recording(23, 600, 1000)
	for _, call := range calls {
		rep := made(t, call)
		e, ok := gradual(t, rep)
		if !ok {
			continue
		}
		want, _ := encode(t, rep, sensor, whole(b))
		block := []tensor.Block{{Data: make([]byte, len(want[0]))}}
		if err := e.Begin(event.Window{}, 0, 0, make([]byte, 3)); err == nil {
			t.Errorf("%s: a short block was accepted", call)
		}
		broken := func() {
			if err := e.Begin(whole(b).Windows[0], b.T()[0], b.T()[b.Len()-1], block[0].Data); err != nil {
				t.Fatal(err)
			}
			if err := e.Add(context.Background(), b.Slice(0, 400)); err != nil {
				t.Fatal(err)
			}
		}
		broken()
		if err := e.Add(context.Background(), event.New(b.T(), nil, nil, nil)); err == nil {
			t.Errorf("%s: events without pixels were accepted", call)
		}
		bad := at(3, 1, 1, 2, b.T()[b.Len()-1]-1)
		if got, at1 := e.Add(context.Background(), bad), e.Encode(context.Background(), whole(bad), block); rep.Columns().Has(event.ColP) &&
			(got == nil || at1 == nil || got.Error() != at1.Error()) {
			t.Errorf("%s: a polarity of 2: %v in parts, %v at once", call, got, at1)
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		broken()
		if err := e.Add(ctx, b); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: after a cancel: %v", call, err)
		}
		if err := e.Encode(context.Background(), whole(b), block); err != nil || !bytes.Equal(block[0].Data, want[0]) {
			t.Errorf("%s: at once after a window that broke off: %v, or other bytes", call, err)
		}
		broken()
		if !bytes.Equal(inParts(t, r, rep, e, b, whole(b).Windows[0], 50), want[0]) {
			t.Errorf("%s: in parts after a window that broke off: other bytes", call)
		}
	}
}
