// Package text reads and writes events as text: one event a line, in columns separated by commas, semicolons, tabs
// or spaces.
//
// Text does not say what it holds. The package takes the order of the columns from a line of names, from the caller
// or from the values, and the unit of time from the caller, the names or the way that times are printed; what it
// took, and why, stands among the fields of the recording. It knows lines and numbers; order, off-sensor events and
// other policies come after it.
//
//   - Lines that start with # or % are comments; blank lines, a byte order mark and carriage returns do not matter.
//   - %geometry:W,H, or a first line of just W H, says the size of the sensor.
//   - Times are decimals, never floating-point numbers: they are rounded half to even to microseconds.
//   - Whole numbers may be written as floating-point numbers, such as 3.0e+01; 30.5 is no coordinate.
package text

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/format"
)

// Format is text in columns between spaces or tabs, such as the "t x y p" of the UZH-RPG data sets.
var Format = format.Format{
	Name:       "text",
	Doc:        "text, one event a line between spaces or tabs (t x y p in seconds, or as its header says)",
	Facts:      facts,
	Extensions: []string{".txt"},
	Sniff:      func(f format.File) format.Proof { return sniff(f, ' ') },
	Open:       opener("text"),
	Create:     creator("text", ' '),
	Writing:    format.Writing{Polarity: true},
}

// CSV is text in columns between commas or semicolons, such as the x,y,p,t of Prophesee's tools.
var CSV = format.Format{
	Name:       "csv",
	Doc:        "CSV, one event a line between commas or semicolons (t,x,y,p, x,y,p,t, or as its header says)",
	Facts:      csvFacts,
	Extensions: []string{".csv"},
	Sniff:      func(f format.File) format.Proof { return sniff(f, ',', ';') },
	Open:       opener("csv"),
	Create:     creator("csv", ','),
	Writing:    format.Writing{Polarity: true},
}

// Both formats open any separator: they differ in what they claim and in what they write.
func opener(name string) func(context.Context, format.File, format.Policy) (event.Source, error) {
	return func(_ context.Context, f format.File, p format.Policy) (event.Source, error) {
		p = p.WithDefaults()
		h, err := inspect(f, p)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		pool := event.NewPool(int(min(bufferSize, f.Size/shortest+1)))
		return format.NewSource(format.Recording{
			File: f, Policy: p, Info: h.info(name, filepath.Base(f.Path)),
			Decode: func(_ context.Context, _ event.Request, rep *event.Report) (format.Decoder, error) {
				return newDecoder(name, f, h.layout, p, rep, pool), nil
			},
		}), nil
	}
}

// info says what was found, and why it is taken so.
func (h *head) info(name, file string) event.Info {
	fields := []event.Field{
		{Key: "columns", Value: h.columns()},
		{Key: "columns_because", Value: h.why},
		{Key: "separator", Value: separatorName(h.sep)},
		{Key: "time_unit", Value: h.unit.name},
		{Key: "time_unit_because", Value: h.unitWhy},
	}
	return event.Info{
		Name: file, Format: name, Geometry: h.geometry, Unit: h.unit.name, Polarity: h.polarity,
		Events: -1, Fields: append(fields, h.fields...),
	}
}

func separatorName(sep byte) string {
	switch sep {
	case ',':
		return "comma"
	case ';':
		return "semicolon"
	}
	return "space"
}

// sniff claims text whose lines are events between one of the given separators.
func sniff(f format.File, separators ...byte) format.Proof {
	h, err := inspect(f, format.Policy{}.WithDefaults())
	if h == nil || !h.split {
		return format.Proof{}
	}
	for _, sep := range separators {
		if h.sep != sep {
			continue
		}
		if err != nil {
			return format.Proof{Why: err.Error()}
		}
		return h.proof()
	}
	return format.Proof{}
}

// proof judges by how many of the first lines are events.
func (h *head) proof() format.Proof {
	p := format.Proof{Why: fmt.Sprintf("%d of the first %d lines are events in the columns %s (%s)", h.good, h.rows, h.columns(), h.why)}
	need := h.rows * 9
	if h.named { // then opening the recording says which lines are bad
		need = h.rows * 5
	}
	switch {
	case h.rows > 0 && (h.good*10 < need || !h.known):
		return format.Proof{Why: "text, but " + p.Why}
	case h.rows == 0 && !h.named:
		return format.Proof{}
	case h.named:
		p.Confidence = 0.9
	case h.rows >= 10:
		p.Confidence = 0.8
	default:
		p.Confidence = 0.6
	}
	if h.geometry.Known() {
		p.Properties = []event.Field{{Key: "geometry", Value: h.geometry.String()}}
	}
	return p
}
