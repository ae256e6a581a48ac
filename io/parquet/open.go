package parquet

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strconv"

	"github.com/apache/arrow-go/v18/parquet/file"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/format"
)

// Format is the sorted store, and any Parquet file with the columns t, x, y and p.
var Format = format.Format{
	Name:       formatName,
	Doc:        "Parquet with the columns t (microseconds), x, y, p: the store that convert writes",
	Facts:      documented,
	Extensions: []string{".parquet"},
	Magic:      magic,
	Sniff:      sniff,
	Open:       Open,
	Create:     Create,
	Writing:    format.Writing{Duration: true, Triggers: true},
}

// sniff judges a file by its footer. A Parquet file that holds no events is still claimed, weakly, so that
// opening it says what is wrong.
func sniff(f format.File) format.Proof {
	head := make([]byte, len(magic))
	if _, err := f.ReadAt(head, 0); err != nil || string(head) != magic {
		return format.Proof{}
	}
	s, says, err := openFooter(f, format.Policy{})
	if err != nil {
		return format.Proof{Confidence: 0.5, Why: "starts with PAR1, but: " + err.Error()}
	}
	p := format.Proof{Confidence: 1, Version: says.version, Why: "Parquet with the columns t, x, y, p",
		Properties: []event.Field{{Key: "events", Value: strconv.FormatInt(s.meta.GetNumRows(), 10)}}}
	if g := says.geometry; g.Known() {
		p.Properties = append(p.Properties, event.Field{Key: "geometry", Value: g.String()})
	}
	return p
}

// Open reads the footer of a store. Files of other writers may keep t as 64-bit integers or as timestamps in
// microseconds, x and y in any integer type, p in any integer type or as booleans.
func Open(_ context.Context, f format.File, p format.Policy) (event.Source, error) {
	s, err := openStore(f, p)
	if err != nil {
		return nil, err
	}
	if s.settled(p) {
		s.resize(p.Size)
		return s, nil
	}
	return format.NewSource(format.Recording{File: f, Info: s.info, Policy: p, Decode: s.decode}), nil
}

// settled reports whether the policies have nothing to do: the store was made under policies of its own.
func (s *Store) settled(p format.Policy) bool {
	fits := !p.Size.Known() || s.info.Events == 0 ||
		s.info.Stats && int(s.info.Extent.X1) < p.Size.Width && int(s.info.Extent.Y1) < p.Size.Height
	return s.info.Sorted && fits && !p.Zero && !p.SwapXY
}

// resize lets a size that was asked for win over the store's own.
func (s *Store) resize(g event.Geometry) {
	if own := s.info.Geometry; g.Known() && g != own {
		s.info.Geometry = g
		if own.Known() {
			s.note = fmt.Sprintf("the store says that the sensor has %v pixels; the given size %v is used instead.", own, g)
		}
	}
}

func openStore(f format.File, p format.Policy) (_ *Store, err error) {
	defer guard(&err)
	s, says, err := openFooter(f, p)
	if err != nil {
		return nil, err
	}
	if s.groups, err = rowGroups(s.meta, s.columns, says.version != ""); err != nil {
		return nil, err
	}
	s.describe(says, p)
	return s, nil
}

// openFooter reads what the footer says of the file as a whole.
func openFooter(f format.File, p format.Policy) (s *Store, says facts, err error) {
	defer guard(&err)
	s = &Store{file: f, salvage: p.Salvage}
	if s.polarity, err = polarityOf(p.Polarity); err != nil {
		return nil, says, err
	}
	r, err := file.NewParquetReader(io.NewSectionReader(f, 0, f.Size), readProps())
	if err != nil {
		return nil, says, fmt.Errorf("%w: the footer, which says where everything lies, cannot be read, so that nothing can be salvaged: %w", err, ErrDamaged)
	}
	s.meta = r.MetaData()
	// Parsed on first use and kept in the footer: it must happen before goroutines share it.
	s.meta.WriterVersion()
	if s.columns, err = findColumns(s.meta.Schema); err != nil {
		return nil, says, err
	}
	says, err = parseFacts(s.meta.KeyValueMetadata())
	return s, says, err
}

// describe sets what is known of the store without decoding it.
func (s *Store) describe(f facts, p format.Policy) {
	s.info = event.Info{
		Name: filepath.Base(s.file.Path), Format: formatName, Version: f.version, Geometry: f.geometry,
		Unit: "us", Polarity: "0/1", Events: s.meta.GetNumRows(), Sorted: s.sorted(f),
		Fields: append(f.history, f.fields...), Streams: f.streams, Report: f.report,
	}
	s.info.Extent, s.info.Stats = hull(s.groups)
	if f.version == "" {
		s.info.Polarity = "" // only decoding tells
	}
	if n, ok := countTriggers(s.file.Path); ok {
		s.info.Streams = append(s.info.Streams, event.Field{Key: "triggers",
			Value: fmt.Sprintf("%d in %s", n, filepath.Base(TriggerPath(s.file.Path)))})
	}
}

// sorted reports whether the file says that its rows are in time order, and its statistics do not deny it.
func (s *Store) sorted(f facts) bool {
	claimed := f.version != ""
	if !claimed && len(s.groups) > 0 {
		claimed = true
		for _, g := range s.groups {
			claimed = claimed && g.sorted
		}
	}
	return claimed && inOrder(s.groups)
}

// countTriggers returns the number of triggers beside the store at path. Damage shows when they are read.
func countTriggers(path string) (n int64, ok bool) {
	var err error
	defer guard(&err)
	r, done, err := openTriggers(path)
	if err != nil || r == nil {
		return 0, false
	}
	defer done()
	return r.NumRows(), true
}
