package arrowipc

import (
	"bytes"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/formattest"
)

// FuzzRead offers files and streams of every compression, one that lost its footer and one that lost a message.
func FuzzRead(f *testing.F) {
	formattest.Hostile{Format: Format, Known: []error{ErrColumns}}.Fuzz(f, hostileSeeds(f)...)
}

func hostileSeeds(t testing.TB) [][]byte {
	two := made(t, false, 2, plainRows, ipc.WithZstd())
	bad := bytes.Clone(two)
	if at := bytes.Index(bad, []byte{0x28, 0xB5, 0x2F, 0xFD}); at >= 0 {
		bad[at] ^= 0xFF
	}
	return [][]byte{
		made(t, false, 1, rows), made(t, true, 1, plainRows), two, made(t, true, 1, rows, ipc.WithLZ4()), bad, cut(two, 10),
	}
}

// Sizes and offsets of the messages and of the footer lead nowhere, around in circles, below zero or far beyond the end.
func TestSizesAstray(t *testing.T) {
	if testing.Short() {
		t.Skip("thousands of damaged files take seconds")
	}
	h := formattest.Hostile{Format: Format, Known: []error{ErrColumns}, Policies: []format.Policy{{}, {Salvage: true, OnUnsorted: format.Clamp}}}
	for _, stream := range []bool{false, true} {
		data := made(t, stream, 1, plainRows, ipc.WithLZ4())
		h.Extremes(t, data, 0, len(data), 4)
		h.Extremes(t, data, 2, len(data), 4)
	}
}
