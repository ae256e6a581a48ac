package format

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Writing says what a format's writer can be told beyond its default, and what it has no place for.
type Writing struct {
	Polarity bool     // it takes CreateOptions.Polarity
	Duration bool     // it takes CreateOptions.TimeType
	Layouts  []string // it takes one of these as CreateOptions.Layout; the first is the default
	Triggers bool     // it keeps external triggers, in the file or beside it
	NoSize   bool     // it has no place for the sensor's size
}

// The words of CreateOptions.Polarity and CreateOptions.TimeType, their defaults first.
const (
	Polarity01   = "01"  // OFF is 0 and ON is 1
	PolarityPM1  = "pm1" // OFF is -1 and ON is 1
	TimeInt64    = "int64"
	TimeDuration = "duration"
)

// The words that CreateOptions take, their defaults first.
var (
	Polarities = []string{Polarity01, PolarityPM1}
	TimeTypes  = []string{TimeInt64, TimeDuration}
)

// OffValue is what is written for OFF.
func (o CreateOptions) OffValue() int8 {
	if o.Polarity == PolarityPM1 {
		return -1
	}
	return 0
}

// Duration reports whether times are written as durations, in formats that have such a type.
func (o CreateOptions) Duration() bool { return o.TimeType == TimeDuration }

// ErrOption reports an option that the output's format does not have.
var ErrOption = errors.New("the format cannot be written so")

// CheckCreate refuses options that f does not have. all are the formats among which the error names those that have
// them.
func CheckCreate(f Format, o CreateOptions, all []Format) error {
	for _, c := range []struct {
		what, value string
		words       []string
		of          func(Writing) bool
	}{
		{"polarity", o.Polarity, Polarities, func(w Writing) bool { return w.Polarity }},
		{"time type", o.TimeType, TimeTypes, func(w Writing) bool { return w.Duration }},
	} {
		if c.value != "" && !slices.Contains(c.words, c.value) {
			return fmt.Errorf("%s: %w: the %s is one of %s, not %q", f.Name, ErrOption, c.what, strings.Join(c.words, ", "), c.value)
		}
		if c.value != "" && c.value != c.words[0] && !c.of(f.Writing) {
			return fmt.Errorf("%s: %w: the %s %s is for %s", f.Name, ErrOption, c.what, c.value, writers(all, c.of))
		}
	}
	if o.Layout == "" || slices.Contains(f.Writing.Layouts, o.Layout) {
		return nil
	}
	if len(f.Writing.Layouts) > 0 {
		return fmt.Errorf("%s: %w: the layout is one of %s, not %q", f.Name, ErrOption, strings.Join(f.Writing.Layouts, ", "), o.Layout)
	}
	return fmt.Errorf("%s: %w: the layout %s is for %s", f.Name, ErrOption, o.Layout,
		writers(all, func(w Writing) bool { return slices.Contains(w.Layouts, o.Layout) }))
}

// writers names the formats that are written with an ability.
func writers(all []Format, has func(Writing) bool) string {
	var names []string
	for _, f := range all {
		if f.Create != nil && has(f.Writing) {
			names = append(names, f.Name)
		}
	}
	if len(names) == 0 {
		return "no format"
	}
	return strings.Join(names, ", ")
}

// What an EventError is about.
var (
	// ErrOrder reports an event that lies before the one ahead of it, in a format whose events are in time order.
	ErrOrder = errors.New("sort the events first")
	// ErrRange reports a value beyond what a format holds.
	ErrRange = errors.New("the format cannot hold it")
)

// An EventError reports the first event that a recording cannot be written with. Err is ErrOrder or ErrRange.
type EventError struct {
	Format string
	Event  int64  // from 0
	Msg    string // what is wrong with it, and what to do
	Err    error
}

func (e *EventError) Error() string { return fmt.Sprintf("%s: event %d %s", e.Format, e.Event, e.Msg) }

// Unwrap returns what the error is about.
func (e *EventError) Unwrap() error { return e.Err }

// Unordered is the EventError of an event at t that lies before the one ahead of it at last, in microseconds.
func Unordered(name string, event, t, last int64) error {
	return &EventError{name, event, fmt.Sprintf("at %d µs lies before the one before it at %d µs; %v", t, last, ErrOrder), ErrOrder}
}

// OutOfRange is the EventError of an event that a format cannot hold.
func OutOfRange(name string, event int64, msg string, args ...any) error {
	return &EventError{name, event, fmt.Sprintf(msg, args...), ErrRange}
}
