package parquet

import (
	"testing"

	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/formattest"
)

// FuzzRead offers stores of every compression, a file of another program's layout, and what the engine makes of them.
func FuzzRead(f *testing.F) {
	b := eventtest.Recording(3, 40, sensor)
	var seeds [][]byte
	for _, c := range []string{"zstd", "lz4", "none"} {
		seeds = append(seeds, read(f, write(f, b, 10, format.CreateOptions{Compression: c})))
	}
	formattest.Hostile{Format: Format, Known: []error{ErrDamaged}}.Fuzz(f, seeds...)
}
