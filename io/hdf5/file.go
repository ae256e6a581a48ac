//go:build hdf5 && cgo

package hdf5

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/hdf5/chunk"
	"github.com/evq-project/evq/io/hdf5/ecf"
	"gonum.org/v1/hdf5"
)

// group is where written events lie.
const group = "events"

// largestChunk bounds the memory that one chunk may ask for.
const largestChunk = 1 << 28

// A file is an open recording: its four columns and what stands beside them.
type file struct {
	path       string
	h          *hdf5.File
	place      place
	table      bool                // the columns lie in one dataset
	columns    [numColumns]dataset // those that are open have an id
	whole      *wholeFile          // the file, or what stands in for it where it was cut
	triggers   *triggerTable       // nil where there are none
	rows       int64
	unit       timeUnit
	offset     int64 // added to every time: as stored where times are integers, in microseconds where they are floats
	stored     int64 // the offset as the file has it
	dsec       bool
	size       event.Geometry
	attributes []event.Field // of the file, those that are strings
	streams    []event.Field // what else the file holds
}

// openFile opens a recording as the default policy has it.
func openFile(path string) (*file, error) { return openWith(path, format.Policy{}) }

// openWith opens a recording and checks that its columns are what evq reads.
func openWith(path string, p format.Policy) (*file, error) {
	f := &file{path: path}
	var err error
	if f.whole, err = openWhole(path, p); err != nil {
		return nil, err
	}
	err = locked(func() error {
		h, err := hdf5.OpenFile(f.whole.path, hdf5.F_ACC_RDONLY)
		if err != nil {
			return failed("opening (the file may be cut or not HDF5)")
		}
		f.h = h
		if err := f.inspect(p); err != nil {
			f.close()
			return err
		}
		return nil
	})
	if err != nil {
		f.whole.Close()
		return nil, fmt.Errorf("hdf5: %s: %w", path, f.whole.explain(err))
	}
	return f, nil
}

// inspect finds the events and what belongs to them. Call it inside the library.
func (f *file) inspect(p format.Policy) error {
	if err := f.locate(p); err != nil {
		return err
	}
	if err := f.openColumns(); err != nil {
		return err
	}
	f.attributes = attributesOf(f.path)
	f.size = f.geometry()
	if err := f.findUnit(p.TimeUnit); err != nil {
		return err
	}
	if f.place.layout == propheseeLayout {
		f.openTriggers()
	}
	return f.findOffset()
}

func (f *file) openColumns() error {
	f.table = f.place.table()
	for i, o := range f.place.columns {
		d, err := f.openColumn(i, o)
		if err != nil {
			return fmt.Errorf("dataset %s: %w", f.name(i), err)
		}
		f.columns[i] = f.whole.bound(d)
	}
	f.rows = f.columns[colT].rows
	for i, c := range f.columns {
		if c.rows != f.rows {
			return fmt.Errorf("columns of unequal length: %s has %d rows and %s has %d; the file is damaged or incomplete",
				f.name(colT), f.rows, f.name(i), c.rows)
		}
	}
	return nil
}

// openColumn opens one column. Those of a table share their dataset.
func (f *file) openColumn(i int, o origin) (d dataset, err error) {
	if f.table && i > 0 {
		d, err = inspect(f.columns[colT].id)
	} else {
		var id int64
		if id, err = openChecked(f.path, f.h.ID(), o.dataset); err != nil {
			return d, err
		}
		f.columns[i].id = id // to be closed
		d, err = inspect(id)
	}
	if err != nil {
		return d, err
	}
	if o.field != "" {
		var ok bool
		if d, ok = d.field(o.field); !ok {
			return d, fmt.Errorf("the records have no field %s that lies inside them; the file is damaged", o.field)
		}
	}
	if f.place.layout == matrixLayout {
		if d.row != numColumns*d.elem.size {
			return d, fmt.Errorf("it is %s with %d columns; events have %d numbers", d.typeName(), d.cols, numColumns)
		}
		d.at = o.index * d.elem.size
	} else if d.rank != 1 {
		return d, fmt.Errorf("it has %d dimensions; a column has one", d.rank)
	}
	return d, check(d)
}

