package hdf5

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/evq-project/evq/io/format"
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

// aliases are the names under which files keep each column, in lower case, the usual one first.
var aliases = [numColumns][]string{
	colT: {"t", "ts", "timestamp", "timestamps", "time", "times", "event_ts", "event_timestamps"},
	colX: {"x", "xs", "x_coords", "x_coordinates", "event_x"},
	colY: {"y", "ys", "y_coords", "y_coordinates", "event_y"},
	colP: {"p", "ps", "pol", "pols", "polarity", "polarities", "on", "event_polarity"},
}

// A layout is one way to keep events in an HDF5 file.
type layout uint8

const (
	columnsLayout   layout = iota // a group of columns
	recordsLayout                 // a structured dataset
	matrixLayout                  // a dataset of four values a row
	propheseeLayout               // records at /CD/events, times in microseconds by definition
	mappedLayout                  // as the caller says
)

// The datasets of Prophesee's files.
const (
	propheseePath = "/CD/events"
	triggersPath  = "/EXT_TRIGGER/events"
)

// An origin is where one column lies: a dataset, a field of its records, or one value of its rows.
type origin struct {
	dataset string
	field   string // "" where the dataset has none
	index   int    // of the value
}

// String names the column in messages.
func (o origin) String() string {
	if o.field != "" {
		return o.dataset + "/" + o.field
	}
	return o.dataset
}

// A place is where a file keeps events.
type place struct {
	layout  layout
	path    string // of the group or the dataset
	columns [numColumns]origin
}

// String says what was recognised.
func (p place) String() string {
	var names []string
	for _, o := range p.columns {
		switch {
		case o.field != "":
			names = append(names, o.field)
		case p.layout == mappedLayout:
			names = append(names, o.dataset)
		default:
			names = append(names, path.Base(o.dataset))
		}
	}
	list := "{" + strings.Join(names, ",") + "}"
	switch p.layout {
	case propheseeLayout:
		return p.path + " with fields " + list + " (Prophesee)"
	case recordsLayout:
		return p.path + " with fields " + list
	case matrixLayout:
		order := slices.Sorted(slices.Values([]string{fmt.Sprint(p.columns[colT].index, "t"), fmt.Sprint(p.columns[colX].index, "x"),
			fmt.Sprint(p.columns[colY].index, "y"), fmt.Sprint(p.columns[colP].index, "p")}))
		for i, o := range order {
			order[i] = o[1:]
		}
		return p.path + " with columns " + strings.Join(order, ",")
	case mappedLayout:
		return "the given datasets " + list
	}
	return strings.TrimSuffix(p.path, "/") + "/" + list
}

// group is the group that the events lie in.
func (p place) group() string {
	if p.layout == columnsLayout {
		return p.path
	}
	return path.Dir(p.path)
}

// table reports whether all columns lie in one dataset.
func (p place) table() bool {
	for _, o := range p.columns {
		if o.dataset != p.columns[colT].dataset {
			return false
		}
	}
	return true
}

// match finds a name for each column; matched tells for which there is one.
func match(names []string) (found [numColumns]string, matched int) {
	for i, known := range aliases {
		at := len(known)
		for _, n := range names {
			if k := slices.Index(known, strings.ToLower(n)); k >= 0 && k < at {
				found[i], at = n, k
			}
		}
		if at < len(known) {
			matched++
		}
	}
	return found, matched
}

// groupPlace is the place of a group that holds datasets of some names; false where a column lacks one.
func groupPlace(group string, datasets []string) (place, bool) {
	names, n := match(datasets)
	p := place{layout: columnsLayout, path: group}
	for i, name := range names {
		p.columns[i] = origin{dataset: path.Join(group, name)}
	}
	return p, n == numColumns
}

// recordsPlace is the place of a structured dataset with some fields; false where a column lacks one.
func recordsPlace(dataset string, fields []string) (place, bool) {
	names, n := match(fields)
	p := place{layout: recordsLayout, path: dataset}
	if dataset == propheseePath {
		p.layout = propheseeLayout
	}
	for i, name := range names {
		p.columns[i] = origin{dataset: dataset, field: name}
	}
	return p, n == numColumns
}

// matrixPlace is the place of a dataset called events with four values a row: x, y, t, p in floats, as MVSEC has
// them, or t, x, y, p in integers, as v2e writes them, unless order says otherwise.
func matrixPlace(dataset string, e elem, order []string) (place, bool, error) {
	if strings.ToLower(path.Base(dataset)) != "events" {
		return place{}, false, nil
	}
	if len(order) == 0 {
		order = columnNames[:]
		if e.float {
			order = []string{"x", "y", "t", "p"}
		}
	}
	p := place{layout: matrixLayout, path: dataset}
	for i, name := range columnNames {
		k := slices.Index(order, name)
		if k < 0 || len(order) != numColumns {
			return p, false, fmt.Errorf("dataset %s has four columns; name each of t, x, y, p once with --columns, not %s", dataset, strings.Join(order, ","))
		}
		p.columns[i] = origin{dataset: dataset, index: k}
	}
	return p, true, nil
}

// preferred are the places that come first where a file has several, in order.
var preferred = []string{propheseePath, "/events", "/prophesee/left", "/davis/left/events"}

// arrange puts the places in the order that Policy.Stream counts them in: the preferred, then as they were found.
func arrange(places []place) {
	rank := func(p place) int {
		if k := slices.Index(preferred, p.path); k >= 0 {
			return k
		}
		return len(preferred)
	}
	slices.SortStableFunc(places, func(a, b place) int { return rank(a) - rank(b) })
}

// choose returns which of n places the policy asks for.
func choose(places []place, p format.Policy) (int, error) {
	if !p.StreamGiven || p.Stream <= 0 {
		return 0, nil
	}
	if p.Stream < len(places) {
		return p.Stream, nil
	}
	var names []string
	for i, l := range places {
		names = append(names, fmt.Sprintf("%d = %s", i, l.path))
	}
	return 0, fmt.Errorf("there is no stream %d; --stream is one of %s", p.Stream, strings.Join(names, ", "))
}

// mapped checks the names that the caller gives to columns.
func mapped(m map[string]string) (paths [numColumns]string, err error) {
	for _, key := range slices.Sorted(maps.Keys(m)) {
		k := slices.Index(columnNames[:], key)
		if k < 0 || m[key] == "" {
			return paths, fmt.Errorf("%s=%s maps no column; give --h5-map t=DATASET,x=DATASET,y=DATASET,p=DATASET", key, m[key])
		}
		paths[k] = path.Clean("/" + m[key])
	}
	return paths, nil
}

// beside reports datasets that serve the events next to them and are no streams of their own.
func beside(name string) bool {
	name = strings.ToLower(path.Base(name))
	return name == "indexes" || name == "height" || name == "width" || name == "t_offset" || name == "ms_to_idx" || name == "ms_map_idx" || strings.HasPrefix(name, "ts_map_")
}
