package udf

import (
	"fmt"

	"github.com/evq-project/evq/io/event"
)

// Word returns the value whose name is the argument, and the first of them where none is. Entry.Make has checked
// the argument against the parameter's Choices.
func Word[T fmt.Stringer](a Args, name string, of ...T) T {
	for _, v := range of {
		if v.String() == a[name] {
			return v
		}
	}
	return of[0]
}

// WordParam is the parameter for one of some named values; the first is its default.
func WordParam[T fmt.Stringer](name, doc string, of ...T) Param {
	p := Param{Name: name, Default: of[0].String(), Doc: doc}
	for _, v := range of {
		p.Choices = append(p.Choices, v.String())
	}
	return p
}

// OrNone reads an argument as an integer in [1, hi], or the word none, which is 0.
func (a Args) OrNone(name string, hi int) (int, error) {
	if a[name] == "none" {
		return 0, nil
	}
	v, err := a.Int(name, 1, hi)
	if err != nil {
		return 0, fmt.Errorf("%w, or none", err)
	}
	return v, nil
}

// Timebase says what time the bins of a window divide.
type Timebase uint8

const (
	// OfEvents is the time from the first event of the window to its last.
	OfEvents Timebase = iota
	// OfWindow is the time from the window's start to its end.
	OfWindow
)

// String returns the word users type.
func (b Timebase) String() string { return [...]string{"events", "window"}[b] }

// Span returns the limits of the time that the bins of w divide; t are the times of its events, at least one.
func (b Timebase) Span(t []int64, w event.Window) (from, to int64) {
	return b.Limits(t[0], t[len(t)-1], w)
}

// Limits is Span where the times of the window's first and last event are known.
func (b Timebase) Limits(first, last int64, w event.Window) (from, to int64) {
	if b == OfWindow {
		return w.Start, w.End
	}
	return first, last
}

// TimebaseParam is the parameter timebase, which Timebase reads.
func TimebaseParam() Param {
	return WordParam("timebase", "what the bins divide: the time from first to last event, or the window", OfEvents, OfWindow)
}

// Timebase reads the parameter of TimebaseParam.
func (a Args) Timebase() Timebase { return Word(a, "timebase", OfEvents, OfWindow) }

// Memory says which events a block shows beside those of its window.
type Memory uint8

const (
	// WindowOnly shows the events of the window alone.
	WindowOnly Memory = iota
	// Recording shows all events up to the window's end. Windows must come in order, to one encoder.
	Recording
)

// String returns the word users type.
func (m Memory) String() string { return [...]string{"window", "recording"}[m] }

// MemoryParam is the parameter memory with a default, which Memory reads.
func MemoryParam(preset Memory) Param {
	p := WordParam("memory", "which events a block shows: those of the window, or all up to its end", WindowOnly, Recording)
	p.Default = preset.String()
	return p
}

// Memory reads the parameter of MemoryParam.
func (a Args) Memory() Memory { return Word(a, "memory", WindowOnly, Recording) }
