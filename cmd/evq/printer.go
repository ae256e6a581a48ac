package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/evq-project/evq/io/event"
)

// A printer prints facts for people, and keeps the first error.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) line(format string, args ...any) {
	if _, err := fmt.Fprintf(p.w, format+"\n", args...); p.err == nil {
		p.err = err
	}
}

func (p *printer) fact(name, format string, args ...any) {
	p.line("  %-9s "+format, append([]any{name}, args...)...)
}

// pairs prints names and values below a title, the values of many lines indented.
func (p *printer) pairs(title string, fields []keyValue) {
	if len(fields) == 0 {
		return
	}
	p.line("%s", title)
	width := 0
	for _, f := range fields {
		width = max(width, min(len(f.Key), 24))
	}
	for _, f := range fields {
		p.line("  %-*s %s", width, f.Key, strings.ReplaceAll(f.Value, "\n", "\n    "))
	}
}

// report prints the counters that are not zero, each with what it means.
func (p *printer) report(title string, r *event.Report) {
	if r == nil {
		return
	}
	var fields []keyValue
	for i, doc := range event.Counters() {
		t := r.Get(event.Counter(i))
		if t.N == 0 {
			continue
		}
		text := grouped(t.N) + " " + doc.Doc
		if t.Lost > 0 {
			text += fmt.Sprintf("; %s lost", grouped(t.Lost))
		}
		if t.First >= 0 {
			text += fmt.Sprintf(", the first at %d", t.First)
		}
		fields = append(fields, keyValue{doc.Name, text})
	}
	kinds := r.UnknownKinds()
	for _, k := range slices.Sorted(maps.Keys(kinds)) {
		fields = append(fields, keyValue{"unknown[" + k + "]", grouped(kinds[k])})
	}
	for _, n := range r.Notes {
		fields = append(fields, keyValue{"note", n})
	}
	if len(fields) == 0 {
		fields = []keyValue{{"nothing", "beside " + counted(r.Events, "event")}}
	}
	p.pairs(title, fields)
}

// String prints a format with how sure it is and why.
func (f formatFact) String() string {
	s := f.Name
	if f.Version != "" {
		s += " " + f.Version
	}
	return fmt.Sprintf("%s (%.0f %% sure: %s)", s, 100*f.Confidence, f.Why)
}

func (f *facts) sizeText() string {
	s := bytesText(f.Bytes)
	if f.Events != nil && *f.Events > 0 {
		s += fmt.Sprintf(", %.2f B/event", float64(f.Bytes)/float64(*f.Events))
	}
	return s
}

func (f *facts) eventsText() string {
	if f.Events == nil {
		return "unknown; only decoding tells, leave out --quick"
	}
	return grouped(*f.Events)
}

func (f *facts) reachText() string {
	if f.MaxX == nil {
		return ""
	}
	return fmt.Sprintf("; events reach x=%d, y=%d", *f.MaxX, *f.MaxY)
}

func (f *facts) storedText() string {
	unit, polarity, order := f.Unit, f.Polarity, "in time order"
	if unit == "" {
		unit = "unknown"
	}
	if polarity == "" {
		polarity = "unknown"
	}
	if !f.Sorted {
		order = "in file order"
	}
	return fmt.Sprintf("time in %s, polarity as %s, %s", unit, polarity, order)
}
