//go:build hdf5 && cgo

package hdf5

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/hdf5/chunk"
	"gonum.org/v1/hdf5"
)

// The columns of events in the order of a file's columns array.
const (
	colT = iota
	colX
	colY
	colP
	numColumns
)

var columnNames = [numColumns]string{"t", "x", "y", "p"}

// group is where the events lie.
const group = "events"

// largestChunk bounds the memory that one chunk may ask for.
const largestChunk = 1 << 28

// A file is an open recording: its four columns and what stands beside them.
type file struct {
	path    string
	h       *hdf5.File
	group   *hdf5.Group
	columns [numColumns]dataset // those that are open have an id
	rows    int64
	offset  int64 // added to every time
	dsec    bool
	size    event.Geometry
}

// openFile opens a recording and checks that its columns are what evq reads.
func openFile(path string) (*file, error) {
	f := &file{path: path}
	err := locked(func() error {
		h, err := hdf5.OpenFile(path, hdf5.F_ACC_RDONLY)
		if err != nil {
			return failed("opening (the file may be cut or not HDF5)")
		}
		f.h = h
		if err := f.openColumns(); err != nil {
			f.close()
			return err
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("hdf5: %s: %w", path, err)
	}
	return f, nil
}

func (f *file) openColumns() error {
	g, err := f.h.OpenGroup(group)
	if err != nil {
		return fmt.Errorf("%w; it holds %s", ErrLayout, listing(&f.h.CommonFG))
	}
	f.group = g
	for i, name := range columnNames {
		if !g.LinkExists(name) {
			return fmt.Errorf("%w: /%s/%s is missing; it holds %s", ErrLayout, group, name, listing(&f.h.CommonFG))
		}
		id, err := openDataset(g.ID(), name)
		if err != nil {
			return err
		}
		f.columns[i].id = id
		d, err := inspect(id)
		if err == nil {
			f.columns[i] = d
			err = check(d)
		}
		if err != nil {
			return fmt.Errorf("dataset %s: %w", f.name(i), err)
		}
	}
	f.rows = f.columns[colT].rows
	for i, c := range f.columns {
		if c.rows != f.rows {
			return fmt.Errorf("columns of unequal length: %s has %d rows and %s has %d; the file is damaged or incomplete",
				f.name(colT), f.rows, f.name(i), c.rows)
		}
	}
	if f.offset, f.dsec = scalar(f.h.ID(), "t_offset", false); !f.dsec && f.h.LinkExists("t_offset") {
		return errors.New("/t_offset, which times are to be added to, is no whole number of 64 bits; correct it, or remove it to read t as it is")
	}
	f.size = f.geometry()
	return nil
}

func (f *file) name(col int) string { return "/" + group + "/" + columnNames[col] }

// check refuses what evq cannot read or would read wrongly.
func check(d dataset) error {
	if d.rank != 1 {
		return fmt.Errorf("it has %d dimensions; a column has one", d.rank)
	}
	if !d.standard {
		return fmt.Errorf("it is %s; evq reads integers of 1, 2, 4 or 8 bytes and bools", d.typeName())
	}
	if d.chunk > largestChunk/int64(d.elem.size) {
		return fmt.Errorf("chunks of %d rows do not fit in memory; rewrite it with smaller ones (h5repack -l)", d.chunk)
	}
	if d.chunk == 0 || d.byLibrary() {
		return nil
	}
	_, err := chunk.NewDecoder(d.filters, d.elem.size, nil)
	return err
}

// byLibrary reports whether a filter is one that the library undoes and evq doesn't.
func (d dataset) byLibrary() bool {
	for _, f := range d.filters {
		if !chunk.Known(f.ID) && builtIn(f.ID) {
			return true
		}
	}
	return false
}

// geometry finds the sensor's size beside the columns or in attributes.
func (f *file) geometry() event.Geometry {
	for _, at := range []struct {
		id        int64
		attribute bool
	}{{f.group.ID(), false}, {f.group.ID(), true}, {f.h.ID(), true}, {f.h.ID(), false}} {
		w, ok := scalar(at.id, "width", at.attribute)
		h, also := scalar(at.id, "height", at.attribute)
		if ok && also && w > 0 && h > 0 && w <= 1<<16 && h <= 1<<16 {
			return event.Geometry{Width: int(w), Height: int(h)}
		}
	}
	return event.Geometry{}
}

// layout names what was recognised.
func (f *file) layout() string {
	if f.dsec {
		return "/events/{p,t,x,y} with /t_offset (DSEC)"
	}
	return "/events/{t,x,y,p}"
}

// close closes what is open. Call it inside the library.
func (f *file) close() {
	for _, c := range f.columns {
		if c.id != 0 {
			_ = closeDataset(c.id)
		}
	}
	if f.group != nil {
		_ = f.group.Close()
	}
	_ = f.h.Close()
}

// Close closes the recording.
func (f *file) Close() error {
	return locked(func() error { f.close(); return nil })
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
	h, err := openFile(f.Path)
	if err != nil {
		return nil, err
	}
	info := event.Info{
		Name: filepath.Base(f.Path), Format: "hdf5", Geometry: h.size, Unit: "us",
		Polarity: h.columns[colP].elem.polarity(), Events: h.rows,
	}
	info.Fields = append(info.Fields, event.Field{Key: "layout", Value: h.layout()})
	if h.dsec {
		info.Fields = append(info.Fields, event.Field{Key: "t_offset", Value: fmt.Sprint(h.offset)})
	}
	if err := h.Close(); err != nil {
		return nil, err
	}
	return format.NewSource(format.Recording{File: f, Info: info, Policy: p,
		Decode: func(ctx context.Context, want event.Request, rep *event.Report) (format.Decoder, error) {
			h, err := openFile(f.Path)
			if err != nil {
				return nil, err
			}
			return newDecoder(ctx, h, want, p.WithDefaults(), rule, rep)
		}}), nil
}
