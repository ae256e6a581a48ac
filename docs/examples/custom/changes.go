package main

import (
	"fmt"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/udf"
)

// Changes is a filter with memory: of each pixel it keeps the first event, and each whose polarity differs from that of
// the event before it.
type Changes struct{}

// ChangesEntry makes it available by name. It has no parameter.
var ChangesEntry = udf.FilterEntry{
	Name:   "changes",
	Doc:    "keeps the events at which a pixel's polarity changes",
	Source: "this example",
	New:    func(udf.Args) (udf.Filter, error) { return Changes{}, nil },
}

// String prints the filter as explain shows it.
func (Changes) String() string { return "changes()" }

// Columns are what it reads beside t.
func (Changes) Columns() event.Columns { return event.ColX | event.ColY | event.ColP }

// Open readies the filter for one scan of a recording.
func (Changes) Open(g event.Geometry) (udf.Sieve, error) {
	return &changesSieve{udf.NewPixels[int8](g)}, nil
}

// A changesSieve remembers the last polarity of each pixel: 1 OFF, 2 ON, 0 none yet.
type changesSieve struct{ last *udf.Pixels[int8] }

// Sift clears keep where an event is left out. Batches come in time order, cut anywhere.
func (s *changesSieve) Sift(b event.Batch, keep []bool) error {
	if err := s.last.Cover(b); err != nil { // a sensor of unknown size grows with the events
		return fmt.Errorf("changes: %w", err)
	}
	x, y, p := b.X(), b.Y(), b.P()
	for i := range keep {
		at, ok := s.last.At(x[i], y[i])
		if !ok {
			continue // off the sensor: who places events counts them
		}
		now := p[i] + 1
		keep[i] = s.last.Values[at] != now
		s.last.Values[at] = now
	}
	return nil
}
