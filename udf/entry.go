package udf

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/evq-project/evq/io/event"
)

// An EntryOf makes a function available by name to the frame, SQL, the command and the documents.
type EntryOf[F any] struct {
	Name   string
	Doc    string
	Source string // the paper or program that defines it
	Params []Param
	New    func(Args) (F, error)
	// Policy holds the decode policies a representation is defined with, such as on-unsorted=clamp; they
	// replace the reader's defaults, never what a user says.
	Policy map[string]string
}

// An Entry is a representation by name.
type Entry = EntryOf[Representation]

// A FilterEntry is a filter with memory by name.
type FilterEntry = EntryOf[Filter]

// An AggregateEntry is an aggregate by name.
type AggregateEntry = EntryOf[Aggregate]

// A Param is a named argument.
type Param struct {
	Name    string
	Default string
	Choices []string // where only these words are allowed
	Doc     string
}

// Args are the arguments of a call by name; Entry.Make fills in the defaults.
type Args map[string]string

// Make checks the arguments, fills in the defaults and makes the function.
func (e EntryOf[F]) Make(given Args) (made F, err error) {
	args := Args{}
	for _, p := range e.Params {
		args[p.Name] = p.Default
	}
	for k, v := range given {
		p, ok := e.param(k)
		if !ok {
			return made, fmt.Errorf("%s has no parameter %q; it has %s", e.Name, k, cmp.Or(strings.Join(e.paramNames(), ", "), "none"))
		}
		if len(p.Choices) > 0 && !contains(p.Choices, v) {
			return made, fmt.Errorf("%s: %s is one of %s, not %q", e.Name, k, strings.Join(p.Choices, ", "), v)
		}
		args[k] = v
	}
	made, err = e.New(args)
	if err != nil {
		return made, fmt.Errorf("%s: %w", e.Name, err)
	}
	return made, nil
}

func (e EntryOf[F]) param(name string) (Param, bool) {
	for _, p := range e.Params {
		if p.Name == name {
			return p, true
		}
	}
	return Param{}, false
}

func (e EntryOf[F]) paramNames() []string {
	var out []string
	for _, p := range e.Params {
		out = append(out, p.Name)
	}
	return out
}

func contains(of []string, s string) bool {
	for _, c := range of {
		if c == s {
			return true
		}
	}
	return false
}

// Int reads an argument as an integer in [lo, hi].
func (a Args) Int(name string, lo, hi int) (int, error) {
	v, err := strconv.Atoi(a[name])
	if err != nil || v < lo || v > hi {
		return 0, fmt.Errorf("%s is a whole number from %d to %d, not %q", name, lo, hi, a[name])
	}
	return v, nil
}

// Float reads an argument as a finite number in [lo, hi].
func (a Args) Float(name string, lo, hi float64) (float64, error) {
	v, err := strconv.ParseFloat(a[name], 64)
	if err != nil || !(v >= lo && v <= hi) {
		return 0, fmt.Errorf("%s is a number from %g to %g, not %q", name, lo, hi, a[name])
	}
	return v, nil
}

// Micros reads an argument as a duration in [lo, hi] microseconds, such as 50ms; a bare number is microseconds.
func (a Args) Micros(name string, lo, hi int64) (int64, error) {
	v, err := event.ParseMicros(a[name], "us")
	if err != nil || v < lo || v > hi {
		return 0, fmt.Errorf("%s is a duration from %dus to %dus such as 50ms, not %q", name, lo, hi, a[name])
	}
	return v, nil
}

// Bool reads an argument that is true or false.
func (a Args) Bool(name string) (bool, error) {
	v, err := strconv.ParseBool(a[name])
	if err != nil {
		return false, fmt.Errorf("%s is true or false, not %q", name, a[name])
	}
	return v, nil
}

// ParseCall splits "name:k=v,k=v" into the name and its arguments.
func ParseCall(text string) (name string, args Args, err error) {
	name, rest, _ := strings.Cut(text, ":")
	args = Args{}
	if rest == "" {
		return name, args, nil
	}
	for part := range strings.SplitSeq(rest, ",") {
		k, v, ok := strings.Cut(part, "=")
		if k = strings.TrimSpace(k); !ok || k == "" {
			return "", nil, fmt.Errorf("%q: arguments are written NAME:key=value,key=value", text)
		}
		if _, twice := args[k]; twice {
			return "", nil, fmt.Errorf("%q: %s is given twice", text, k)
		}
		args[k] = strings.TrimSpace(v)
	}
	return name, args, nil
}
