package dat

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/rawheader"
)

// bits are where x, y and p stand in the second half of a record; x starts at bit 0.
type bits struct {
	xMask, yMask, pMask uint32
	yShift, pShift      uint8
}

var (
	bits1 = bits{xMask: 1<<9 - 1, yMask: 1<<8 - 1, pMask: 1, yShift: 9, pShift: 17}
	bits2 = bits{xMask: 1<<14 - 1, yMask: 1<<14 - 1, pMask: 1<<4 - 1, yShift: 14, pShift: 28}
)

// A version is a layout of the records.
type version struct {
	name string
	bits bits
	note string // how it was found out, where the file does not say it
}

// probed is how many records a version is told from.
const probed = 1000

// versionOf returns the version of a recording, whose records start at h.Payload. A layout that was chosen, v1 or v2,
// wins; then the header's Version decides. Where there is none, version 1 is told by its empty upper bits: it is taken
// where no record at the start has a bit above 17 set, which in version 2 are OFF events in the first 16 rows alone.
func versionOf(f format.File, h rawheader.Header, layout string) (version, error) {
	switch strings.ToLower(layout) {
	case "v1":
		return version{name: "1", bits: bits1}, nil
	case "v2":
		return version{name: "2", bits: bits2}, nil
	case "", "auto":
	default:
		return version{}, fmt.Errorf("%s: the layout is one of auto, v1, v2, not %q", name, layout)
	}
	switch v := field(h, "Version"); v {
	case "1":
		return version{name: v, bits: bits1}, nil
	case "2":
		return version{name: v, bits: bits2}, nil
	case "", "0":
		return guess(f, h.Payload)
	default:
		return version{}, fmt.Errorf("%s: version %s is not supported; pass --layout v1 or v2 if the records are those of a version before", name, v)
	}
}

func guess(f format.File, start int64) (version, error) {
	b := make([]byte, min(probed, max(f.Size-start, 0)/recordSize)*recordSize)
	if n, err := f.ReadAt(b, start); n < len(b) {
		return version{}, fmt.Errorf("%s: reading the first records: %w", name, err)
	}
	var seen uint32
	for i := 0; i < len(b); i += recordSize {
		seen |= binary.LittleEndian.Uint32(b[i+4:])
	}
	switch {
	case len(b) == 0:
		return version{name: "2", bits: bits2}, nil
	case seen>>18 == 0:
		return version{name: "1", bits: bits1, note: "The file does not say its version. No bit above those of version 1 is set, so it is read as that; --layout v2 overrides."}, nil
	}
	return version{name: "2", bits: bits2, note: "The file does not say its version. Bits above those of version 1 are set, so it is read as version 2; --layout v1 overrides."}, nil
}
