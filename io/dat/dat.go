// Package dat decodes and encodes Prophesee's DAT recordings: an ASCII header, two bytes that say what the records are,
// and records of eight bytes, one event each.
//
// It knows the records and what a scan counts of them; order, off-sensor events and other policies come after it. The
// records are those of docs.prophesee.ai, "DAT file format", of OpenEB's event2d.h and of Prophesee's toolbox for its
// automotive data sets (dat_events_tools.py, load_atis_data.m); where readers differ, the package follows these rules:
//
//   - Times are 32 bits wide. One that is at least half the range below the one before it is past the end of the range
//     (+2^32 µs); a smaller decrease is an event out of order.
//   - Version 2 has 14 bits each for x and y and four for p, version 1 has 9, 8 and one. See version.
//   - A file without a header has no bytes for type and size: it holds events of eight bytes.
//   - A run of 512 zero bytes or more behind a time that is not 0 is a block of the file that was never written. At the
//     end of the file it ends the recording; elsewhere it is damage, as is a polarity that is none.
//   - Records of other things than events, external triggers among them, are refused by name: programs disagree on
//     their bytes.
package dat

import (
	"context"
	"fmt"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/rawheader"
)

const (
	name       = "dat"
	recordSize = 8
)

// The types of records that are events, and those of other things.
const (
	typeEvent2D    = 0x00
	typeCD         = 0x0C
	typeExtTrigger = 0x0E
	typeFlow       = 0x28
)

// Format is the entry for the list of formats.
var Format = format.Format{
	Name:       name,
	Doc:        "Prophesee DAT, versions 1 and 2: records of one event each",
	Facts:      facts,
	Extensions: []string{".dat"},
	Sniff:      sniff,
	Open:       open,
	Part:       part,
	Create:     create,
}

// A kind is what the two bytes after the header say of the records.
type kind struct {
	kind, size uint8
	said       bool // by the file
}

// readKind reads the two bytes after the header, and moves its end behind them. A file that ends before them has no
// records.
func readKind(f format.File, h *rawheader.Header) (kind, error) {
	if h.Payload == 0 || f.Size-h.Payload < 2 {
		return kind{kind: typeCD, size: recordSize}, nil
	}
	var b [2]byte
	if n, err := f.ReadAt(b[:], h.Payload); n < len(b) {
		return kind{}, fmt.Errorf("%s: reading the type of the records: %w", name, err)
	}
	h.Payload += 2
	return kind{kind: b[0], size: b[1], said: true}, nil
}

// check refuses records that are no events. at is where the two bytes stand.
func (k kind) check(at int64) error {
	what := ""
	switch k.kind {
	case typeEvent2D, typeCD:
		if k.size != recordSize {
			return &format.SyntaxError{Format: name, Offset: at + 1, Msg: fmt.Sprintf("records of %d bytes; events have %d", k.size, recordSize)}
		}
		return nil
	case typeExtTrigger:
		what = "external triggers, which are no events"
	case typeFlow:
		what = "optical flow, which is no recording of events"
	default:
		what = "no events"
	}
	return &format.SyntaxError{Format: name, Offset: at, Msg: fmt.Sprintf("the file holds records of type 0x%02X: %s; open the file of CD events beside it", k.kind, what)}
}

// known reports whether some program writes such records.
func (k kind) known() bool {
	switch k.kind {
	case typeEvent2D, typeCD:
		return k.size == recordSize
	case typeExtTrigger:
		return k.size == 8 || k.size == 12
	case typeFlow:
		return k.size >= recordSize
	}
	return false
}

// sniff goes by the header and the two bytes after it. Recordings of other things than events are recognised as well,
// so that opening them says what they hold.
func sniff(f format.File) format.Proof {
	h, err := rawheader.Read(f, f.Size)
	if err != nil {
		return format.Proof{Why: err.Error()}
	}
	if h.Payload == 0 {
		return format.Proof{Why: `no header of lines that start with "% "`}
	}
	if v := h.Version(); v.Sure {
		return format.Proof{Why: v.Why}
	}
	_, data := h.Field("Data")
	_, version := h.Field("Version")
	k, err := readKind(f, &h)
	switch {
	case err != nil:
		return format.Proof{Why: err.Error()}
	case k.said && !k.known():
		return format.Proof{Why: fmt.Sprintf("no records of type 0x%02X have %d bytes", k.kind, k.size)}
	case !data && !version:
		return format.Proof{Why: "the header has neither a Data nor a Version line"}
	}
	p := format.Proof{Confidence: 0.95, Version: field(h, "Version"), Properties: h.Fields}
	p.Why = "the header's lines are those of a DAT file, and it ends there"
	if k.said {
		p.Confidence, p.Why = 0.99, fmt.Sprintf("the header's lines are those of a DAT file, and records of type 0x%02X follow", k.kind)
	}
	return p
}

func open(_ context.Context, f format.File, p format.Policy) (event.Source, error) {
	h, err := rawheader.Read(f, f.Size)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	at := h.Payload
	k, err := readKind(f, &h)
	if err != nil {
		return nil, err
	}
	if err := k.check(at); err != nil {
		return nil, err
	}
	v, err := versionOf(f, h, p.Layout)
	if err != nil {
		return nil, err
	}
	polarity, err := polarityOf(p.Polarity)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	l := rawheader.Layout{
		Name: name, Version: v.name, WordSize: recordSize, PerWord: 1, Room: 1,
		Decoder: func(s rawheader.Scan) rawheader.Words {
			if v.note != "" {
				s.Report.Note("%s", v.note)
			}
			return &decoder{Scan: s, bits: v.bits, polarity: polarity}
		},
	}
	return l.Source(f, h, p)
}

// part says that the records go on after the header and its two bytes.
func part(f format.File, p format.Policy) (format.Part, error) {
	h, err := rawheader.Read(f, f.Size)
	if err != nil || h.Payload == 0 {
		return format.Part{}, err
	}
	if _, err := readKind(f, &h); err != nil {
		return format.Part{}, err
	}
	v, err := versionOf(f, h, p.Layout)
	return format.Part{Start: h.Payload, Alike: "records of version " + v.name}, err
}

func field(h rawheader.Header, key string) string {
	v, _ := h.Field(key)
	return v
}