// findUnit decides what times are stored in.
func (f *file) findUnit(word string) error {
	u, given, err := parseUnit(word)
	switch {
	case err != nil:
		return err
	case !given:
		u = unitOf(f.columns[colT].elem)
	case f.place.layout == propheseeLayout && u != microseconds:
		return fmt.Errorf("times at %s are microseconds by definition; leave out --time-unit", propheseePath)
	}
	f.unit = u
	return nil
}

// findOffset reads what is to be added to times.
func (f *file) findOffset() error {
	if f.place.group() != "/"+group {
		return nil
	}
	if f.stored, f.dsec = scalar(f.h.ID(), "t_offset", false); !f.dsec && f.h.LinkExists("t_offset") {
		return errors.New("/t_offset, which times are to be added to, is no whole number of 64 bits; correct it, or remove it to read t as it is")
	}
	if f.dsec {
		if err := f.whole.holds(f.h.ID(), "t_offset"); err != nil {
			return err
		}
	}
	f.offset = f.stored
	if f.columns[colT].elem.float {
		var ok bool
		if f.offset, ok = f.unit.scaled(f.stored); !ok {
			return fmt.Errorf("/t_offset %d passes 64 bits in us; give the right --time-unit", f.stored)
		}
	}
	return nil
}

func (f *file) name(col int) string { return f.place.columns[col].String() }

// check refuses what evq cannot read or would read wrongly.
func check(d dataset) error {
	if !d.standard {
		return fmt.Errorf("it is %s; evq reads integers of 1, 2, 4 or 8 bytes, floats of 4 or 8 and bools", d.typeName())
	}
	if d.width() > widestRow {
		return fmt.Errorf("its rows have %d bytes; evq reads up to %d", d.width(), widestRow)
	}
	if d.chunk > largestChunk/int64(d.width()) {
		return fmt.Errorf("chunks of %d rows do not fit in memory; rewrite it with smaller ones (h5repack -l)", d.chunk)
	}
	if d.chunk == 0 || d.byLibrary() {
		return nil
	}
	if d.split {
		return errors.New("its chunks hold parts of rows under a filter that the library lacks; rewrite it with chunks of whole rows (h5repack -l)")
	}
	if d.ecf() {
		return nil
	}
	_, err := chunk.NewDecoder(d.filters, d.elem.size, nil)
	return err
}

// ecf reports whether the rows are records under the one filter that makes whole records.
func (d dataset) ecf() bool {
	return len(d.filters) == 1 && d.filters[0].ID == ecf.Filter && d.row == ecf.RecordSize && d.cols == 1
}

// byLibrary reports whether the library decodes the chunks: a filter is one that it undoes and evq doesn't, or chunks
// hold parts of rows.
func (d dataset) byLibrary() bool {
	all, some := true, false
	for _, f := range d.filters {
		all = all && builtIn(f.ID)
		some = some || !chunk.Known(f.ID) && builtIn(f.ID)
	}
	return some || d.split && all
}

// geometry finds the sensor's size beside the columns or in attributes.
func (f *file) geometry() event.Geometry {
	id := f.h.ID()
	if g, err := f.h.OpenGroup(f.place.group()); err == nil {
		defer g.Close()
		id = g.ID()
	}
	for _, at := range []struct {
		id        int64
		attribute bool
	}{{id, false}, {id, true}, {f.h.ID(), true}, {f.h.ID(), false}} {
		w, ok := scalar(at.id, "width", at.attribute)
		h, also := scalar(at.id, "height", at.attribute)
		if ok && also && sensible(int(w), int(h)) {
			return event.Geometry{Width: int(w), Height: int(h)}
		}
	}
	return sizeIn(f.attributes)
}

