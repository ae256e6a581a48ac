package dat

import (
	"slices"
	"testing"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/formattest"
)

// TestZeroedBlock takes a block that was never written for damage: its records would be events of time 0.
func TestZeroedBlock(t *testing.T) {
	var events, want []ev
	for i := range int64(300) {
		events = append(events, ev{i, i % 201, i % 2, 7 + i*11})
	}
	want = slices.Concat(events[:100], events[200:])
	data := v2(head+cd, events...)
	at := len(head+cd) + 100*recordSize
	clear(data[at : at+100*recordSize])
	formattest.CheckSalvage(t, Format, formattest.Salvage{Name: "in the middle", Data: data, Offset: int64(at), Want: want,
		Counters: map[event.Counter]int64{event.DamagedBytes: 800}})
}
