package evt3

import (
	"slices"
	"testing"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/formattest"
)

// TestRawWith4KiBZeroedInTheMiddle takes a block that was never written for damage: what follows it is lost until words
// say the time and the place again.
func TestRawWith4KiBZeroedInTheMiddle(t *testing.T) {
	const block = 4096
	before, at := hex(head, "8001 6002 0003 2004"), int64(len(head))+8
	holed := func(n int, after string) []byte { return slices.Concat(before, make([]byte, n), hex("", after)) }
	first := ev{4, 3, 0, 4098}
	formattest.CheckSalvage(t, Format,
		formattest.Salvage{Name: "all is said again", Data: holed(block, "8002 6003 0006 2005 300A 4001"), Offset: at,
			Want: []ev{first, {5, 6, 0, 8195}, {10, 6, 0, 8195}}, Counters: counts{event.DamagedBytes: block, event.PartialVect: 1},
			Notes: []string{"bytes 0x50-0x104f are damaged and left out: 4096 bytes are zeros"}},
		formattest.Salvage{Name: "nothing is known up to each word", Offset: at,
			Data: holed(block, "2001 8001 2002 6004 2003 0007 2004 4003 3010 4001"),
			// Neither the time nor, after it, the row and the base address.
			Want:     []ev{first, {4, 7, 0, 4100}, {16, 7, 0, 4100}},
			Counters: counts{event.DamagedBytes: block, event.BeforeTimeBase: 2, event.MissingY: 1, event.InvalidVectBase: 2, event.PartialVect: 2}},
		formattest.Salvage{Name: "a time high that changes needs no time low", Data: holed(block, "8001 0007 2001 8002 2002"), Offset: at,
			Want: []ev{first, {2, 7, 0, 8192}}, Counters: counts{event.DamagedBytes: block, event.BeforeTimeBase: 1}},
		formattest.Salvage{Name: "the clock goes on over its end", Offset: int64(len(head)) + 8,
			Data: slices.Concat(hex(head, "8FFF 6002 0003 2004"), make([]byte, block), hex("", "8001 6003 0006 2005")),
			Want: []ev{{4, 3, 0, 0xFFF002}, {5, 6, 0, 1<<24 + 4099}}, Counters: counts{event.DamagedBytes: block, event.Wraps: 1}},
		formattest.Salvage{Name: "two blocks, and words cut at their ends", Offset: at,
			// The first block begins with the second byte of the row 0x0005, the other ends with the first of 0x2000.
			Data: slices.Concat(before, []byte{5}, make([]byte, 513), hex("", "8002 6003 0006 2005"), make([]byte, 601), []byte{0x20}, hex("", "8003 6001 0001 2002")),
			Want: []ev{first, {5, 6, 0, 8195}, {2, 1, 0, 12289}}, Counters: counts{event.DamagedBytes: 514 + 602},
			Notes: []string{"bytes 0x50-0x251", "bytes 0x25a-0x4b3"}},
		formattest.Salvage{Name: "longer than a read", Data: holed(3<<20, "8002 6003 0006 2005"), Offset: at,
			Want: []ev{first, {5, 6, 0, 8195}}, Counters: counts{event.DamagedBytes: 3 << 20}},
	)
}

// TestFewZerosAreRows leaves runs alone that are shorter than a sector.
func TestFewZerosAreRows(t *testing.T) {
	for _, size := range []int{0, 1, 64, 500} {
		data := slices.Concat(hex(head, "8001 6002 0003 2004"), make([]byte, 510), hex("", "2005"))
		src, err := Format.Open(t.Context(), formattest.File(data), format.Policy{ReadSize: size})
		if err != nil {
			t.Fatal(err)
		}
		b, rep, err := format.Drain(t.Context(), src)
		if err != nil || b.Len() != 2 || b.Y()[1] != 0 || rep.Lost() {
			t.Errorf("reads of %d: %d events, %v, %v", size, b.Len(), rep, err)
		}
	}
}

// TestZerosAtTheEnd ends a recording at zeros that nothing follows, as at a cut word.
func TestZerosAtTheEnd(t *testing.T) {
	data := append(hex(head, "8001 6002 0003 2004"), make([]byte, 1025)...)
	at := int64(len(head)) + 8
	formattest.CheckDamages(t, Format,
		formattest.Damage{Name: "kept up to them", Data: data, Offset: -1},
		formattest.Damage{Name: "strict", Data: data, Policy: format.Policy{Strict: true}, Offset: at})
	src, err := Format.Open(t.Context(), formattest.File(data), format.Policy{})
	if err != nil {
		t.Fatal(err)
	}
	b, rep, err := format.Drain(t.Context(), src)
	if got, want := rep.Get(event.TrailingBytes), (event.Tally{N: 1025, First: at, Lost: 1025}); err != nil || b.Len() != 1 || got != want {
		t.Errorf("%d events, trailing bytes %+v, want %+v: %v", b.Len(), got, want, err)
	}
}
