package conformance

import (
	"fmt"
	"slices"
	"strings"
)

// A value is one value of a summary.
type value struct {
	key, doc string
	of       func(s *Summary) any
	ordered  bool // says something of the file order
	triggers bool
}

// values lists the values of a summary in the order in which they are written and compared.
var values = []value{
	{key: "n", doc: "number of events", of: func(s *Summary) any { return s.N }},
	{key: "geometry", doc: "sensor, as the recording says it", of: func(s *Summary) any { return s.Geometry }},
	{key: "t_first", doc: "t of the first event in file order", of: func(s *Summary) any { return s.TFirst }, ordered: true},
	{key: "t_last", doc: "t of the last event in file order", of: func(s *Summary) any { return s.TLast }, ordered: true},
	{key: "x_max", doc: "largest x", of: func(s *Summary) any { return s.XMax }},
	{key: "y_max", doc: "largest y", of: func(s *Summary) any { return s.YMax }},
	{key: "pos", doc: "number of ON events", of: func(s *Summary) any { return s.Pos }},
	{key: "neg", doc: "number of OFF events", of: func(s *Summary) any { return s.Neg }},
	{key: "sum_x", doc: "sum of all x", of: func(s *Summary) any { return s.SumX }},
	{key: "sum_y", doc: "sum of all y", of: func(s *Summary) any { return s.SumY }},
	{key: "sum_t_mod64", doc: "sum of all t, modulo 2^64", of: func(s *Summary) any { return s.SumT }},
	{key: "nonmonotonic", doc: "events whose t is less than that of the event before", of: func(s *Summary) any { return s.Nonmonotonic }, ordered: true},
	{key: "head", doc: "the first events in file order, each [x, y, p, t]", of: func(s *Summary) any { return s.Head }, ordered: true},
	{key: "tail", doc: "the last events in file order, each [x, y, p, t]", of: func(s *Summary) any { return s.Tail }, ordered: true},
	{key: "sha256_canonical_sorted", doc: "digest of the events ordered by t, x, y, p", of: func(s *Summary) any { return s.Sorted }},
	{key: "sha256_file_order", doc: "digest of the events in file order", of: func(s *Summary) any { return s.FileOrder }, ordered: true},
	{key: "triggers", doc: "number of external triggers", of: func(s *Summary) any { return s.Triggers }, triggers: true},
	{key: "trigger_head_value_id_t", doc: "the first triggers, each [edge, channel, t], edge 1 = rising", of: func(s *Summary) any { return s.TriggerHead }, triggers: true},
	{key: "trigger_sum_t", doc: "sum of all triggers' t", of: func(s *Summary) any { return s.TriggerSumT }, triggers: true},
}

// Values lists the keys of a reference, each with what it says, in the order in which they are written.
func Values() [][2]string {
	out := make([][2]string, len(values))
	for i, v := range values {
		out[i] = [2]string{v.key, v.doc}
	}
	return out
}

// A Scope leaves out what a recording cannot be asked for. The zero value compares all.
type Scope struct {
	AnyOrder   bool // the events come in another order than the file's: only what does not depend on it is compared
	NoTriggers bool // the recording has no place for triggers
}

// A Difference is a value that is not the reference's. The names of its JSON keys are stable.
type Difference struct {
	Value string `json:"value"` // its key in the reference
	Doc   string `json:"doc"`
	Got   any    `json:"got"`
	Want  any    `json:"want"`
}

func (d Difference) String() string { return fmt.Sprintf("%s is %v, not %v", d.Doc, d.Got, d.Want) }

// A Place is an event that is not the reference's, where the reference holds it.
type Place struct {
	Index int64  `json:"index"` // in file order, from 0
	Got   *Event `json:"got"`   // null where there is none
	Want  *Event `json:"want"`
}

func (e *Event) String() string {
	if e == nil {
		return "none"
	}
	return fmt.Sprintf("x=%d y=%d p=%d t=%d", e[0], e[1], e[2], e[3])
}

// A Comparison is a summary beside its reference. The names of its JSON keys are stable.
type Comparison struct {
	Compared    []string     `json:"compared"` // the keys of the values that were compared
	Differences []Difference `json:"differences"`
	// First is the first event that differs, nil where none does that the reference holds: it holds the first and the
	// last ones only.
	First *Place `json:"first"`
}

// Equal reports whether all that was compared is equal.
func (c *Comparison) Equal() bool { return len(c.Differences) == 0 }

// Compare compares a summary with the values that the reference knows. It fails with ErrNoValue where there is none.
func (e Expected) Compare(got *Summary, scope Scope) (*Comparison, error) {
	c := &Comparison{Compared: []string{}, Differences: []Difference{}}
	for _, v := range values {
		if !e.Knows(v.key) || v.ordered && scope.AnyOrder || v.triggers && scope.NoTriggers {
			continue
		}
		c.Compared = append(c.Compared, v.key)
		g, w := v.of(got), v.of(&e.Summary)
		same := false
		switch v.key {
		case "head":
			same = c.head(got, e.Head)
		case "tail":
			same = e.Knows("n") && e.N != got.N || c.tail(got, e.Tail) // of other numbers the ends are not the same events
		case "trigger_head_value_id_t":
			n := min(len(got.TriggerHead), len(e.TriggerHead)) // their number is a value of its own
			same = slices.Equal(got.TriggerHead[:n], e.TriggerHead[:n])
		case "sha256_canonical_sorted", "sha256_file_order":
			same = strings.EqualFold(g.(string), w.(string))
		default:
			same = g == w
		}
		if !same {
			c.Differences = append(c.Differences, Difference{v.key, v.doc, g, w})
		}
	}
	if len(c.Compared) == 0 {
		return nil, ErrNoValue
	}
	return c, nil
}

// head compares the first events.
func (c *Comparison) head(got *Summary, want []Event) bool {
	for i := range want[:min(len(want), Ends)] {
		if i >= len(got.Head) {
			return c.differ(int64(i), nil, &want[i])
		}
		if got.Head[i] != want[i] {
			return c.differ(int64(i), &got.Head[i], &want[i])
		}
	}
	return true
}

// tail compares the last events of as many.
func (c *Comparison) tail(got *Summary, want []Event) bool {
	want = want[max(0, len(want)-Ends):]
	if len(want) > len(got.Tail) {
		return false
	}
	from := len(got.Tail) - len(want)
	for i := range want {
		if g := &got.Tail[from+i]; *g != want[i] {
			return c.differ(got.N-int64(len(want)-i), g, &want[i])
		}
	}
	return true
}

// differ keeps the first event that differs.
func (c *Comparison) differ(index int64, got, want *Event) bool {
	if c.First == nil {
		c.First = &Place{index, got, want}
	}
	return false
}
