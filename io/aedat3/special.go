package aedat3

import (
	"encoding/binary"
	"fmt"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/format"
)

// The channels of triggers.
const (
	channelInput     = 0 // to 2: the external inputs
	channelGenerator = 3
	channelFrame     = 4
	channelExposure  = 5
)

// Special events that are no edges.
const (
	timestampWrap  = 0
	timestampReset = 1
)

// marks says what each kind of special event is: libcaer's caer_special_event_types. Those with a name are no edges.
var marks = [...]struct {
	channel int16
	rising  bool
	name    string
}{
	timestampWrap:  {name: "timestamp wrap"},
	timestampReset: {name: "timestamp reset"},
	2:              {channel: channelInput, rising: true},
	3:              {channel: channelInput},
	4:              {channel: channelInput, rising: true}, // a pulse
	5:              {name: "row without event"},
	6:              {channel: channelInput + 1, rising: true},
	7:              {channel: channelInput + 1},
	8:              {channel: channelInput + 1, rising: true},
	9:              {channel: channelInput + 2, rising: true},
	10:             {channel: channelInput + 2},
	11:             {channel: channelInput + 2, rising: true},
	12:             {channel: channelGenerator, rising: true},
	13:             {channel: channelGenerator},
	14:             {channel: channelFrame, rising: true},
	15:             {channel: channelFrame},
	16:             {channel: channelExposure, rising: true},
	17:             {channel: channelExposure},
	18:             {name: "readout start"},
}

// specials takes all special events that were read: {kind 7:1, valid 0; t i32}.
func (d *decoder) specials() error {
	base := int64(d.head.overflow) << 31
	for len(d.rest) > 0 {
		at := d.offset()
		w, t := binary.LittleEndian.Uint32(d.rest), int32(binary.LittleEndian.Uint32(d.rest[4:]))
		d.rest = d.rest[eventSize:]
		if w&1 == 0 {
			d.rep.CountUnknown("invalid", 1, at)
			continue
		}
		if err := d.special(w>>1&0x7F, base+int64(t), at); err != nil {
			return err
		}
	}
	return nil
}

func (d *decoder) special(kind uint32, t, at int64) error {
	if int(kind) >= len(marks) {
		if d.policy.OnUnknown == format.Error {
			return syntax(at, "a special event is of the unknown kind %d; --on-unknown skip passes over it", kind)
		}
		d.rep.CountUnknown(fmt.Sprintf("special %d", kind), 1, at)
		return nil
	}
	m := marks[kind]
	if kind == timestampReset {
		d.clock.running = false
		d.rep.Note("the camera's clock was reset during the recording and its times start again from 0; they are as stored.")
	}
	if m.name != "" {
		d.rep.CountUnknown(m.name, 1, at)
		return nil
	}
	return d.triggers.Add(event.Trigger{T: t, Channel: m.channel, Rising: m.rising}, d.rep, at)
}
