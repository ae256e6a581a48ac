package evt2

import (
	"testing"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/formattest"
)

// An event before the first time base has no time: it is dropped and counted, and no 32-bit arithmetic makes it a late
// one.
func TestEventBeforeTheFirstTimeHigh(t *testing.T) {
	src, err := Format.Open(t.Context(), formattest.File(hex(head, cd(1, 1, 0, 3), "80000001", cd(2, 1, 0, 1))), format.Policy{})
	if err != nil {
		t.Fatal(err)
	}
	got, _, rep := formattest.Collect(t, src)
	if got.Len() != 1 || got.T[0] != 65 || rep.N(event.BeforeTimeBase) != 1 {
		t.Errorf("%d events, %v", got.Len(), rep)
	}
}
