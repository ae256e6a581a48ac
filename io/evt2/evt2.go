// Package evt2 decodes and encodes Prophesee's EVT2 recordings: 32-bit words of one event each, and a time base between
// them.
//
// It knows the words and what a scan counts of them; order, off-sensor events and other policies come after it. The
// words are those of docs.prophesee.ai, "EVT 2.0 format", and of OpenEB's evt2_event_types.h; where decoders differ,
// the package follows these rules:
//
//   - Nothing has a time before the first TIME_HIGH: events before it are lost and counted.
//   - A TIME_HIGH that decreases by at least half its range is the end of the range (+2^34 µs), once; a smaller decrease
//     is a glitch, taken as it is.
//   - Words of other things (OTHERS, IMU and their CONTINUED words) and of reserved types are skipped and counted.
package evt2

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
	Name:       "evt2",
	Doc:        "Prophesee RAW, EVT2: 32-bit words of one event each",
	Extensions: []string{".evt2"},
	Sniff:      sniff,
	Open:       open,
	Create:     create,
}

const (
	headerName    = "EVT2" // in the header's format field
	headerVersion = "2.0"
	wordSize      = 4
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
		return nil, fmt.Errorf("evt2: %w", err)
	}
	g, err := h.Geometry()
	if err != nil && !p.Size.Known() {
		return nil, fmt.Errorf("evt2: %w", err)
	}
	if v := h.Version(); v.Sure && v.Name != headerName {
		return nil, fmt.Errorf("evt2: %s; open it under that format's name", v.Why)
	}
	words := max(f.Size-h.Payload, 0) / wordSize
	pool := event.NewPool(int(min(rawheader.BufferSize, words+1)))
	return format.NewSource(format.Recording{
		File:   f,
		Policy: p,
		Info: event.Info{
			Name: filepath.Base(f.Path), Format: "evt2", Version: headerVersion, Geometry: g,
			Unit: "us", Polarity: "0/1", Events: -1, Fields: h.Fields,
		},
		Decode: func(_ context.Context, want event.Request, rep *event.Report) (format.Decoder, error) {
			return newDecoder(f, h.Payload, p, want, rep, pool), nil
		},
	}), nil
}
