// Package evt21 decodes and encodes Prophesee's EVT2.1 recordings: 64-bit words of up to 32 events of one row, and a
// time base between them.
//
// It knows the words and what a scan counts of them; order, off-sensor events and other policies come after it. The
// words are those of docs.prophesee.ai, "EVT 2.1 format", and of OpenEB's evt21_event_types.h; where decoders differ,
// the package follows these rules:
//
//   - The halves of a word stand in one of two orders, and the header says which, or the camera does.
//   - Nothing has a time before the first TIME_HIGH: events before it are lost and counted.
//   - A TIME_HIGH that decreases by at least half its range is the end of the range (+2^34 µs), once; a smaller decrease
//     is a glitch, taken as it is.
//   - The events of a vector come in the order of their columns.
//   - Words of other things (OTHERS and CONTINUED) and of reserved types are skipped and counted.
//   - A run of 512 zero bytes or more is a block of the file that was never written: no camera sends 64 vectors without
//     events in a row. At the end of the file it ends the recording; elsewhere it is damage, and the events behind it up
//     to the next TIME_HIGH have no time. Nothing else can be told from words: each of them means something.
package evt21

import (
	"context"
	"fmt"

	"github.com/evq-project/evq/io/atomicfile"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/rawheader"
)

const wordSize = 8

// layout is what sets EVT2.1 apart.
var layout = rawheader.Layout{
	Name:       "evt21",
	Doc:        "Prophesee RAW, EVT2.1: 64-bit words of up to 32 events each, in little and legacy word order",
	Facts:      facts,
	Extensions: []string{".evt21"},
	Header:     "EVT21",
	Version:    "2.1",
	WordSize:   wordSize,
	PerWord:    vectorSize,
	Room:       slack,
	MaxChannel: rawheader.MaxChannel2,
	Decoder:    newDecoder,
}

// Format is the entry for the list of formats.
var Format = format.Format{
	Name: layout.Name, Doc: layout.Doc, Facts: facts, Extensions: layout.Extensions, Sniff: sniff, Open: open, Part: part, Create: create,
	Writing: format.Writing{Triggers: true},
}

// sniff adds the order of the words to what the header says, or finds it by the words where nothing names them. A
// recording in an order that cannot be read is recognised all the same, so that opening it says why.
func sniff(f format.File) format.Proof {
	p := layout.Format().Sniff(f)
	h, err := rawheader.Read(f, f.Size)
	if err != nil {
		return format.Proof{Why: err.Error()}
	}
	if p.Confidence == 0 {
		if h.Version().Name != "" || orderSaid(h) {
			return p
		}
		q := layout.Prove(f, h, format.Policy{Layout: string(legacy)})
		if q.Confidence == 0 {
			return p
		}
		p = q
	}
	said := event.Field{Key: "word_order"}
	if o, why, err := orderIn(f, h, ""); err != nil {
		said.Value = err.Error()
	} else {
		said.Value = fmt.Sprintf("%s: %s", o, why)
	}
	p.Properties = append(p.Properties, said)
	return p
}

func open(ctx context.Context, f format.File, p format.Policy) (event.Source, error) {
	h, err := rawheader.Read(f, f.Size)
	if err != nil {
		return nil, fmt.Errorf("evt21: %w", err)
	}
	o, _, err := orderIn(f, h, p.Layout)
	if err != nil {
		return nil, fmt.Errorf("evt21: %w", err)
	}
	p.Layout = string(o)
	return layout.Format().Open(ctx, f, p)
}

// part adds the order of the words, where the header says it, to where they begin.
func part(f format.File, p format.Policy) (format.Part, error) {
	in, err := layout.Format().Part(f, p)
	if err != nil || p.Layout != "" && p.Layout != "auto" {
		return in, err
	}
	h, err := rawheader.Read(f, f.Size)
	if err != nil || !orderSaid(h) {
		return in, err
	}
	o, _, err := orderOf(h, p.Layout)
	in.Alike = string(o) + " word order"
	return in, err
}

// create starts a recording in little word order, and says so in the header: the camera's fields alone could make
// readers take it for the other one.
func create(path string, h format.Header, o format.CreateOptions) (event.Sink, error) {
	head, err := rawheader.Write(layout.Header+";endianness="+string(little), layout.Version, h.Geometry, h.Fields)
	if err != nil {
		return nil, fmt.Errorf("evt21: %w", err)
	}
	f, err := atomicfile.Create(path, o.Force)
	if err != nil {
		return nil, err
	}
	return rawheader.NewSink(layout.Name, f, head, newEncoder(), layout.MaxChannel), nil
}
