//go:build hdf5 && cgo

package hdf5

import (
	"os"
	"testing"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/formattest"
)

func TestSuite(t *testing.T) {
	if testing.Short() {
		t.Skip("thousands of damaged files take seconds")
	}
	b := eventtest.Recording(9, 300, vga)
	data, err := os.ReadFile(written(t, b, ""))
	if err != nil {
		t.Fatal(err)
	}
	small := formattest.Case{Name: "small", Data: data, OnDisk: true, Counters: map[event.Counter]int64{}}
	for i := range b.Len() {
		small.Want = append(small.Want, formattest.Event{int64(b.X()[i]), int64(b.Y()[i]), int64(b.P()[i]), b.T()[i]})
	}
	formattest.Run(t, Format, small)
}
