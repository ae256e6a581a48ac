package npyrec

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/npy"
)

type readerAt = io.ReaderAt

// reading reads the headers of a file's arrays.
type reading = func(r readerAt, size int64) ([]npy.Stored, error)

// roles are the columns of an event, in the order of letters.
const (
	roleT = iota
	roleX
	roleY
	roleP
	numRoles
)

const letters = "txyp"

// roleNames are the names that programs give each column, in lower case.
var roleNames = [numRoles][]string{
	{"t", "ts", "time", "timestamp", "timestamps"},
	{"x", "xs"},
	{"y", "ys"},
	{"p", "ps", "pol", "polarity", "polarities", "on"},
}

// A series is where the values of one column lie.
type series struct {
	array npy.Stored
	field npy.Field
	path  string
	skip  int64 // bytes from the first value of the array
	step  int   // bytes from one value to the next
}

// A layout is where the events lie and how their values are read.
type layout struct {
	series   [numRoles]series
	rows     int64
	end      int64 // where the file ends
	lost     int64 // bytes that the header declares and the file lacks; negative: bytes behind the array
	bytes    int   // of one event in all series
	unit     unit
	rule     polarityRule
	encoding string
	what     string
	others   []event.Field
}

// find finds the events among arrays.
func find(arrays []npy.Stored, p format.Policy) (*layout, error) {
	l := &layout{}
	if err := l.locate(arrays, p); err != nil {
		return nil, err
	}
	var paths []string
	for r, s := range l.series {
		if s.array.Err != nil {
			return nil, fmt.Errorf("%s: %w", s.path, s.array.Err)
		}
		if n := s.array.Len(); r > 0 && n != l.series[0].array.Len() {
			return nil, fmt.Errorf("%w: %s has %d values and %s has %d", ErrLayout, l.series[0].path, l.series[0].array.Len(), s.path, n)
		}
		if err := numeric(s.field, r); err != nil {
			return nil, fmt.Errorf("%s: %w", s.path, err)
		}
		paths = append(paths, s.path+" "+s.field.Descr)
		l.bytes += s.step
	}
	l.what = strings.Join(paths, ", ")
	if err := l.measure(); err != nil {
		return nil, err
	}
	if err := l.settle(p); err != nil {
		return nil, err
	}
	l.rest(arrays)
	return l, nil
}

// locate finds the four columns: by the caller's names, by the names of arrays, by those of fields, or in a plain array
// whose columns the caller names.
func (l *layout) locate(arrays []npy.Stored, p format.Policy) error {
	switch {
	case len(p.DatasetMap) > 0:
		return l.mapped(arrays, p.DatasetMap)
	case len(p.Columns) > 0:
		return l.columned(plain(arrays), p.Columns)
	}
	var all []series
	for _, a := range arrays {
		if !a.Named && len(a.Shape) == 1 && len(a.Fields) == 1 {
			all = append(all, series{array: a, field: a.Fields[0], path: a.Name, step: a.Record})
		}
		if a.Err != nil && a.Name != "" {
			all = append(all, series{array: a, path: a.Name})
		}
	}
	if l.byName(all) {
		return nil
	}
	for _, a := range arrays {
		if l.byName(fieldsOf(a)) {
			return nil
		}
	}
	if plain(arrays) != nil {
		return fmt.Errorf("%w: there is %s; name its columns in their order with --columns t,x,y,p", ErrLayout, listed(arrays))
	}
	return fmt.Errorf("%w (arrays or fields t, x, y, p): there is %s; name them with --h5-map t=NAME,x=NAME,y=NAME,p=NAME", ErrLayout, listed(arrays))
}

// fieldsOf are the fields of a structured array with one axis at most.
func fieldsOf(a npy.Stored) (all []series) {
	if !a.Named || len(a.Shape) > 1 {
		return nil
	}
	for _, f := range a.Fields {
		path := f.Name
		if a.Name != "" {
			path = a.Name + "/" + f.Name
		}
		all = append(all, series{array: a, field: f, path: path, skip: int64(f.Offset), step: a.Record})
	}
	return all
}

// byName takes the columns out of all by their usual names, the most usual first.
func (l *layout) byName(all []series) bool {
	for r, names := range roleNames {
		i := -1
		for _, name := range names {
			same := func(s series) bool { return strings.EqualFold(s.path[strings.LastIndexByte(s.path, '/')+1:], name) }
			if i = slices.IndexFunc(all, same); i >= 0 {
				break
			}
		}
		if i < 0 {
			return false
		}
		l.series[r] = all[i]
	}
	return true
}

