package aedat4

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

var le = binary.LittleEndian

// prefixed puts the size before a flatbuffer.
func prefixed(b []byte) []byte { return append(le.AppendUint32(nil, uint32(len(b))), b...) }

// rooted starts a flatbuffer whose root table has one field, at 12 bytes from the vtable, and ends where that points.
func rooted(kind string) []byte {
	b := le.AppendUint32(nil, 16)
	b = append(b, kind...)
	b = append(b, 6, 0, 8, 0, 4, 0, 0, 0) // the vtable, at 8
	b = le.AppendUint32(b, 8)             // the table, at 16
	return le.AppendUint32(b, 4)          // the field: the vector follows
}

// eventPacket holds events (x, y, p, t).
func eventPacket(events ...ev) []byte {
	b := le.AppendUint32(rooted(kindEvents), uint32(len(events)))
	for _, e := range events {
		b = le.AppendUint64(b, uint64(e[3]))
		b = le.AppendUint16(b, uint16(e[0]))
		b = le.AppendUint16(b, uint16(e[1]))
		b = append(b, byte(e[2]), 0, 0, 0)
	}
	return prefixed(b)
}

// triggerPacket holds triggers (kind, t).
func triggerPacket(triggers ...[2]int64) []byte {
	b := le.AppendUint32(rooted(kindTriggers), uint32(len(triggers)))
	refs := len(b)
	b = append(b, make([]byte, 4*len(triggers))...)
	vtable := len(b)
	b = append(b, 8, 0, 16, 0, 8, 0, 4, 0)
	for i, tr := range triggers {
		le.PutUint32(b[refs+4*i:], uint32(len(b)-refs-4*i))
		b = le.AppendUint32(b, uint32(len(b)-vtable))
		b = append(b, byte(tr[0]), 0, 0, 0)
		b = le.AppendUint64(b, uint64(tr[1]))
	}
	return prefixed(b)
}

// otherPacket holds nothing that is ever looked at.
func otherPacket(kind string) []byte {
	return prefixed(append(rooted(kind), "\x03\x00\x00\x00 whatever a frame of 16 bits may hold"...))
}

// compress makes a packet's payload.
func compress(c compression, b []byte) []byte {
	var out bytes.Buffer
	switch c {
	case plain:
		return b
	case lz4Fast, lz4High:
		w := lz4.NewWriter(&out)
		level := lz4.Fast
		if c == lz4High {
			level = lz4.Level9
		}
		if err := w.Apply(lz4.CompressionLevelOption(level), lz4.BlockSizeOption(lz4.Block64Kb)); err != nil {
			panic(err)
		}
		if _, err := w.Write(b); err != nil {
			panic(err)
		}
		_ = w.Close()
	default:
		w, err := zstd.NewWriter(&out)
		if err != nil {
			panic(err)
		}
		_, _ = w.Write(b)
		_ = w.Close()
	}
	return out.Bytes()
}

// xmlOf makes the header's XML of streams such as "0 EVTS 346x260 camera".
func xmlOf(streams ...string) string {
	var b strings.Builder
	b.WriteString(`<dv version="2.0"><node name="outInfo" path="/mainloop/Recorder/outInfo/">`)
	for _, s := range streams {
		f := append(strings.Fields(s), "", "", "")
		fmt.Fprintf(&b, `<node name="%s"><attr key="originalOutputName" type="string">out%s</attr><attr key="typeIdentifier" type="string">%s</attr><node name="info">`, f[0], f[0], f[1])
		if w, h, ok := strings.Cut(f[2], "x"); ok {
			fmt.Fprintf(&b, `<attr key="sizeX" type="int">%s</attr><attr key="sizeY" type="int">%s</attr>`, w, h)
		}
		fmt.Fprintf(&b, `<attr key="source" type="string">%s</attr></node></node>`, f[3])
	}
	return b.String() + "</node></dv>\n"
}

// head makes a file up to its first packet.
func head(c compression, table int64, xml string) []byte {
	b := le.AppendUint32(nil, 20)
	b = append(b, kindHeader...)
	b = append(b, 0, 0, 10, 0, 20, 0, 16, 0, 8, 0, 4, 0) // the vtable, at 10
	b = le.AppendUint32(b, 10)                           // the table, at 20
	b = le.AppendUint32(b, 16)                           // to the text
	b = le.AppendUint64(b, uint64(table))
	b = le.AppendUint32(b, uint32(c))
	b = append(prefixedText(b, xml), 0)
	return append([]byte(magic), prefixed(b)...)
}

func prefixedText(b []byte, s string) []byte {
	return append(le.AppendUint32(b, uint32(len(s))), s...)
}

// A packet is one of a stream, before compression.
type packet struct {
	stream int32
	data   []byte
}

func appendPacket(b []byte, stream int32, payload []byte) []byte {
	b = le.AppendUint32(b, uint32(stream))
	return append(le.AppendUint32(b, uint32(len(payload))), payload...)
}

// file makes a recording without a table of packets.
func file(c compression, xml string, packets ...packet) []byte {
	b := head(c, -1, xml)
	for _, p := range packets {
		b = appendPacket(b, p.stream, compress(c, p.data))
	}
	return b
}

// withTable ends a recording with a table of packets, whose contents nobody reads.
func withTable(c compression, xml string, packets ...packet) []byte {
	b := file(c, xml, packets...)
	return slices.Concat(head(c, int64(len(b)), xml), b[len(head(c, -1, xml)):], compress(c, otherPacket("FTAB")))
}
