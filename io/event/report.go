package event

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A Counter names one thing that decoding counts.
type Counter int

// What decoding counts. Each is explained in the table that Counters returns.
const (
	Triggers Counter = iota
	BeforeTimeBase
	Wraps
	Glitches
	Gaps
	Unsorted
	OffSensor
	Unknown
	PartialVect
	InvalidVectBase
	MissingY
	TrailingBytes
	Duplicates
	RemappedPolarity
	DamagedBytes
	numCounters
)

// A CounterDoc says what a counter counts, under the name that metadata and JSON use.
type CounterDoc struct{ Name, Doc string }

var counterDocs = [numCounters]CounterDoc{
	Triggers:         {"triggers", "external triggers, kept in a table of their own"},
	BeforeTimeBase:   {"before_time_base", "events before the first time base, or the next one after damage, which have no time"},
	Wraps:            {"wraps", "overflows of the sensor's clock, corrected"},
	Glitches:         {"glitches", "small backward steps of the time base, taken as they are"},
	Gaps:             {"gaps", "forward steps of the time base by more than a second"},
	Unsorted:         {"unsorted", "events that lie before an earlier event"},
	OffSensor:        {"offsensor", "events outside the sensor"},
	Unknown:          {"unknown", "words of a reserved or foreign type, by type"},
	PartialVect:      {"partial_vect", "vectors that end before their last word"},
	InvalidVectBase:  {"invalid_vect_base", "vectors without a base address"},
	MissingY:         {"missing_y", "events before the first row address, or the next one after damage"},
	TrailingBytes:    {"trailing_bytes", "bytes of a cut last record"},
	Duplicates:       {"duplicates", "events equal to the one before"},
	RemappedPolarity: {"remapped_polarity", "polarities stored otherwise than as 0 or 1"},
	DamagedBytes:     {"damaged_bytes", "bytes skipped because they are damaged"},
}

// String returns the counter's name.
func (c Counter) String() string { return counterDocs[c].Name }

// Counters lists every counter in the order of their numbers.
func Counters() []CounterDoc { return counterDocs[:] }

// A Tally counts one thing: how often, where first, and how many events or bytes it cost.
type Tally struct {
	N     int64 `json:"n"`
	First int64 `json:"first"` // byte offset (or event index) of the first, -1 where it is not known
	Lost  int64 `json:"lost,omitempty"`
}

// A Report counts what a scan met. It serves one goroutine at a time.
type Report struct {
	Events int64 // events yielded
	Shift  int64 // microseconds that were subtracted from every time
	// MaxX and MaxY are the largest coordinates met, those of events that were dropped off the sensor included.
	MaxX, MaxY uint16

	tally   [numCounters]Tally
	unknown map[string]int64
	Notes   []string // what a reader should be told once, in full sentences
}

// Count adds n to a counter. offset is where in the file it happened, -1 where that is not known.
func (r *Report) Count(c Counter, n, offset int64) {
	t := &r.tally[c]
	if t.N == 0 {
		t.First = offset
	}
	t.N += n
}

// Lose counts n events or bytes that were met and are not in the output.
func (r *Report) Lose(c Counter, n, offset int64) {
	r.Count(c, n, offset)
	r.tally[c].Lost += n
}

// CountUnknown counts n words of a type that carries no event.
func (r *Report) CountUnknown(kind string, n, offset int64) {
	r.Count(Unknown, n, offset)
	if r.unknown == nil {
		r.unknown = map[string]int64{}
	}
	r.unknown[kind] += n
}

// Note adds a sentence, once.
func (r *Report) Note(format string, args ...any) {
	s := fmt.Sprintf(format, args...)
	if !slices.Contains(r.Notes, s) {
		r.Notes = append(r.Notes, s)
	}
}

// Get returns one tally.
func (r *Report) Get(c Counter) Tally { return r.tally[c] }

// N returns the count of c.
func (r *Report) N(c Counter) int64 { return r.tally[c].N }

// UnknownKinds returns the words without an event, by type.
func (r *Report) UnknownKinds() map[string]int64 { return maps.Clone(r.unknown) }

// Lost reports whether events or bytes were lost.
func (r *Report) Lost() bool {
	return slices.ContainsFunc(r.tally[:], func(t Tally) bool { return t.Lost > 0 })
}

// Losses says what was lost, one phrase each, such as "2 offsensor".
func (r *Report) Losses() []string {
	var out []string
	for c, t := range r.tally {
		if t.Lost > 0 {
			out = append(out, fmt.Sprintf("%d %s", t.Lost, Counter(c)))
		}
	}
	return out
}

// String lists the counters that are not zero.
func (r *Report) String() string {
	parts := []string{fmt.Sprintf("events=%d", r.Events)}
	for c, t := range r.tally {
		if t.N > 0 && Counter(c) != Unknown {
			parts = append(parts, fmt.Sprintf("%s=%d", Counter(c), t.N))
		}
	}
	for _, k := range slices.Sorted(maps.Keys(r.unknown)) {
		parts = append(parts, fmt.Sprintf("unknown[%s]=%d", k, r.unknown[k]))
	}
	return strings.Join(parts, " ")
}

// Add takes in what another scan lost and noted: its counters, not its events. Offsets are those of the file where a
// thing was met first.
func (r *Report) Add(o *Report) {
	for c := range r.tally {
		t, u := &r.tally[c], o.tally[c]
		if t.N == 0 {
			t.First = u.First
		}
		t.N += u.N
		t.Lost += u.Lost
	}
	for kind, n := range o.unknown {
		if r.unknown == nil {
			r.unknown = map[string]int64{}
		}
		r.unknown[kind] += n
	}
	r.MaxX, r.MaxY = max(r.MaxX, o.MaxX), max(r.MaxY, o.MaxY)
	for _, n := range o.Notes {
		r.Note("%s", n)
	}
}

// Clone returns an independent copy.
func (r *Report) Clone() *Report {
	c := *r
	c.unknown, c.Notes = maps.Clone(r.unknown), slices.Clone(r.Notes)
	return &c
}

type reportJSON struct {
	Events   int64            `json:"events"`
	Shift    int64            `json:"shift,omitempty"`
	MaxX     uint16           `json:"max_x"`
	MaxY     uint16           `json:"max_y"`
	Counters map[string]Tally `json:"counters,omitempty"`
	Unknown  map[string]int64 `json:"unknown,omitempty"`
	Notes    []string         `json:"notes,omitempty"`
}

// MarshalJSON writes the counters that are not zero, under their names.
func (r *Report) MarshalJSON() ([]byte, error) {
	j := reportJSON{
		Events: r.Events, Shift: r.Shift, MaxX: r.MaxX, MaxY: r.MaxY,
		Unknown: r.unknown, Notes: r.Notes, Counters: map[string]Tally{},
	}
	for c, t := range r.tally {
		if t.N > 0 {
			j.Counters[Counter(c).String()] = t
		}
	}
	return json.Marshal(j)
}

// UnmarshalJSON reads what MarshalJSON wrote; counters of other versions are ignored.
func (r *Report) UnmarshalJSON(b []byte) error {
	var j reportJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return fmt.Errorf("event: report: %w", err)
	}
	*r = Report{Events: j.Events, Shift: j.Shift, MaxX: j.MaxX, MaxY: j.MaxY, unknown: j.Unknown, Notes: j.Notes}
	for c := range r.tally {
		r.tally[c] = j.Counters[Counter(c).String()]
	}
	return nil
}
