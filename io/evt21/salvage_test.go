package evt21

import (
	"slices"
	"testing"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/formattest"
)

// TestRawWith4KiBZeroedInTheMiddle takes a block that was never written for damage, in both word orders.
func TestRawWith4KiBZeroedInTheMiddle(t *testing.T) {
	const block = 4096
	after := []string{cd(1, 1, 0, 8, 7), base(3), cd(2, 1, 1, 0, 1)}
	before := []string{base(1), cd(3, 5, 1, 7, 1<<31|1)}
	want := []ev{{3, 5, 1, 71}, {34, 5, 1, 71}, {2, 1, 1, 192}}
	counted := counts{event.DamagedBytes: block, event.BeforeTimeBase: 3}
	formattest.CheckSalvage(t, Format,
		formattest.Salvage{Name: "little", Data: slices.Concat(hex(plain, before...), make([]byte, block), hex("", after...)),
			Offset: int64(len(plain)) + 16, Want: want, Counters: counted, Notes: []string{"bytes 0x69-0x1068 are damaged"}},
		formattest.Salvage{Name: "legacy", Data: slices.Concat(turned(legacyHead, before...), make([]byte, block), turned("", after...)),
			Offset: int64(len(legacyHead)) + 16, Want: want, Counters: counted})
}

// TestReservedWordMidFile passes over a word of a reserved type: it is counted, and nothing is lost.
func TestReservedWordMidFile(t *testing.T) {
	data := hex(plain, base(1), cd(3, 5, 1, 7, 1), "7000000000000001", cd(4, 6, 0, 8, 1))
	src, err := Format.Open(t.Context(), formattest.File(data), format.Policy{})
	if err != nil {
		t.Fatal(err)
	}
	b, _, rep := formattest.Collect(t, src)
	if b.Len() != 2 || rep.UnknownKinds()["0x7"] != 1 || rep.Lost() {
		t.Errorf("%d events, %v", b.Len(), rep)
	}
}
