package aedat4

import (
	"bytes"
	"testing"

	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/formattest"
)

var hostile = formattest.Hostile{Format: Format, Policies: []format.Policy{{Memory: 1}, {Memory: 1, Salvage: true}}}

// Frames that declare sizes which nothing of theirs needs end in an error, or are read in the memory that there is.
func TestDeclaredSizes(t *testing.T) {
	huge := []byte{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F}
	for name, c := range map[string]struct {
		of      compression
		payload []byte
	}{
		"zstd, content":       {zstdFast, append(append(bytes.Clone(zstdMagic), 0xE0), huge...)},
		"zstd, window":        {zstdFast, append(bytes.Clone(zstdMagic), 0x00, 0xFF, 1, 0, 0)},
		"zstd, run of a byte": {zstdFast, append(append(append(bytes.Clone(zstdMagic), 0xE0), huge...), 0x02, 0x00, 0x10, 0)},
		"lz4, content":        {lz4Fast, append(append(append(bytes.Clone(lz4Magic), 0x68, 0x70), huge...), 0, 0xFF, 0xFF, 0xFF, 0x7F)},
		"lz4, block":          {lz4Fast, append(bytes.Clone(lz4Magic), 0x60, 0x70, 0x73, 0xFF, 0xFF, 0xFF, 0x7F)},
	} {
		data := append(file(c.of, davis, packet{0, eventPacket(first...)}), appendPacket(nil, 0, c.payload)...)
		data = append(data, appendPacket(nil, 0, compress(c.of, eventPacket(third...)))...)
		if err := hostile.Check(t, data); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// Every offset, size and count of the header and of packets leads astray.
func TestOffsetsAstray(t *testing.T) {
	data := file(plain, davis, packet{3, triggerPacket([2]int64{1, epoch}, [2]int64{0, epoch + 1})}, packet{0, eventPacket(first...)}, packet{1, otherPacket(kindFrames)})
	xml := bytes.Index(data, []byte("<dv"))
	for shift := range 2 { // flatbuffers hold numbers of two and of four bytes
		hostile.Extremes(t, data, len(magic)+2*shift, xml, 4)
		hostile.Extremes(t, data, len(head(plain, -1, davis))+2*shift, len(data), 4)
	}
}
