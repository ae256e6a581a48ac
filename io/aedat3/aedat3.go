// Package aedat3 decodes AEDAT 3.0 and 3.1 recordings of jAER and caer: packets of events behind a header of text.
//
// It yields the polarity events and the external triggers of one source; frames, IMU samples and all else are counted
// by their kind. It knows the packets and what a scan counts of them; order, off-sensor events and other policies come
// after it.
//
// The layout is that of iniVation's "AEDAT file formats" and of libcaer's event headers. Where readers differ, the
// package follows these rules:
//
//   - A packet has as many events as its eventNumber says; eventCapacity says nothing.
//   - Events whose valid bit is not set were filtered away before they were stored: they are counted as "invalid".
//   - The time is eventTSOverflow<<31 | t. A reset of the camera's clock restarts it from 0: times are as stored, and
//     the reset is noted.
//   - Coordinates are as stored; in 3.0 the origin is the lower left corner.
//   - Triggers keep their kind as a channel: 0 to 2 external inputs, 3 generator, 4 frame, 5 exposure; a start and a
//     pulse are rising edges.
package aedat3

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/format"
)

const name = "aedat3"

// Format is the entry for the list of formats.
var Format = format.Format{
	Name:       name,
	Doc:        "AEDAT 3.0 and 3.1 (jAER, caer), uncompressed packets",
	Facts:      facts,
	Extensions: []string{".aedat3"},
	Sniff:      sniff,
	Open:       open,
}

// bufferSize is how many events a buffer takes at most.
const bufferSize = 64 << 10

// sniff goes by the first line and by the packet after the header.
func sniff(f format.File) format.Proof {
	h, err := readHeader(f)
	if h == nil {
		return format.Proof{}
	}
	p := format.Proof{Confidence: 0.6, Version: h.version, Why: fmt.Sprintf("the first line is %q", magic+h.version[2:])}
	if err != nil {
		p.Why += fmt.Sprintf(", but: %v", err)
		return p
	}
	s := survey(f, h)
	if s.err != nil {
		p.Why += fmt.Sprintf(", but: %v", s.err)
		return p
	}
	p.Confidence, p.Why = 1, p.Why+fmt.Sprintf(", and %d packets follow as they should", s.packets)
	p.Properties = []event.Field{{Key: "geometry", Value: h.geometry(s.source).String()}}
	return p
}

func open(_ context.Context, f format.File, p format.Policy) (event.Source, error) {
	p = p.WithDefaults()
	h, err := readHeader(f)
	if err != nil {
		return nil, err
	}
	s := survey(f, h)
	chosen := s.source
	if p.StreamGiven && p.Stream >= 0 {
		if p.Stream > maxSource {
			return nil, fmt.Errorf("%s: sources are numbered up to %d, not %d; give another --stream", name, maxSource, p.Stream)
		}
		chosen = int16(p.Stream)
	}
	readSize := p.ReadSize
	if readSize <= 0 {
		readSize = defaultReadSize
	}
	pool := event.NewPool(int(min(bufferSize, f.Size/eventSize+1)))
	return format.NewSource(format.Recording{
		File: f, Policy: p,
		Info: event.Info{
			Name: filepath.Base(f.Path), Format: name, Version: h.version, Geometry: h.geometry(chosen), Unit: "us", Polarity: "0/1",
			Events: -1, Fields: h.fields, Streams: s.others(chosen),
		},
		Decode: func(_ context.Context, want event.Request, rep *event.Report) (format.Decoder, error) {
			return newDecoder(f, h, chosen, p, want, rep, pool, readSize), nil
		},
	}), nil
}