// mapped takes the columns by the names that the caller gives; those not given have their own letters.
func (l *layout) mapped(arrays []npy.Stored, names map[string]string) error {
	var all []series
	for _, a := range arrays {
		if !a.Named && len(a.Fields) == 1 && len(a.Shape) == 1 || a.Err != nil {
			s := series{array: a, path: a.Name, step: a.Record}
			if len(a.Fields) == 1 {
				s.field = a.Fields[0]
			}
			all = append(all, s)
		}
		all = append(all, fieldsOf(a)...)
	}
	for r := range l.series {
		name, ok := names[letters[r:r+1]]
		if !ok {
			name = letters[r : r+1]
		}
		name = strings.TrimSuffix(strings.TrimPrefix(name, "/"), ".npy")
		i := slices.IndexFunc(all, func(s series) bool { return s.path == name })
		if i < 0 {
			return fmt.Errorf("%w: there is no %q for %s; there is %s", ErrLayout, name, letters[r:r+1], listed(arrays))
		}
		l.series[r] = all[i]
	}
	return nil
}

// plain returns the only plain array of N rows of at least four columns, nil where there is none.
func plain(arrays []npy.Stored) (found *npy.Stored) {
	for i, a := range arrays {
		if a.Err == nil && !a.Named && len(a.Shape) == 2 && a.Shape[1] >= numRoles && a.Shape[1] <= 1024 {
			if found != nil {
				return nil
			}
			found = &arrays[i]
		}
	}
	return found
}

// columned takes the columns of a plain array in the order that the caller names.
func (l *layout) columned(a *npy.Stored, names []string) error {
	if a == nil {
		return fmt.Errorf("%w: --columns is for one array of N rows of four columns or more", ErrLayout)
	}
	width, seen := a.Shape[1], 0
	if int64(len(names)) > width {
		return fmt.Errorf("%w: %d columns are named, and there are %d", ErrLayout, len(names), width)
	}
	size := int64(a.Record)
	if missing := a.Shape[0] > a.Bytes/(width*size); missing && a.Fortran {
		return fmt.Errorf("%d rows of %d bytes are declared and %d bytes follow; the columns follow one another, so nothing can be kept", a.Shape[0], width*size, a.Bytes)
	}
	for k, name := range names {
		r := strings.Index(letters, strings.ToLower(name))
		if len(name) != 1 || r < 0 {
			continue
		}
		seen |= 1 << r
		s := series{array: *a, field: a.Fields[0], path: fmt.Sprintf("%scolumn %d", a.Name, k), skip: int64(k) * size, step: int(width * size)}
		s.array.Record = int(width * size)
		if a.Fortran {
			s.skip, s.step = int64(k)*a.Shape[0]*size, int(size)
		}
		l.series[r] = s
	}
	if seen != 1<<numRoles-1 {
		return fmt.Errorf("%w: the columns %s do not name each of t, x, y and p; write - for a column to pass over", ErrLayout, strings.Join(names, ","))
	}
	return nil
}

// measure finds how many events there are and what the file lacks of them.
func (l *layout) measure() error {
	l.rows = l.series[0].array.Len()
	for _, s := range l.series {
		a, need := s.array, int64(s.array.Record)
		if need <= 0 || l.rows > math.MaxInt64/2/need {
			return fmt.Errorf("%s declares %d values; the file is damaged", s.path, l.rows)
		}
		if lost := l.rows*need - a.Bytes; lost > max(l.lost, 0) || l.lost == 0 {
			l.lost = lost
		}
	}
	if l.lost <= 0 {
		return nil
	}
	for _, s := range l.series {
		l.rows = min(l.rows, s.array.Bytes/int64(s.array.Record))
	}
	return nil
}

// settle chooses the unit and the encoding of polarity.
func (l *layout) settle(p format.Policy) (err error) {
	if l.rule, err = polarityByName(p.Polarity); err != nil {
		return err
	}
	if l.unit, err = unitOf(l.series[roleT].field, p.TimeUnit); err != nil {
		return fmt.Errorf("%s: %w", l.series[roleT].path, err)
	}
	switch f := l.series[roleP].field; f.Kind {
	case 'b':
		l.encoding = "bool"
	case 'u':
		l.encoding = "0/1"
	default:
		l.encoding = "0/1 or -1/1"
	}
	return nil
}

// rest names what is left out.
func (l *layout) rest(arrays []npy.Stored) {
	used := map[string]bool{}
	for _, s := range l.series {
		used[s.path], used[s.array.Name+"\x00"] = true, true
	}
	for _, a := range arrays {
		if !used[a.Name+"\x00"] {
			l.others = append(l.others, event.Field{Key: a.Name, Value: "left out"})
			continue
		}
		for _, s := range fieldsOf(a) {
			if !used[s.path] {
				l.others = append(l.others, event.Field{Key: s.path, Value: "left out"})
			}
		}
	}
}
