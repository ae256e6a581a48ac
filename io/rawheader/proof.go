package rawheader

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/format"
)

// What a payload that no header names must show to be taken for a format's words.
const (
	proofSize   = 256 << 10 // bytes that are looked at
	proofEvents = 64        // events, at least
	proofSteps  = 16        // forward steps of their times, at least
	proofWrong  = 100       // at most one word in so many is wrong
	// proofConfidence is less than that of a header or a first line, and more than that of records of which the times
	// alone speak.
	proofConfidence = 0.8
)

// Evidence is what decoding the start of a payload as some format's words has shown.
type Evidence struct {
	Words  int64
	Events int64
	Steps  int64 // how often an event is later than the one before it
	// Wrong counts what a recording hardly ever holds and other bytes do: words of reserved types and out of place,
	// events without a time, steps of the time base back or by more than a second, and events before the one before.
	Wrong int64
	err   error
}

// Prove judges whether the words after a header that does not name them, or those of a file without a header, are of
// the format: it decodes the first of them. A policy may choose among a format's layouts. All formats are equally sure:
// the words of some pass, by their times, for those of a format that stands later in the list, never the other way
// round.
func (l Layout) Prove(f format.File, h Header, p format.Policy) format.Proof {
	header := "no header"
	if h.Payload > 0 {
		header = "a header without format, evt or a known system_ID"
	}
	e := l.evidence(f, h, p)
	if why := e.against(); why != "" {
		return format.Proof{Why: fmt.Sprintf("%s, and read as %s %s", header, l.Header, why)}
	}
	return format.Proof{
		Confidence: proofConfidence,
		Version:    l.Version,
		Why: fmt.Sprintf("%s, but %d words decode as %s to %d events whose times rise in %d steps, and %d are out of place",
			header, e.Words, l.Header, e.Events, e.Steps, e.Wrong),
		Properties: h.Fields,
	}
}

// against says why the evidence is none, "" where it proves the format.
func (e Evidence) against() string {
	switch {
	case e.err != nil:
		return "the words do not decode: " + strings.TrimSuffix(e.err.Error(), " (try --salvage)")
	case e.Wrong*proofWrong > e.Words:
		return fmt.Sprintf("there are %d faults in %d words: reserved types, and what is out of place", e.Wrong, e.Words)
	case e.Events < proofEvents || e.Steps < proofSteps:
		return fmt.Sprintf("there are %d events at %d times, too few to prove anything", e.Events, min(e.Events, e.Steps+1))
	}
	return ""
}

// evidence decodes the start of the payload, with the clock and the counters of any scan.
func (l Layout) evidence(f format.File, h Header, p format.Policy) (e Evidence) {
	p = p.WithDefaults()
	p.Salvage, p.Strict, p.OnUnknown = true, false, format.Skip
	f.Size = min(f.Size, h.Payload+proofSize)
	e.Words = max(f.Size-h.Payload, 0) / int64(l.WordSize)
	rep := &event.Report{}
	pool := event.NewPool(int(min(BufferSize, e.Words*l.PerWord+int64(l.Room))))
	d := l.Decode(f, Scan{Header: h, Policy: p, Report: rep, Triggers: &Triggers{}}, pool)
	defer func() { _ = d.Close() }() // only reads
	last, started := int64(0), false
	for {
		b, err := d.Next(context.Background())
		if err != nil {
			if !errors.Is(err, io.EOF) {
				e.err = err
			}
			break
		}
		for _, t := range b.T {
			switch {
			case started && t > last:
				e.Steps++
			case started && t < last:
				e.Wrong++
			}
			last, started = t, true
		}
		e.Events += int64(b.Len())
		b.Release()
	}
	e.Wrong += wrong(rep)
	return e
}

// wrong sums the counters that speak against a format. Words that the format names but evq does not read do not.
func wrong(rep *event.Report) (n int64) {
	for _, c := range []event.Counter{
		event.BeforeTimeBase, event.Wraps, event.Glitches, event.Gaps, event.PartialVect, event.InvalidVectBase, event.MissingY, event.DamagedBytes,
	} {
		n += rep.N(c)
	}
	for kind, count := range rep.UnknownKinds() {
		if strings.HasPrefix(kind, "0x") {
			n += count
		}
	}
	return n
}

// A NameError reports a header that names words which evq does not read.
type NameError struct{ Name string }

func (e *NameError) Error() string {
	switch e.Name {
	case "HISTO3D", "DIFF3D":
		return fmt.Sprintf("the header says %s: the camera summed its events up to frames, from which they cannot be told; "+
			"switch its event output to EVT21 or EVT3 and record again", e.Name)
	}
	return fmt.Sprintf("the header says %s, which evq does not read; export the recording as EVT2, EVT21, EVT3 or HDF5", e.Name)
}

// readable are the names in headers of the words that evq reads.
var readable = []string{"EVT2", "EVT21", "EVT3"}

// Foreign returns a *NameError where the header names words that evq does not read.
func (h Header) Foreign() error {
	if v := h.Version(); v.Sure && v.Name != "" && !slices.Contains(readable, v.Name) {
		return &NameError{v.Name}
	}
	return nil
}
