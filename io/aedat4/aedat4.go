// Package aedat4 decodes AEDAT 4 recordings of iniVation's cameras: packets of several streams, compressed or not, each
// a flatbuffer.
//
// It yields the events of one stream and the triggers of the same camera; frames, IMU samples and all else are listed
// and counted, never decoded. It knows the packets and what a scan counts of them; order, off-sensor events and other
// policies come after it.
//
// The layout is that of iniVation's "AEDAT file formats" and of dv-processing's flatbuffer schemas. Where readers
// differ, the package follows these rules:
//
//   - What a packet holds is said by the identifier in it; the header's XML is only believed where they agree. The
//     packets of streams without events are opened once, at the first.
//   - No packet ends a recording: the table of packets does, or the end of the file.
//   - Times are microseconds since 1970 as stored; the header's tsOffset is already in them.
//   - Triggers keep their kind as a channel: 0 external signal, 3 generator, 4 frame, 5 exposure; a start and a pulse
//     are rising edges. Resets of the clock have no edge: they are counted, and noted.
package aedat4

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/format"
)

const name = "aedat4"

// Format is the entry for the list of formats.
var Format = format.Format{
	Name:       name,
	Doc:        "AEDAT 4 (iniVation DV): plain, LZ4 or Zstandard packets",
	Facts:      facts,
	Extensions: []string{".aedat4"},
	Magic:      magic,
	Sniff:      sniff,
	Open:       open,
}

// bufferSize is how many events a buffer takes at most.
const bufferSize = 64 << 10

// sniff goes by the first line and by the flatbuffer after it.
func sniff(f format.File) format.Proof {
	if !hasMagic(f) {
		return format.Proof{}
	}
	h, err := readHeader(f)
	if err != nil {
		return format.Proof{Confidence: 0.6, Version: "4.0", Why: fmt.Sprintf("the first line is %q, but: %v", magic[:len(magic)-2], err)}
	}
	p := format.Proof{Confidence: 1, Version: "4.0", Why: fmt.Sprintf("the first line is %q, and a header of %d streams follows", magic[:len(magic)-2], len(h.streams))}
	for _, s := range h.streams {
		if s.kind == kindEvents {
			p.Properties = append(p.Properties, event.Field{Key: "geometry", Value: s.size.String()})
			break
		}
	}
	return p
}

func open(_ context.Context, f format.File, p format.Policy) (event.Source, error) {
	p = p.WithDefaults()
	h, err := readHeader(f)
	if err != nil {
		return nil, err
	}
	chosen, err := h.choose(p)
	if err != nil {
		return nil, err
	}
	info := event.Info{
		Name: filepath.Base(f.Path), Format: name, Version: "4.0", Unit: "us", Polarity: "0/1", Events: -1,
		Fields: h.fields(chosen), Streams: h.others(chosen),
	}
	if s := h.stream(chosen); s != nil {
		info.Geometry = s.size
	}
	pool := event.NewPool(int(min(bufferSize, max(256, f.Size/8))))
	return format.NewSource(format.Recording{
		File: f, Info: info, Policy: p,
		Decode: func(_ context.Context, want event.Request, rep *event.Report) (format.Decoder, error) {
			return newDecoder(f, h, chosen, p, want, rep, pool)
		},
	}), nil
}

// anyStream stands for the first stream whose packets hold events, where the header names none.
const anyStream = -1

// choose returns the id of the stream whose events are read.
func (h *header) choose(p format.Policy) (int32, error) {
	var ids []string
	first := int32(anyStream)
	for _, s := range h.streams {
		if s.kind != kindEvents {
			continue
		}
		if first == anyStream {
			first = s.id
		}
		if p.StreamGiven && p.Stream == int(s.id) {
			return s.id, nil
		}
		ids = append(ids, fmt.Sprint(s.id))
	}
	switch {
	case !p.StreamGiven || p.Stream < 0:
		return first, nil
	case len(h.streams) == 0 && p.Stream <= maxStream:
		return int32(p.Stream), nil
	case len(ids) == 0:
		return 0, fmt.Errorf("%s: the header names no stream of events; leave --stream out", name)
	}
	return 0, fmt.Errorf("%s: stream %d holds no events; choose one with --stream: %s", name, p.Stream, strings.Join(ids, ", "))
}

// fields are what the header says of the recording and of the chosen stream.
func (h *header) fields(chosen int32) []event.Field {
	out := []event.Field{{Key: "compression", Value: h.compression.String()}}
	if s := h.stream(chosen); s != nil {
		out = append(out, event.Field{Key: "stream", Value: fmt.Sprint(s.id)})
		out = append(out, s.fields...)
	}
	return out
}

// others lists the streams beside the chosen one and says what becomes of each.
func (h *header) others(chosen int32) (out []event.Field) {
	for _, s := range h.streams {
		if s.id == chosen {
			continue
		}
		fate := "left out; its packets are counted"
		switch {
		case s.kind == kindEvents:
			fate = fmt.Sprintf("left out; --stream %d reads it instead", s.id)
		case s.kind == kindTriggers && h.sameCamera(s.id, chosen):
			fate = "kept as triggers"
		}
		out = append(out, event.Field{Key: s.label(), Value: fate})
	}
	return out
}

// sameCamera reports whether two streams come from one camera, as far as the header says.
func (h *header) sameCamera(a, b int32) bool {
	s, t := h.stream(a), h.stream(b)
	return s == nil || t == nil || s.source == "" || t.source == "" || s.source == t.source
}
