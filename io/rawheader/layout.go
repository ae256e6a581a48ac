package rawheader

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/evq-project/evq/io/atomicfile"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/format"
)

// A Layout is what tells one RAW format from another: its names, the size of its words, and what decodes and encodes
// them. All else is the same for each.
type Layout struct {
	Name       string // of the format, which also prefixes messages: evt3
	Doc        string
	Facts      format.Facts
	Extensions []string
	Header     string // in the header's format field: EVT3
	Version    string // in the header's evt field: 3.0

	WordSize   int   // in bytes
	PerWord    int64 // how many events one word can hold
	Room       int   // as Words.Room
	MaxChannel int16 // of triggers

	Decoder func(s Scan) Words
	Encoder func(g event.Geometry) Encoder // nil: the format can only be read
}

// A Scan is what a decoder of words starts from.
type Scan struct {
	Header   Header
	Policy   format.Policy // with its defaults
	Report   *event.Report
	Triggers *Triggers

	bad format.Damage
}

// Format returns the entry for the list of formats.
func (l Layout) Format() format.Format {
	f := format.Format{Name: l.Name, Doc: l.Doc, Facts: l.Facts, Extensions: l.Extensions, Sniff: l.sniff, Open: l.open, Part: l.part}
	if l.Encoder != nil {
		f.Create, f.Writing = l.create, format.Writing{Triggers: true}
	}
	return f
}

// sniff goes by the header; where none names the words, by what they decode to.
func (l Layout) sniff(f format.File) format.Proof {
	h, err := Read(f, f.Size)
	if err != nil {
		return format.Proof{Why: err.Error()}
	}
	c, why, properties := h.Claim(l.Header)
	switch {
	case c == 0 && h.Version().Name == "":
		return l.Prove(f, h, format.Policy{})
	case c == 0:
		return format.Proof{Why: why}
	}
	return format.Proof{Confidence: c, Version: l.Version, Why: why, Properties: properties}
}

func (l Layout) open(_ context.Context, f format.File, p format.Policy) (event.Source, error) {
	h, err := Read(f, f.Size)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", l.Name, err)
	}
	if err := h.Foreign(); err != nil {
		return nil, fmt.Errorf("%s: %w", l.Name, err)
	}
	if v := h.Version(); v.Sure && v.Name != l.Header {
		return nil, fmt.Errorf("%s: %s; open it under that format's name", l.Name, v.Why)
	}
	return l.Source(f, h, p)
}

// part says that the words go on after the header. A part without one is a piece of a recording that was cut by bytes.
func (l Layout) part(f format.File, _ format.Policy) (format.Part, error) {
	h, err := Read(f, f.Size)
	if err != nil {
		return format.Part{}, fmt.Errorf("%s: %w", l.Name, err)
	}
	return format.Part{Start: h.Payload}, nil
}

// Source returns the recording of f, whose words start at h.Payload. It is for formats that judge their header
// themselves; a Layout's own Format looks at the version first.
func (l Layout) Source(f format.File, h Header, p format.Policy) (event.Source, error) {
	p = p.WithDefaults()
	g, err := h.Geometry()
	if err != nil && !p.Size.Known() {
		return nil, fmt.Errorf("%s: %w", l.Name, err)
	}
	offset, err := h.Offset()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", l.Name, err)
	}
	words := max(f.Size-h.Payload, 0) / int64(l.WordSize)
	pool := event.NewPool(int(min(BufferSize, words*l.PerWord+int64(l.Room))))
	return format.NewSource(format.Recording{
		File:   f,
		Policy: p,
		Info: event.Info{
			Name: filepath.Base(f.Path), Format: l.Name, Version: l.Version, Geometry: g,
			Unit: "us", Polarity: "0/1", Events: -1, Fields: h.Fields,
		},
		Decode: func(_ context.Context, want event.Request, rep *event.Report) (format.Decoder, error) {
			d := l.Decode(f, Scan{Header: h, Policy: p, Report: rep, Triggers: &Triggers{To: later(want.Triggers, offset)}}, pool)
			if offset != 0 {
				return offsetDecoder{d, offset}, nil
			}
			return d, nil
		},
	}), nil
}

// Decode decodes the words of f from s.Header.Payload on, below every policy but those that words themselves need.
func (l Layout) Decode(f format.File, s Scan, pool *event.Pool) format.Decoder {
	return NewDecoder(NewPayload(f, s.Header.Payload, f.Size, l.WordSize, s.Policy.ReadSize), l.Decoder(s), pool, s.Triggers)
}

// create starts a recording. Its events must be in time order, x and y at most 2047 and the times within 2^41 µs; where
// the first is not from 0 to 2^41 µs, the header keeps an offset.
func (l Layout) create(path string, h format.Header, o format.CreateOptions) (event.Sink, error) {
	head, err := Write(l.Header, l.Version, h.Geometry, h.Fields)
	if err != nil {
		return nil, err
	}
	f, err := atomicfile.Create(path, o.Force)
	if err != nil {
		return nil, err
	}
	return NewSink(l.Name, f, head, l.Encoder(h.Geometry), l.MaxChannel), nil
}

// reservedNames are the kinds under which words of a reserved type, four bits wide, are counted.
var reservedNames = [16]string{
	"0x0", "0x1", "0x2", "0x3", "0x4", "0x5", "0x6", "0x7", "0x8", "0x9", "0xA", "0xB", "0xC", "0xD", "0xE", "0xF",
}

// Reserved counts a word of a reserved type, from 0 to 15, at the byte at, or refuses it where the policy does. digits
// are those of a word in hexadecimal.
func (s Scan) Reserved(name string, word uint32, digits int, kind uint8, at int64) error {
	if s.Policy.OnUnknown == format.Error {
		return &format.SyntaxError{Format: name, Offset: at, Msg: fmt.Sprintf("word %0*x is of the reserved type 0x%X; --on-unknown skip passes over it", digits, word, kind)}
	}
	s.Report.CountUnknown(reservedNames[kind&15], 1, at)
	return nil
}

// Cut counts the trailing bytes of a cut last word at the byte at, or refuses them where the policy is strict.
func (s Scan) Cut(name string, at, trailing int64) error {
	if trailing == 0 {
		return nil
	}
	if s.Policy.Strict {
		return &format.SyntaxError{Format: name, Offset: at, Msg: "the last word is cut; without --strict it is left out"}
	}
	s.Report.Lose(event.TrailingBytes, trailing, at)
	return nil
}
