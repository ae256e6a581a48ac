//go:build hdf5 && cgo

package hdf5

import (
	"errors"
	"fmt"
	"path"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/format"
	"gonum.org/v1/hdf5"
)

const (
	deepest     = 6    // groups inside each other that are looked into
	mostObjects = 4096 // that are looked at; files may have more, and links that lead round
)

// A finder walks through a file and notes where events may lie.
type finder struct {
	path   string
	order  []string // of the columns of matrices
	left   int      // objects that may still be looked at
	places []place
	others []string // datasets that hold no events
	err    error    // a choice that does not fit
}

// find notes every place of events, in the order that streams are counted in. Call it inside the library.
func find(path string, h *hdf5.File, p format.Policy) (*finder, error) {
	f := &finder{path: path, order: p.Columns, left: mostObjects}
	f.walk(&h.CommonFG, h.ID(), "/", 0)
	arrange(f.places)
	if len(f.places) == 0 && f.err != nil {
		return nil, f.err
	}
	return f, nil
}

func (f *finder) walk(at *hdf5.CommonFG, id int64, prefix string, depth int) {
	n, err := at.NumObjects()
	if err != nil {
		return
	}
	var datasets, groups []string
	for i := uint(0); i < n && f.left > 0; i++ {
		f.left--
		name, err := at.ObjectNameByIndex(i)
		kind, kerr := at.ObjectTypeByIndex(i)
		if err != nil || kerr != nil || name == "" {
			continue
		}
		switch kind {
		case hdf5.H5G_DATASET:
			datasets = append(datasets, name)
		case hdf5.H5G_GROUP:
			groups = append(groups, name)
		}
	}
	columns := map[string]bool{}
	if p, ok := groupPlace(prefix, datasets); ok {
		f.places = append(f.places, p)
		for _, o := range p.columns {
			columns[o.dataset] = true
		}
	}
	for _, name := range datasets {
		if full := path.Join(prefix, name); !columns[full] {
			f.look(id, name, full)
		}
	}
	for _, name := range groups {
		if depth >= deepest {
			return
		}
		if g, err := at.OpenGroup(name); err == nil {
			f.walk(&g.CommonFG, g.ID(), path.Join(prefix, name), depth+1)
			_ = g.Close()
		}
	}
}

// look judges one dataset.
func (f *finder) look(group int64, name, full string) {
	id, err := openChecked(f.path, group, name)
	if err != nil {
		return
	}
	defer closeDataset(id) //nolint:errcheck // only read
	d, err := inspect(id)
	if err != nil || d.rank == 0 {
		return
	}
	if d.rank == 1 && d.compound() {
		if p, ok := recordsPlace(full, d.fields()); ok {
			f.places = append(f.places, p)
			return
		}
	}
	if d.rank == 2 && d.cols == numColumns {
		p, ok, err := matrixPlace(full, d.elem, f.order)
		f.err = errors.Join(f.err, err)
		if ok {
			f.places = append(f.places, p)
			return
		}
	}
	if !beside(full) && full != triggersPath {
		f.others = append(f.others, full)
	}
}

// mappedPlace is the place that the caller's names describe. Columns without one are looked for beside the first that
// has one. Call it inside the library.
func mappedPlace(file string, h *hdf5.File, m map[string]string) (place, error) {
	paths, err := mapped(m)
	if err != nil {
		return place{}, err
	}
	p := place{layout: mappedLayout}
	for i, name := range paths {
		if name == "" {
			continue
		}
		if p.columns[i], err = originAt(file, h, name); err != nil {
			return p, fmt.Errorf("%s=%s: %w", columnNames[i], m[columnNames[i]], err)
		}
		if p.path == "" {
			p.path = p.columns[i].dataset
		}
	}
	for i, o := range p.columns {
		if o.dataset != "" {
			continue
		}
		if p.columns[i], err = sibling(file, h, p, i); err != nil {
			return p, err
		}
	}
	return p, nil
}

// originAt finds a dataset, or a field of a structured one, by its path.
func originAt(file string, h *hdf5.File, name string) (origin, error) {
	id, err := openChecked(file, h.ID(), name)
	if err == nil {
		return origin{dataset: name}, closeDataset(id)
	}
	parent, field := path.Dir(name), path.Base(name)
	if id, perr := openChecked(file, h.ID(), parent); perr == nil {
		defer closeDataset(id) //nolint:errcheck // only read
		if d, derr := inspect(id); derr == nil {
			if _, ok := d.field(field); ok {
				return origin{dataset: parent, field: field}, nil
			}
		}
	}
	return origin{}, fmt.Errorf("there is no such dataset, nor field of one; the file holds %s", listing(&h.CommonFG))
}

// sibling finds the usual name of a column beside one that the caller named.
func sibling(file string, h *hdf5.File, p place, col int) (origin, error) {
	var base origin
	for _, o := range p.columns {
		if o.dataset != "" {
			base = o
			break
		}
	}
	folder := path.Dir(base.String())
	for _, name := range aliases[col] {
		if o, err := originAt(file, h, path.Join(folder, name)); err == nil {
			return o, nil
		}
	}
	return origin{}, fmt.Errorf("%w: no %s beside %s; name it with --h5-map %s=DATASET; the file holds %s",
		ErrLayout, columnNames[col], base, columnNames[col], listing(&h.CommonFG))
}

// locate decides where the events of the file lie, and notes what else it holds. Call it inside the library.
func (f *file) locate(p format.Policy) error {
	if len(p.DatasetMap) > 0 {
		var err error
		f.place, err = mappedPlace(f.path, f.h, p.DatasetMap)
		return err
	}
	found, err := find(f.path, f.h, p)
	if err != nil {
		return err
	}
	if len(found.places) == 0 {
		return f.nothing()
	}
	k, err := choose(found.places, p)
	if err != nil {
		return err
	}
	f.place = found.places[k]
	for i, other := range found.places {
		if i != k {
			f.streams = append(f.streams, event.Field{Key: other.path, Value: fmt.Sprintf("events; left out, --stream %d reads them instead", i)})
		}
	}
	const most = 32
	for i, name := range found.others {
		if i == most {
			f.streams = append(f.streams, event.Field{Key: "more", Value: fmt.Sprintf("%d other datasets; left out", len(found.others)-most)})
			break
		}
		f.streams = append(f.streams, event.Field{Key: name, Value: "left out"})
	}
	return nil
}

// nothing is the error of a file that holds no events, with what it does hold.
func (f *file) nothing() error {
	holds := listing(&f.h.CommonFG)
	if g, err := f.h.OpenGroup("events"); err == nil {
		defer g.Close()
		for _, name := range columnNames {
			if !g.LinkExists(name) {
				return fmt.Errorf("%w: /events/%s is missing; it holds %s", ErrLayout, name, holds)
			}
		}
	}
	return fmt.Errorf("%w; it holds %s; say which are the columns with --h5-map t=DATASET,x=DATASET,y=DATASET,p=DATASET", ErrLayout, holds)
}
