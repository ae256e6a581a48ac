package aedat4

import (
	"fmt"
	"math"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/flatbuffer"
	"github.com/evq-project/evq/io/format"
)

// A track is what a scan knows of one stream.
type track struct {
	id     int32
	kind   string // of its packets, as the header or the first of them says
	name   string // under which its packets are counted
	opened bool   // a packet was opened and holds what kind says
	read   bool   // its packets are opened, all of them
}

// maxTracks bounds the streams that a scan keeps; packets of more are opened one by one.
const maxTracks = 1024

// track returns the track of a stream.
func (d *decoder) track(id int32) *track {
	for i := range d.tracks {
		if d.tracks[i].id == id {
			return &d.tracks[i]
		}
	}
	tr := track{id: id}
	if s := d.header.stream(id); s != nil {
		tr.kind = s.kind
	}
	if len(d.tracks) == maxTracks {
		return &tr
	}
	d.tracks = append(d.tracks, tr)
	return &d.tracks[len(d.tracks)-1]
}

// open takes what a packet of a stream holds.
func (d *decoder) open(tr *track, fb []byte) error {
	kind := flatbuffer.Kind(fb)
	if !tr.opened || kind != tr.kind {
		if !plausible(kind, tr.kind) {
			return syntax(d.at, "a packet of stream %d, %q, says that it is %q", tr.id, tr.kind, kind)
		}
		if kind == kindEvents && d.chosen == anyStream {
			d.chosen = tr.id
		}
		d.settle(tr, kind)
	}
	if !tr.read {
		d.rep.CountUnknown(tr.name, 1, d.at)
		return nil
	}
	root, err := flatbuffer.Root(fb)
	if err == nil && kind == kindEvents {
		d.origin = d.at
		if d.events, _, err = root.Vector(0, eventSize); err == nil && d.policy.Salvage {
			err = d.vet()
		}
	} else if err == nil {
		return d.trigger(root)
	}
	if err != nil {
		return syntax(d.at, "a packet of stream %d: %v", tr.id, err)
	}
	return nil
}

// plausible reports whether packets that were announced as one kind can be of another. Identifiers that nobody knows
// are right where nothing else was announced.
func plausible(kind, announced string) bool {
	switch kind {
	case kindEvents, kindTriggers, kindFrames, kindIMU:
		return true
	}
	if len(kind) != 4 || announced != "" && announced != kind {
		return false
	}
	for _, c := range []byte(kind) {
		if c <= ' ' || c > '~' {
			return false
		}
	}
	return true
}

// settle decides what becomes of a stream's packets.
func (d *decoder) settle(tr *track, kind string) {
	tr.kind, tr.name, tr.opened = kind, kind, true
	switch kind {
	case kindEvents:
		tr.read = tr.id == d.chosen
		tr.name = fmt.Sprintf("%s stream %d", kind, tr.id)
	case kindTriggers:
		tr.read = d.header.sameCamera(tr.id, d.chosen)
		tr.name = fmt.Sprintf("%s stream %d", kind, tr.id)
	default:
		tr.read = false
	}
}

// The channels of triggers, and what their kinds are called where they have no edge.
const (
	channelSignal    = 0
	channelGenerator = 3
	channelFrame     = 4
	channelExposure  = 5

	kindReset = 0
)

// edges says what each kind of trigger is: dv-processing's TriggerType.
var edges = [...]struct {
	channel int16
	rising  bool
}{
	1: {channelSignal, true}, // rising edge
	2: {channelSignal, false},
	3: {channelSignal, true}, // pulse
	4: {channelGenerator, true},
	5: {channelGenerator, false},
	6: {channelFrame, true},
	7: {channelFrame, false},
	8: {channelExposure, true},
	9: {channelExposure, false},
}

// trigger takes a packet of triggers: tables of {t i64, kind i8}.
func (d *decoder) trigger(root flatbuffer.Table) error {
	var ended error // by a trigger, not by damage
	err := root.Tables(0, math.MaxInt, func(tr flatbuffer.Table) error {
		t, err := tr.Number(0, 8, 0)
		if err != nil {
			return err
		}
		kind, err := tr.Number(1, 1, 0)
		if err == nil {
			ended = d.edge(t, kind)
			err = ended
		}
		return err
	})
	if err != nil && ended == nil {
		return syntax(d.at, "a packet of triggers: %v", err)
	}
	return err
}

// edge hands a trigger on, or counts it where it is no edge.
func (d *decoder) edge(t, kind int64) error {
	switch {
	case kind == kindReset:
		d.rep.CountUnknown("timestamp reset", 1, d.at)
		d.rep.Note("the camera's clock was reset during the recording; times are as stored.")
		return nil
	case kind < 0 || kind >= int64(len(edges)):
		if d.policy.OnUnknown == format.Error {
			return syntax(d.at, "a trigger is of the unknown kind %d; --on-unknown skip passes over it", kind)
		}
		d.rep.CountUnknown("trigger of another kind", 1, d.at)
		return nil
	}
	e := edges[kind]
	return d.triggers.Add(event.Trigger{T: t, Channel: e.channel, Rising: e.rising}, d.rep, d.at)
}
