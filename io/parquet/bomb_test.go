package parquet

import (
	"testing"

	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/formattest"
)

// Bytes of the first page's head and of the footer are extreme in turn: counts, sizes and offsets become negative, huge
// or lead back.
func TestSizesAstray(t *testing.T) {
	if testing.Short() {
		t.Skip("thousands of damaged files take seconds")
	}
	data := read(t, write(t, eventtest.Recording(3, 40, sensor), 10, format.CreateOptions{Compression: "none"}))
	h := formattest.Hostile{Format: Format, Known: []error{ErrDamaged}, Policies: []format.Policy{{}}}
	h.Extremes(t, data, 4, 100, 2)
	h.Extremes(t, data, max(100, len(data)-1200), len(data), 2)
}
