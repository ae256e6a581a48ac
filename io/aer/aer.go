// Package aer decodes address events without times: 32-bit little-endian words of polarity, x and y, one after another.
//
// It knows the words; off-sensor events and other policies come after it. The words are those of docs.prophesee.ai, "AER
// Format": bit 18 polarity, 17:9 x, 8:0 y. Nothing in such a file proves what it is, so its format must be given; nor
// does it hold times, so that the time from one event to the next must be given as well: event i lies at i times that,
// rounded half to even to microseconds.
//
// No bytes are damage in such a file, not even a block of zeros: any run of words may be a pixel that fires.
package aer

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"time"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/rawheader"
)

const name = "aer"

// Format is the entry for the list of formats.
var Format = format.Format{
	Name:       name,
	Doc:        "AER: 32-bit words without times; needs the format's name and a time step",
	Facts:      facts,
	Extensions: []string{".aer"},
	Sniff: func(format.File) format.Proof {
		return format.Proof{Why: "nothing proves words without times and a header; name them with --format aer"}
	},
	Open: open,
	Part: func(format.File, format.Policy) (format.Part, error) { return format.Part{}, nil },
}

// Errors about the time from one event to the next.
var (
	ErrNoTimeStep  = errors.New("aer: the recording holds no times; give the time from one event to the next with --time-step, such as 1us")
	ErrBadTimeStep = errors.New("aer: the time step is negative, or so long that the last event has no time; give a shorter one with --time-step")
)

// The fields of a word.
const (
	wordSize = 4
	pShift   = 18
	xShift   = 9
	mask     = 1<<9 - 1
)

func open(_ context.Context, f format.File, p format.Policy) (event.Source, error) {
	p = p.WithDefaults()
	words := f.Size / wordSize
	switch step := p.TimeStep; {
	case step == 0:
		return nil, ErrNoTimeStep
	case step < 0 || step.Microseconds() >= math.MaxInt64/4/max(words, 1):
		return nil, ErrBadTimeStep
	}
	pool := event.NewPool(int(min(rawheader.BufferSize, words+1)))
	return format.NewSource(format.Recording{
		File:   f,
		Policy: p,
		Info: event.Info{
			Name: filepath.Base(f.Path), Format: name, Unit: "us", Polarity: "0/1", Sorted: true, Events: -1,
			Fields: []event.Field{{Key: "time_step", Value: p.TimeStep.String()}},
		},
		Decode: func(_ context.Context, _ event.Request, rep *event.Report) (format.Decoder, error) {
			none := &rawheader.Triggers{}
			rep.Note("The recording holds no times: each event lies %v after the one before it, as was given.", p.TimeStep)
			if p.Salvage {
				rep.Note("There is nothing to salvage: words without times show no damage, and are read as they are.")
			}
			d := &decoder{Scan: rawheader.Scan{Policy: p, Report: rep, Triggers: none}, step: p.TimeStep}
			return rawheader.NewDecoder(rawheader.NewPayload(f, 0, f.Size, wordSize, p.ReadSize), d, pool, none), nil
		},
	}), nil
}

// timeOf returns the time of the i-th event in microseconds, rounded half to even.
func timeOf(i int64, step time.Duration) int64 {
	ns := int64(step)
	rest := i * (ns % 1000)
	t := i*(ns/1000) + rest/1000
	if r := rest % 1000; r > 500 || r == 500 && t&1 == 1 {
		t++
	}
	return t
}

// errReserved names a word with bits that have no meaning.
func errReserved(w uint32, at int64) error {
	return &format.SyntaxError{Format: name, Offset: at, Msg: fmt.Sprintf("word %08x has bits above 18 set; --on-unknown skip passes over it", w)}
}
