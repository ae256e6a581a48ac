package nmnist

import (
	"slices"
	"testing"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/formattest"
)

// TestZeroedBlock takes a block that was never written for damage, and the records that it cuts with it.
func TestZeroedBlock(t *testing.T) {
	var events []ev
	for i := range int64(1000) {
		events = append(events, ev{i * 7 % 34, i * 5 % 33, i / 3 % 2, 300 + i*11})
	}
	data := rec(events...)
	clear(data[503:1100]) // from the fourth byte of record 100 to the last of record 219
	formattest.CheckSalvage(t, Format, formattest.Salvage{
		Name: "in the middle", Data: data, Offset: 500, Want: slices.Concat(events[:100], events[220:]),
		Counters: counts{event.DamagedBytes: 600}, Notes: []string{"bytes 0x1f4-0x44b are damaged"}})
}

// TestZerosAtTheStart are events: nothing says that they are none.
func TestZerosAtTheStart(t *testing.T) {
	formattest.CheckDamages(t, Format, formattest.Damage{Name: "zeros", Data: append(make([]byte, 1000), rec(rising(40)...)...), Policy: format.Policy{}, Offset: -1})
}
