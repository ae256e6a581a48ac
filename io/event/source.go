package event

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"strings"
)

// A Source is a recording that can be scanned any number of times, also from several goroutines.
type Source interface {
	// String names the recording as messages and plans show it.
	fmt.Stringer
	// Geometry is the size of the sensor, zero where it is not known.
	Geometry() Geometry
	// Info says what is known of the recording without decoding it.
	Info() Info
	// Scan starts to read the events, in time order.
	Scan(ctx context.Context, want Request) (Stream, error)
}

// A Stream yields batches in time order; Next returns io.EOF after the last. A stream serves one goroutine.
type Stream interface {
	Next(ctx context.Context) (Batch, error)
	// Report counts what the scan met so far; after io.EOF it is complete.
	Report() *Report
	Close() error
}

// Each scans src and calls do with one batch after another, valid until do returns. The report is that of the scan,
// nil where none began; after an error, of do as well, it says what was met up to then.
func Each(ctx context.Context, src Source, want Request, do func(Batch) error) (rep *Report, err error) {
	st, err := src.Scan(ctx, want)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	for {
		b, err := st.Next(ctx)
		if errors.Is(err, io.EOF) {
			return st.Report(), nil
		}
		if err == nil {
			err = do(b)
			b.Release()
		}
		if err != nil {
			return st.Report(), err
		}
	}
}

// A Request tells a source what it may leave out; yielding more than asked is always correct. The zero
// Box would hold almost nothing: start from All.
type Request struct {
	// Columns are the columns that the reader uses; t is always yielded. Zero means all.
	Columns Columns
	// Box holds every event the reader wants. Sources skip what lies outside where that is cheap.
	Box Box
	// Threads bounds the goroutines that decode; zero means one per CPU.
	Threads int
	// Triggers, where set, gets the external triggers in file order, as they are met. The slice is reused.
	Triggers func([]Trigger) error
	// Restartable says that the reader can start over. A source may then end a scan with ErrRestart where it
	// would otherwise have to read the recording once more before its first event.
	Restartable bool
}

// All is the request for every event and every column.
var All = Request{Box: Everything}

// ErrRestart ends a restartable scan whose source learned something that makes it start over: scan again.
var ErrRestart = errors.New("event: the scan must start over")

// Columns is a set of event columns.
type Columns uint8

// The columns beside t, which every batch has.
const (
	ColX Columns = 1 << iota
	ColY
	ColP
	ColT // asks for nothing: t is always there. It tells who reads only t from the empty set, which is all

	AllColumns = ColX | ColY | ColP
)

// Has reports whether c holds all of d; the empty set stands for all columns.
func (c Columns) Has(d Columns) bool { return c == 0 || c&d == d }

// String lists the columns, t first.
func (c Columns) String() string {
	if c == 0 {
		c = AllColumns
	}
	names := []string{"t"}
	for c &^= ColT; c != 0; c &= c - 1 {
		names = append(names, string("xyp"[bits.TrailingZeros8(uint8(c))]))
	}
	return strings.Join(names, ",")
}

// A Trigger is an edge on an external input of the camera.
type Trigger struct {
	T       int64 // microseconds
	Channel int16
	Rising  bool
}

// A Window is a run of events: [Lo, Hi) of the batch it belongs to. Start and End are its limits in
// microseconds; whether End belongs to it is a matter of the window's kind.
type Window struct {
	Index      int
	Start, End int64
	Lo, Hi     int
	// Since is where the events begin that no earlier window was handed: before Lo where events lie between windows,
	// behind it where windows overlap. Only readers that asked for those events may look at it.
	Since int
}

// Windowed is a run of complete windows over one batch. Windows may overlap and share events.
type Windowed struct {
	Events  Batch
	Windows []Window
}

// Info is what a source knows of its recording before decoding it.
type Info struct {
	Name     string   // the file's name
	Format   string   // the format's name, such as evt3 or parquet
	Version  string   // the format's version where it has one
	Geometry Geometry // zero where unknown
	Unit     string   // the unit of time as stored: us unless the format has another
	Polarity string   // the polarity encoding as stored, such as 0/1 or -1/1
	Sorted   bool     // the events are stored in time order, so that no policy has anything to do
	Events   int64    // the number of events, or -1 where only decoding tells
	Extent   Box      // the extremes of the events; valid where Events > 0 and Stats is set
	Stats    bool     // Extent is known
	Fields   []Field  // fields of the header or the store's metadata, in file order
	Streams  []Field  // other streams the file holds, by name, with what becomes of each
	Report   *Report  // what the conversion counted; nil unless the recording is a store
}

// A Field is one named value of a header.
type Field struct{ Key, Value string }

// Field returns the value of the first field called key, or "".
func (i Info) Field(key string) string {
	for _, f := range i.Fields {
		if f.Key == key {
			return f.Value
		}
	}
	return ""
}

// A Sink keeps events, and the triggers beside them, in the order they are written.
type Sink interface {
	// Write adds events. The caller keeps the batch.
	Write(ctx context.Context, b Batch) error
	// WriteTriggers adds external triggers; formats that have no place for them count them as left out.
	WriteTriggers(tr []Trigger) error
	// Close completes the recording; only then does it appear under its name.
	Close() error
	// Abort drops what was written. After Close it does nothing.
	Abort() error
}
