package aer

import (
	"strings"
	"testing"
	"time"

	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/formattest"
)

// TestSalvageSaysThatThereIsNothing says so in a note: words without times show no damage.
func TestSalvageSaysThatThereIsNothing(t *testing.T) {
	src, err := Format.Open(t.Context(), formattest.File(make([]byte, 4096)), format.Policy{Salvage: true, TimeStep: time.Microsecond})
	if err != nil {
		t.Fatal(err)
	}
	b, rep, err := format.Drain(t.Context(), src)
	if err != nil || b.Len() != 1024 || rep.Lost() || !strings.Contains(strings.Join(rep.Notes, " "), "nothing to salvage") {
		t.Errorf("%d events, %v, notes %q: %v", b.Len(), rep, rep.Notes, err)
	}
}