// layout names what was recognised.
func (f *file) layout() string {
	if f.dsec {
		return "/events/{p,t,x,y} with /t_offset (DSEC)"
	}
	return f.place.String()
}

// close closes what is open. Call it inside the library.
func (f *file) close() {
	var closed []int64
	for _, c := range f.columns {
		if c.id != 0 && !slices.Contains(closed, c.id) {
			closed = append(closed, c.id)
			_ = closeDataset(c.id)
		}
	}
	if f.triggers != nil {
		_ = closeDataset(f.triggers.dataset.id)
	}
	_ = f.h.Close()
}

// Close closes the recording.
func (f *file) Close() error {
	err := locked(func() error { f.close(); return nil })
	f.whole.Close()
	return err
}

// listing names the datasets of a file, for messages.
func listing(at *hdf5.CommonFG) string {
	const most = 20
	var out []string
	var walk func(at *hdf5.CommonFG, prefix string, depth int)
	walk = func(at *hdf5.CommonFG, prefix string, depth int) {
		n, err := at.NumObjects()
		for i := uint(0); err == nil && i < n && len(out) <= most; i++ {
			name, nerr := at.ObjectNameByIndex(i)
			kind, kerr := at.ObjectTypeByIndex(i)
			if nerr != nil || kerr != nil {
				continue
			}
			switch kind {
			case hdf5.H5G_DATASET:
				out = append(out, prefix+name)
			case hdf5.H5G_GROUP:
				if g, err := at.OpenGroup(name); err == nil && depth < 4 {
					walk(&g.CommonFG, prefix+name+"/", depth+1)
					_ = g.Close()
				}
			}
		}
	}
	walk(at, "/", 0)
	switch {
	case len(out) == 0:
		return "no datasets"
	case len(out) > most:
		out = append(out[:most], "and more")
	}
	return strings.Join(out, ", ")
}

// describe says which layout a file has.
func describe(path string) (string, error) {
	f, err := openFile(path)
	if err != nil {
		return "", err
	}
	return f.layout(), f.Close()
}

// open readies a recording for scanning. Each scan opens the file anew.
func open(_ context.Context, f format.File, p format.Policy) (event.Source, error) {
	if f.Path == "" {
		return nil, errors.New("hdf5: the library needs a file with a name; save the recording first")
	}
	rule, err := parsePolarity(p.Polarity)
	if err != nil {
		return nil, fmt.Errorf("hdf5: %s: %w", f.Path, err)
	}
	h, err := openWith(f.Path, p)
	if err != nil {
		return nil, err
	}
	info := h.info()
	if err := h.Close(); err != nil {
		return nil, err
	}
	return format.NewSource(format.Recording{File: f, Info: info, Policy: p,
		Decode: func(ctx context.Context, want event.Request, rep *event.Report) (format.Decoder, error) {
			h, err := openWith(f.Path, p)
			if err != nil {
				return nil, err
			}
			return newDecoder(ctx, h, want, p.WithDefaults(), rule, rep)
		}}), nil
}

// info is what is known of the recording.
func (f *file) info() event.Info {
	info := event.Info{
		Name: filepath.Base(f.path), Format: "hdf5", Geometry: f.size, Unit: f.unit.name,
		Polarity: f.columns[colP].elem.polarity(), Events: f.rows, Streams: f.streams,
	}
	info.Fields = append(info.Fields, event.Field{Key: "layout", Value: f.layout()})
	if f.dsec {
		info.Fields = append(info.Fields, event.Field{Key: "t_offset", Value: fmt.Sprint(f.stored)})
	}
	if f.place.layout != propheseeLayout {
		info.Fields = append(info.Fields, event.Field{Key: "time", Value: fmt.Sprintf("%s, stored as %s", f.unit.name, f.columns[colT].elem)})
	}
	for _, a := range f.attributes {
		if a.Key == "version" && f.place.layout == propheseeLayout {
			info.Version = a.Value
		}
	}
	info.Fields = append(info.Fields, f.attributes...)
	return info
}
