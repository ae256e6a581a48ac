package evt2

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/formattest"
)

// TestRawWith4KiBZeroedInTheMiddle takes a block that was never written for damage, though its words would be events.
func TestRawWith4KiBZeroedInTheMiddle(t *testing.T) {
	const block = 4096
	before, at := hex(head, "80000001", cd(3, 5, 1, 7)), int64(len(head))+8
	first := ev{3, 5, 1, 71}
	holed := func(after ...string) []byte { return slices.Concat(before, make([]byte, block), hex("", after...)) }
	formattest.CheckSalvage(t, Format,
		formattest.Salvage{Name: "events up to the next time base have no time", Offset: at,
			Data: holed(cd(1, 1, 0, 8), "A0000001", "80000003", cd(2, 1, 1, 0)),
			Want: []ev{first, {2, 1, 1, 192}}, Counters: counts{event.DamagedBytes: block, event.BeforeTimeBase: 2},
			Notes: []string{"bytes 0x4e-0x104d are damaged and left out: 4096 bytes are zeros, and events up to the next TIME_HIGH"}},
		formattest.Salvage{Name: "words cut at its ends", Offset: at,
			Data: slices.Concat(before, []byte{7, 9}, make([]byte, 600), []byte{8, 1}, hex("", "80000003", cd(2, 1, 1, 0))),
			Want: []ev{first, {2, 1, 1, 192}}, Counters: counts{event.DamagedBytes: 604}},
		formattest.Salvage{Name: "the clock goes on over its end", Offset: int64(len(head)) + 8,
			Data: slices.Concat(hex(head, "8FFFFFFF", cd(3, 5, 1, 7)), make([]byte, block), hex("", "80000001", cd(2, 1, 1, 1))),
			Want: []ev{{3, 5, 1, 1<<34 - 57}, {2, 1, 1, 1<<34 + 65}}, Counters: counts{event.DamagedBytes: block, event.Wraps: 1}},
	)
}

// TestEqualEventsAreNoBlock writes many events of zero bits and reads them all back.
func TestEqualEventsAreNoBlock(t *testing.T) {
	const n = 1000
	path := filepath.Join(t.TempDir(), "equal.evt2")
	sink, err := Format.Create(path, format.Header{}, format.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	b := event.NewBuffer(n)
	for range n {
		b.Append(0, 0, 0, 0)
	}
	if err := sink.Write(t.Context(), b.Batch()); err != nil {
		t.Fatal(err)
	}
	if err := sink.Close(); err != nil {
		t.Fatal(err)
	}
	got, rep, err := format.Drain(t.Context(), formattest.OpenPath(t, Format, path, format.Policy{}))
	if err != nil || got.Len() != n || rep.Lost() {
		t.Errorf("%d events, %v, %v", got.Len(), rep, err)
	}
}
