package aedat2

import (
	"slices"
	"testing"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/formattest"
)

// TestZeroedBlock takes a block that was never written for damage, in both versions.
func TestZeroedBlock(t *testing.T) {
	const head, head1 = "#!AER-DAT2.0\r\n# AEChip: eu.seebetter.ini.chips.davis.DAVIS346blue\r\n#End Of ASCII Header\r\n", "#!AER-DAT1.0\r\n#End Of ASCII Header\r\n"
	var words, words1 []uint32
	var want, want1 []ev
	for i := range uint32(300) {
		words, words1 = append(words, dv(i, i%260, i%2), 7+i*11), append(words1, dd(i%128, i%127, i%2), 7+i*11)
		want, want1 = append(want, ev{int64(i), int64(i % 260), int64(i % 2), int64(7 + i*11)}), append(want1, ev{int64(i % 128), int64(i % 127), int64(i % 2), int64(7 + i*11)})
	}
	hole := func(data []byte, from, n int) []byte { clear(data[from : from+n]); return data }
	at, at1 := len(head)+100*8, len(head1)+100*6
	formattest.CheckSalvage(t, Format, formattest.Salvage{Name: "2.0", Data: hole(rec(head, words...), at, 800), Offset: int64(at),
		Want: slices.Concat(want[:100], want[200:]), Counters: counts{event.DamagedBytes: 800}})
	formattest.CheckSalvage(t, Format1, formattest.Salvage{Name: "1.0", Data: hole(rec1(head1, words1...), at1, 600), Offset: int64(at1),
		Want: slices.Concat(want1[:100], want1[200:]), Counters: counts{event.DamagedBytes: 600}})
}

// TestZerosAtTheStart are events: nothing says that they are none.
func TestZerosAtTheStart(t *testing.T) {
	formattest.CheckDamages(t, Format, formattest.Damage{Name: "zeros", Policy: format.Policy{}, Offset: -1,
		Data: rec("#!AER-DAT2.0\r\n", append(make([]uint32, 400), dd(1, 2, 1), 9)...)})
}
