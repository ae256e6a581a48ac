// Package aedat2 decodes AEDAT 1.0 and 2.0, the recordings of jAER: a header of comment lines, then big-endian records
// of an address and a time.
//
// It knows the records and what a scan counts of them; order, off-sensor events and other policies come after it. The
// records are those of iniVation's "AEDAT file formats" and of jAER's AEFileInputStream, DavisChip and DVS128; where
// decoders differ, the package follows these rules:
//
//   - Coordinates and polarities are those of the address: nothing is mirrored (the origin is the lower left corner),
//     and a polarity bit that is set is ON. jAER itself mirrors x, and shows the bit of a DVS128 the other way round.
//   - The time is signed, 32 bits wide. A decrease by at least half its range is the end of the range (+2^32 µs); a
//     smaller decrease, as after a reset of the camera's clock, is taken as it is and counted.
//   - Events of the external input are triggers. Samples of frames and of the inertial unit are left out and counted.
//   - A run of 512 zero bytes or more behind a time that is not 0 is a block of the file that was never written. At the
//     end of the file it ends the recording; elsewhere it is damage. Nothing else can be told from records.
package aedat2

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/rawheader"
)

// A version is what tells AEDAT 1.0 from 2.0.
type version struct {
	name       string // of the format, which also prefixes messages
	doc        string
	number     string // in the header's first line
	extensions []string
	record     int // bytes: an address of 2 or 4, and a time of 4
}

var (
	version1 = version{"aedat1", "AEDAT 1.0: 16-bit addresses of a DVS128; a file without a header must be named", "1.0", []string{".aedat"}, 6}
	version2 = version{"aedat2", "AEDAT 2.0: 32-bit addresses of a DVS128 or a DAVIS", "2.0", []string{".aedat"}, 8}
)

// Format and Format1 are the entries of AEDAT 2.0 and 1.0 for the list of formats.
var (
	Format  = version2.format(facts)
	Format1 = version1.format(facts1)
)

func (v version) format(facts format.Facts) format.Format {
	return format.Format{Name: v.name, Doc: v.doc, Facts: facts, Extensions: v.extensions, Sniff: v.sniff, Open: v.open, Part: v.part}
}

// sniff goes by the first line alone: without one every file is a valid run of records.
func (v version) sniff(f format.File) format.Proof {
	h, err := readHeader(f, f.Size)
	switch {
	case err != nil:
		return format.Proof{Why: err.Error()}
	case h.version == "":
		return format.Proof{Why: "it does not start with " + magic + v.number}
	case h.version != v.number:
		return format.Proof{Why: "its first line says AEDAT " + h.version}
	}
	p := format.Proof{Confidence: 1, Version: v.number, Why: "its first line is " + magic + h.version}
	if h.chip != "" {
		p.Properties = append(p.Properties, event.Field{Key: "chip", Value: h.chip})
	}
	return p
}

// part says that the records go on after the header.
func (v version) part(f format.File, _ format.Policy) (format.Part, error) {
	h, err := readHeader(f, f.Size)
	if err != nil {
		return format.Part{}, fmt.Errorf("%s: %w", v.name, err)
	}
	in := format.Part{Start: h.payload}
	if h.chip != "" {
		in.Alike = "the chip " + h.chip
	}
	return in, nil
}

func (v version) open(_ context.Context, f format.File, p format.Policy) (event.Source, error) {
	p = p.WithDefaults()
	h, err := readHeader(f, f.Size)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", v.name, err)
	}
	if h.version != "" && h.version != v.number {
		return nil, fmt.Errorf("%s: the file's first line says AEDAT %s; open it under that format's name", v.name, h.version)
	}
	sample, err := readSample(f, h.payload, v.record)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", v.name, err)
	}
	l, why, err := v.choose(h, sample, p.Layout)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", v.name, err)
	}
	records := max(f.Size-h.payload, 0) / int64(v.record)
	pool := event.NewPool(int(min(rawheader.BufferSize, records+1)))
	fields := append([]event.Field{{Key: "layout", Value: l.name}, {Key: "layout_why", Value: why}}, h.fields...)
	return format.NewSource(format.Recording{
		File:   f,
		Policy: p,
		Info: event.Info{
			Name: filepath.Base(f.Path), Format: v.name, Version: v.number, Geometry: geometryOf(l, h.chip),
			Unit: "us", Polarity: "0/1", Events: -1, Fields: fields, Streams: l.streams(sample),
		},
		Decode: func(_ context.Context, want event.Request, rep *event.Report) (format.Decoder, error) {
			t := &rawheader.Triggers{To: want.Triggers}
			s := rawheader.Scan{Policy: p, Report: rep, Triggers: t}
			payload := rawheader.NewPayload(f, h.payload, f.Size, v.record, p.ReadSize)
			return rawheader.NewDecoder(payload, newDecoder(v, l, s), pool, t), nil
		},
	}), nil
}
