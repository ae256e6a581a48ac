package format

import (
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/evq-project/evq/io/event"
)

// A Choice is one of the words a policy can be set to.
type Choice string

// The words of the policies.
const (
	Sort  Choice = "sort"  // order: stable by time
	Clamp Choice = "clamp" // order: running maximum of the times, file order kept (what RVT's reader does)
	Drop  Choice = "drop"  // order, off-sensor: leave the event out, counted
	Error Choice = "error" // fail at the first
	Keep  Choice = "keep"  // off-sensor: let them pass; order, in Go alone: leave them as they are, out of order
	Skip  Choice = "skip"  // unknown words: count and go on
)

// The words each policy takes, its default first.
var (
	OrderChoices     = []Choice{Sort, Clamp, Drop, Error}
	OffSensorChoices = []Choice{Drop, Error, Keep}
	UnknownChoices   = []Choice{Skip, Error}
)

// ParseChoice checks a policy's word; "" is the default.
func ParseChoice(policy, word string, of []Choice) (Choice, error) {
	if word == "" {
		return of[0], nil
	}
	if !slices.Contains(of, Choice(word)) {
		names := make([]string, len(of))
		for i, c := range of {
			names[i] = string(c)
		}
		return "", fmt.Errorf("%s is one of %s, not %q", policy, strings.Join(names, ", "), word)
	}
	return Choice(word), nil
}

// A Policy says how a recording is decoded where its bytes leave a choice. The zero value is the default.
type Policy struct {
	OnUnsorted  Choice            // sort (default), clamp, drop, error
	OnOffSensor Choice            // drop (default), error, keep
	OnUnknown   Choice            // skip (default), error
	Strict      bool              // every policy is error, and a cut tail too
	Size        event.Geometry    // wins over the file's own
	Zero        bool              // subtract the first time; the shift is recorded
	SwapXY      bool              // the file has x and y exchanged
	Polarity    string            // auto (default), 01, pm1, nonzero
	TimeUnit    string            // of formats that do not fix it: auto (default), s, ms, us, ns
	TimeStep    time.Duration     // from one event to the next, in formats without times; 0 = such a format is refused
	Columns     []string          // the order of columns, such as t,x,y,p, in formats that do not say it; nil = as found
	Layout      string            // of formats that have several and do not say which; "" = as found
	Stream      int               // which of several event streams, where StreamGiven is set; else the first
	StreamGiven bool              // Stream was chosen
	DatasetMap  map[string]string // names of the datasets for t, x, y, p in HDF5 and archives; nil = as found
	Salvage     bool              // skip damage before the tail, name each bad range and go on
	Memory      int64             // bytes that sorting may hold; 0 = DefaultMemory
	TempDir     string            // where external sorting spills; "" = the system's
	Threads     int               // goroutines that decode; 0 = one per CPU
	ReadSize    int               // bytes read at a time, for tests; 0 = a good size
	Logger      *slog.Logger      // nil = silent
	// OnRead, where set, is told how far into the file it has been read, in bytes, from any goroutine.
	OnRead func(offset int64)
}

// DefaultMemory bounds what one scan holds to bring events in order.
const DefaultMemory = 128 << 20

// WithDefaults fills in what is not set.
func (p Policy) WithDefaults() Policy {
	set := func(c *Choice, of []Choice) {
		if *c == "" {
			*c = of[0]
		}
	}
	set(&p.OnUnsorted, OrderChoices)
	set(&p.OnOffSensor, OffSensorChoices)
	set(&p.OnUnknown, UnknownChoices)
	if p.Strict {
		p.OnUnsorted, p.OnOffSensor, p.OnUnknown = Error, Error, Error
	}
	if p.Polarity == "" {
		p.Polarity = "auto"
	}
	if p.Memory <= 0 {
		p.Memory = DefaultMemory
	}
	if p.Threads <= 0 {
		p.Threads = runtime.GOMAXPROCS(0)
	}
	if p.Logger == nil {
		p.Logger = slog.New(slog.DiscardHandler)
	}
	return p
}
