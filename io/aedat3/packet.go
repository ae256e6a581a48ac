package aedat3

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/format"
)

const (
	headSize  = 28
	eventSize = 8 // of polarity and special events

	special  = 0
	polarity = 1

	// compressed is set in the type of a compressed packet, whose capacity is then its size in bytes.
	compressed = 1 << 15
)

// kinds are libcaer's types of events, and their sizes where they are fixed.
var kinds = [...]struct {
	name string
	size int32
}{
	{"special", eventSize}, {"polarity", eventSize}, {"frame", 0}, {"imu6", 36}, {"imu9", 48}, {"sample", 8}, {"ear", 12}, {"config", 16},
	{"point1d", 0}, {"point2d", 0}, {"point3d", 0}, {"point4d", 0}, {"spike", 8}, {"matrix4x4", 0},
}

// kindName names a type of events.
func kindName(kind uint16) string {
	switch k := kind &^ compressed; {
	case int(k) < len(kinds):
		return kinds[k].name
	default:
		return fmt.Sprintf("type %d", k)
	}
}

// A head is the header of a packet.
type head struct {
	kind                    uint16
	source                  int16
	size, timeAt, overflow  int32
	capacity, number, valid int32
}

func parseHead(b []byte) head {
	i32 := func(at int) int32 { return int32(binary.LittleEndian.Uint32(b[at:])) }
	return head{
		binary.LittleEndian.Uint16(b), int16(binary.LittleEndian.Uint16(b[2:])),
		i32(4), i32(8), i32(12), i32(16), i32(20), i32(24),
	}
}

// body is how many bytes follow the head.
func (h head) body() int64 {
	if h.kind&compressed != 0 {
		return int64(h.capacity)
	}
	return int64(h.size) * int64(h.number)
}

// compressedEvents reports whether events that a scan needs are compressed.
func (h head) compressedEvents() bool {
	return h.kind&compressed != 0 && h.kind&^compressed <= polarity
}

// check says what is wrong with a head, "" where nothing is.
func (h head) check() string {
	kind := h.kind &^ compressed
	switch {
	case h.source < 0 || h.size <= 0 || h.number < 0 || h.overflow < 0 || h.body() < 0:
	case h.timeAt < 0 || int64(h.timeAt)+4 > int64(h.size):
	case int(kind) < len(kinds) && kinds[kind].size != 0 && kinds[kind].size != h.size:
	case kind <= polarity && h.timeAt != 4:
	default:
		return ""
	}
	return fmt.Sprintf("the head of a packet of %d events of type %d, %d bytes each, is damaged", h.number, kind, h.size)
}

// consistent reports whether the numbers of a head agree. Writers of the format keep them so; readers do not need it.
func (h head) consistent() bool { return h.valid >= 0 && h.valid <= h.number && h.number <= h.capacity }

// surveyed is how many packets are looked at before a scan.
const surveyed = 256

// anySource stands for the first source with polarity events.
const anySource = -1

// A glance is what the first packets of a recording are.
type glance struct {
	packets int
	source  int16 // of the first polarity packet, or anySource
	kinds   []uint16
	err     error // what is wrong with the first packet
}

// survey looks at the heads of the first packets.
func survey(f format.File, h *header) glance {
	g := glance{source: anySource}
	var b [headSize]byte
	for at := h.packets; g.packets < surveyed && at+headSize <= f.Size; g.packets++ {
		if n, err := f.ReadAt(b[:], at); n < len(b) {
			g.err = err
			return g
		}
		p := parseHead(b[:])
		if msg := p.check(); msg != "" {
			if g.packets == 0 {
				g.err = syntax(at, "%s", msg)
			}
			return g
		}
		if p.kind == polarity && g.source == anySource {
			g.source = p.source
		}
		if !slices.Contains(g.kinds, p.kind) {
			g.kinds = append(g.kinds, p.kind)
		}
		at += headSize + p.body()
	}
	return g
}

// others says what becomes of the packets that hold no polarity events.
func (g glance) others(int16) (out []event.Field) {
	for _, k := range g.kinds {
		switch k {
		case polarity:
		case special:
			out = append(out, event.Field{Key: kindName(k), Value: "kept as triggers where it is an edge"})
		default:
			out = append(out, event.Field{Key: kindName(k), Value: "left out; its events are counted"})
		}
	}
	return out
}
