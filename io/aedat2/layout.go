package aedat2

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/evq-project/evq/io/event"
)

// A layout says where an address holds what.
type layout struct {
	name                   string
	other                  uint32 // bits of which none is set in the address of an event
	xShift, yShift, pShift uint
	xMask, yMask           uint16
	kind                   func(addr uint32) kind // of an address that is no event's
}

var (
	// davis is that of jAER's DavisChip: bit 31 frames and inertial unit, 30:22 y, 21:12 x, 11 polarity, 10 external input.
	davis = layout{name: "davis", other: 1<<31 | 1<<10, xShift: 12, xMask: 1023, yShift: 22, yMask: 511, pShift: 11, kind: davisKind}
	// dvs128 is that of jAER's DVS128: bit 15 (or 31, where there are 32) external input, 14:8 y, 7:1 x, 0 polarity.
	dvs128 = layout{name: "dvs128", other: 0xFFFF8000, xShift: 1, xMask: 127, yShift: 8, yMask: 127, pShift: 0, kind: dvs128Kind}
)

// A kind is what an address stands for.
type kind uint8

const (
	isEvent kind = iota
	isRising
	isFalling
	isExternal // an edge whose direction is not said
	isReset
	isSignal
	isIMU
	isReserved
)

// kindNames are the names under which words that are neither events nor triggers are counted.
var kindNames = [...]string{isReset: "aps_reset", isSignal: "aps_signal", isIMU: "imu", isReserved: "reserved"}

func (l *layout) kindOf(addr uint32) kind {
	if addr&l.other == 0 {
		return isEvent
	}
	return l.kind(addr)
}

// davisKind tells apart by bits 11:10, and external inputs by jAER's code in bits 2:0, which older files leave at 0.
func davisKind(addr uint32) kind {
	if addr>>31 == 0 {
		switch addr & 7 {
		case 2:
			return isFalling
		case 3, 4: // 4 is a pulse
			return isRising
		}
		return isExternal
	}
	return [4]kind{isReset, isSignal, isReserved, isIMU}[addr>>10&3]
}

func dvs128Kind(addr uint32) kind {
	if addr&(1<<31|1<<15) != 0 {
		return isExternal
	}
	return isReserved
}

// sampled is how many addresses the choice of a layout looks at.
const sampled = 1000

// readSample reads the first addresses.
func readSample(f io.ReaderAt, payload int64, record int) ([]uint32, error) {
	b := make([]byte, sampled*record)
	n, err := f.ReadAt(b, payload)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("reading the first records: %w", err)
	}
	b = b[:n/record*record]
	addrs := make([]uint32, 0, sampled)
	for ; len(b) > 0; b = b[record:] {
		addr := binary.BigEndian.Uint32(b)
		if record == version1.record {
			addr >>= 16
		}
		addrs = append(addrs, addr)
	}
	return addrs, nil
}

// A chip is a camera that jAER knows, by how the name of its class starts.
type chip struct {
	prefix   string // lower case
	layout   *layout
	geometry event.Geometry
}

var chips = []chip{
	{"dvs128", &dvs128, event.Geometry{Width: 128, Height: 128}},
	{"tmpdiff128", &dvs128, event.Geometry{Width: 128, Height: 128}},
	{"davis128", &davis, event.Geometry{Width: 128, Height: 128}},
	{"davis208", &davis, event.Geometry{Width: 208, Height: 192}},
	{"davis240", &davis, event.Geometry{Width: 240, Height: 180}},
	{"davis346", &davis, event.Geometry{Width: 346, Height: 260}},
	{"davis640", &davis, event.Geometry{Width: 640, Height: 480}},
	{"davisrgbw640", &davis, event.Geometry{Width: 640, Height: 480}},
}

// chipOf finds a camera by the name of its class, with or without its package.
func chipOf(name string) (chip, bool) {
	name = strings.ToLower(name[strings.LastIndexByte(name, '.')+1:])
	for _, c := range chips {
		if strings.HasPrefix(name, c.prefix) {
			return c, true
		}
	}
	return chip{}, false
}

// choose says which layout the addresses have and why: the given one, else the camera's, else DAVIS where more than half
// of the first 1,000 addresses have a bit above 15 set.
func (v version) choose(h header, sample []uint32, given string) (l *layout, why string, err error) {
	l, why = &dvs128, "AEDAT 1.0 has 16-bit addresses"
	if v.record == version2.record {
		l, why = guess(sample)
		if c, ok := chipOf(h.chip); ok {
			l, why = c.layout, "the header's AEChip line says "+h.chip
		}
	}
	switch given {
	case "":
		return l, why, nil
	case dvs128.name:
		return &dvs128, "it was given", nil
	case davis.name:
		if v.record != version2.record {
			return nil, "", fmt.Errorf("the layout davis needs 32-bit addresses, which this format does not have; leave --layout out")
		}
		return &davis, "it was given", nil
	}
	return nil, "", fmt.Errorf("there is no layout %q; --layout is dvs128 or davis", given)
}

func guess(sample []uint32) (l *layout, why string) {
	high := 0
	for _, addr := range sample {
		if addr>>16 != 0 {
			high++
		}
	}
	l = &dvs128
	if high*2 > len(sample) {
		l = &davis
	}
	return l, fmt.Sprintf("the header names no camera that is known, and %d of the first %d addresses have a bit above 15 set", high, len(sample))
}

// geometryOf returns the camera's size, unknown where the addresses are a DAVIS's of which nothing else is known.
func geometryOf(l *layout, name string) event.Geometry {
	if c, ok := chipOf(name); ok && c.layout == l {
		return c.geometry
	}
	if l == &dvs128 {
		return chips[0].geometry
	}
	return event.Geometry{}
}

// streams names what the first records hold beside events.
func (l *layout) streams(sample []uint32) []event.Field {
	var frames, imu, external bool
	for _, addr := range sample {
		switch l.kindOf(addr) {
		case isReset, isSignal:
			frames = true
		case isIMU:
			imu = true
		case isRising, isFalling, isExternal:
			external = true
		}
	}
	var out []event.Field
	if frames {
		out = append(out, event.Field{Key: "aps", Value: "samples of frames: left out, counted as unknown[aps_reset] and unknown[aps_signal]"})
	}
	if imu {
		out = append(out, event.Field{Key: "imu", Value: "samples of the inertial unit: left out, counted as unknown[imu]"})
	}
	if external {
		out = append(out, event.Field{Key: "external", Value: "events of the external input: kept as triggers"})
	}
	return out
}
