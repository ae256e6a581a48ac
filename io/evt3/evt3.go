// Package evt3 decodes and encodes Prophesee's EVT3 recordings: 16-bit words that change a state or emit events.
//
// It knows the words and what a scan counts of them; order, off-sensor events and other policies come after it. The
// words are those of docs.prophesee.ai, "EVT 3.0 format", and of OpenEB's evt3_event_types.h; where decoders differ,
// the package follows these rules:
//
//   - Nothing has a time before the first TIME_HIGH: events before it are lost and counted, but addresses are remembered.
//   - A TIME_HIGH that changes sets the time to its base, until the next TIME_LOW; one that repeats changes nothing.
//   - A TIME_HIGH that decreases by at least half its range is the end of the range (+2^24 µs); a smaller decrease is a
//     glitch, taken as it is.
//   - A vector group (12, 12, 8) ends at the first foreign word; the base address stands where the group left it.
//   - CONTINUED words are consumed one by one, never a fixed number of them.
//   - Words of a reserved type, 0x1 among them, are skipped and counted.
package evt3

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/rawheader"
)

// Format is the entry for the list of formats.
var Format = format.Format{
	Name:       "evt3",
	Doc:        "Prophesee RAW, EVT3: 16-bit words with vectors of events",
	Extensions: []string{".raw", ".evt3"},
	Sniff:      sniff,
	Open:       open,
	Create:     create,
}

const (
	headerName    = "EVT3" // in the header's format field
	headerVersion = "3.0"
	wordSize      = 2
)

// sniff goes by the header alone: without one every file is a valid run of words.
func sniff(f format.File) format.Proof {
	h, err := rawheader.Read(f, f.Size)
	if err != nil {
		return format.Proof{Why: err.Error()}
	}
	c, why, properties := h.Claim(headerName)
	if c == 0 {
		return format.Proof{Why: why}
	}
	return format.Proof{Confidence: c, Version: headerVersion, Why: why, Properties: properties}
}

func open(_ context.Context, f format.File, p format.Policy) (event.Source, error) {
	p = p.WithDefaults()
	h, err := rawheader.Read(f, f.Size)
	if err != nil {
		return nil, fmt.Errorf("evt3: %w", err)
	}
	g, err := h.Geometry()
	if err != nil && !p.Size.Known() {
		return nil, fmt.Errorf("evt3: %w", err)
	}
	if v := h.Version(); v.Sure && v.Name != headerName {
		return nil, fmt.Errorf("evt3: %s; open it under that format's name", v.Why)
	}
	words := max(f.Size-h.Payload, 0) / wordSize
	pool := event.NewPool(int(min(rawheader.BufferSize, words*12+slack))) // no word holds more than 12 events
	return format.NewSource(format.Recording{
		File:   f,
		Policy: p,
		Info: event.Info{
			Name: filepath.Base(f.Path), Format: "evt3", Version: headerVersion, Geometry: g,
			Unit: "us", Polarity: "0/1", Events: -1, Fields: h.Fields,
		},
		Decode: func(_ context.Context, want event.Request, rep *event.Report) (format.Decoder, error) {
			return newDecoder(f, h.Payload, p, want, rep, pool), nil
		},
	}), nil
}
