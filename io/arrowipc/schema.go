package arrowipc

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/flatbuffer"
	"github.com/evq-project/evq/io/format"
)

// The columns of an event, in the order of letters.
const (
	colT = iota
	colX
	colY
	colP
	numColumns
)

const letters = "txyp"

// aliases are the names that programs give each column, in lower case, the usual one first.
var aliases = [numColumns][]string{
	{"t", "ts", "time", "timestamp", "timestamps"}, {"x", "xs"}, {"y", "ys"}, {"p", "ps", "pol", "polarity", "polarities", "on"},
}

// The types of Schema.fbs that are looked at.
const (
	typeNull      = 1
	typeInt       = 2
	typeFloat     = 3
	typeBinary    = 4
	typeUTF8      = 5
	typeBool      = 6
	typeTime      = 9
	typeTimestamp = 10
	typeInterval  = 11
	typeList      = 12
	typeStruct    = 13
	typeUnion     = 14
	typeFixedList = 16
	typeMap       = 17
	typeDuration  = 18
	typeBigBinary = 19
	typeBigUTF8   = 20
	typeBigList   = 21
	typeLast      = typeBigList // of those whose buffers are counted below
)

// mostFields bounds the fields that are looked at, with their children.
const mostFields = 4096

// A unit is one in which times are kept.
type unit struct {
	name     string
	micros   int64 // of one unit, or 0
	perMicro int64 // units in a microsecond, or 0
}

// units are in the order of Schema.fbs, TimeUnit.
var units = []unit{{"s", 1e6, 0}, {"ms", 1e3, 0}, {"us", 1, 1}, {"ns", 0, 1e3}}

// A column is where in a batch the values of one column lie, and what they are.
type column struct {
	name   string
	typ    int64
	bits   int64 // of a value
	signed bool
	node   int // index of its field node
	buffer int // index of its validity buffer, which its values follow
}

// A schema is what a recording's schema says.
type schema struct {
	columns  [numColumns]column
	unit     unit
	rule     string // --polarity-encoding
	polarity string // the encoding as stored
	what     string
	geometry event.Geometry
	fields   []event.Field
	others   []event.Field
}

// parseSchema finds the columns of events.
func parseSchema(t flatbuffer.Table, p format.Policy) (s schema, err error) {
	endian, err := t.Number(0, 2, 0)
	if err != nil {
		return s, err
	}
	if endian != 0 {
		return s, errors.New("its numbers are big-endian, which is not read; write it on a little-endian machine")
	}
	var w walker
	if err := t.Tables(1, mostFields, w.top); err != nil {
		return s, err
	}
	if err := s.choose(w.found, p.DatasetMap); err != nil {
		return s, err
	}
	if err := s.settle(w.unit, p); err != nil {
		return s, err
	}
	err = t.Tables(2, mostFields, func(kv flatbuffer.Table) error {
		key, err1 := kv.Text(0)
		value, err2 := kv.Text(1)
		s.fields = append(s.fields, event.Field{Key: key, Value: value})
		return errors.Join(err1, err2)
	})
	s.geometry, s.fields = sizeIn(s.fields)
	return s, err
}

// A walker counts the nodes and buffers that fields take, in the order of a batch.
type walker struct {
	found   []column
	nodes   int
	buffers int
	unit    map[string]int64 // of columns whose type says one
	left    int              // fields that may still be looked at
	lost    bool             // a field's buffers cannot be counted: what follows it is not found
}

// top takes a field of the schema itself.
func (w *walker) top(f flatbuffer.Table) error {
	if w.lost {
		return nil
	}
	if w.unit == nil {
		w.unit, w.left = map[string]int64{}, mostFields
	}
	c := column{node: w.nodes, buffer: w.buffers}
	var err error
	if c.name, err = f.Text(0); err != nil {
		return err
	}
	if c.typ, err = f.Number(2, 1, 0); err != nil {
		return err
	}
	dictionary, err := f.Child(4)
	if err != nil {
		return err
	}
	if dictionary.Exists() {
		c.typ = 0
	}
	if err := w.detail(&c, f); err != nil {
		return err
	}
	w.found = append(w.found, c)
	return w.count(f, 0)
}

// detail reads what the type of a column says.
func (w *walker) detail(c *column, f flatbuffer.Table) error {
	typ, err := f.Child(3)
	if err != nil || !typ.Exists() {
		return err
	}
	var u int64 = -1
	var err1, err2 error
	switch c.typ {
	case typeInt:
		var signed int64
		c.bits, err1 = typ.Number(0, 4, 0)
		signed, err2 = typ.Number(1, 1, 0)
		c.signed = signed != 0
	case typeBool:
		c.bits = 1
	case typeTimestamp:
		c.bits, c.signed = 64, true
		u, err1 = typ.Number(0, 2, 0)
	case typeDuration:
		c.bits, c.signed = 64, true
		u, err1 = typ.Number(0, 2, 1)
	case typeTime:
		c.signed = true
		u, err1 = typ.Number(0, 2, 1)
		c.bits, err2 = typ.Number(1, 4, 32)
	}
	if u >= 0 && int(u) < len(units) {
		w.unit[c.name] = u
	}
	return errors.Join(err1, err2)
}

// deepest bounds fields inside each other.
const deepest = 64

// count moves past the nodes and buffers of a field and its children.
func (w *walker) count(f flatbuffer.Table, depth int) error {
	if w.left--; w.left < 0 || depth > deepest {
		return errors.New("the schema has too many fields; keep only t, x, y and p")
	}
	typ, err := f.Number(2, 1, 0)
	if err != nil {
		return err
	}
	dictionary, err := f.Child(4)
	if err != nil {
		return err
	}
	w.nodes++
	switch {
	case dictionary.Exists(): // indices, whatever the type
		w.buffers += 2
		return nil
	case typ == typeNull:
	case typ == typeStruct, typ == typeFixedList:
		w.buffers++
	case typ == typeBinary, typ == typeUTF8, typ == typeBigBinary, typ == typeBigUTF8:
		w.buffers += 3
	case typ == typeUnion, typ <= 0, typ > typeLast:
		w.lost = true
		return nil
	default:
		w.buffers += 2
	}
	return f.Tables(5, mostFields, func(child flatbuffer.Table) error { return w.count(child, depth+1) })
}

// choose takes the columns by the caller's names, or by their usual ones.
func (s *schema) choose(found []column, names map[string]string) error {
	var all, taken []string
	for _, c := range found {
		all = append(all, c.name)
	}
	for k := range s.columns {
		wanted := aliases[k]
		if given, ok := names[letters[k:k+1]]; ok {
			wanted = []string{strings.ToLower(given)}
		}
		i := -1
		for _, name := range wanted {
			if i = slices.IndexFunc(found, func(c column) bool { return strings.ToLower(c.name) == name }); i >= 0 {
				break
			}
		}
		if i < 0 {
			return fmt.Errorf("%w: there is no %s among %.300s; name the columns with --h5-map t=NAME,x=NAME,y=NAME,p=NAME", ErrColumns, letters[k:k+1], strings.Join(all, ", "))
		}
		s.columns[k] = found[i]
		taken = append(taken, found[i].name)
	}
	s.what = strings.Join(taken, ", ")
	for i, c := range found {
		if i < 32 && !slices.Contains(taken, c.name) {
			s.others = append(s.others, event.Field{Key: c.name, Value: "left out"})
		}
	}
	return nil
}

// settle checks the types, and chooses the unit and the encoding of polarity.
func (s *schema) settle(said map[string]int64, p format.Policy) error {
	for k, c := range s.columns {
		ok := false
		switch c.typ {
		case typeInt:
			ok = c.bits == 8 || c.bits == 16 || c.bits == 32 || c.bits == 64
		case typeBool:
			ok = k == colP
		case typeTimestamp, typeDuration:
			ok = k == colT
		case typeTime:
			ok = k == colT && (c.bits == 32 || c.bits == 64)
		}
		if !ok {
			return fmt.Errorf("%w that are read: %s is not of an integer type; cast it to one", ErrColumns, c.name)
		}
	}
	s.rule = p.Polarity
	if !slices.Contains([]string{"auto", "01", "pm1", "nonzero"}, s.rule) {
		return fmt.Errorf("the polarity encoding is one of auto, 01, pm1, nonzero, not %q", s.rule)
	}
	switch c := s.columns[colP]; {
	case c.typ == typeBool:
		s.polarity = "bool"
	case c.signed:
		s.polarity = "0/1 or -1/1"
	default:
		s.polarity = "0/1"
	}
	if u, ok := said[s.columns[colT].name]; ok {
		s.unit = units[u]
		return nil
	}
	name := p.TimeUnit
	if name == "" || name == "auto" {
		name = "us"
	}
	i := slices.IndexFunc(units, func(u unit) bool { return u.name == name })
	if i < 0 {
		return fmt.Errorf("the time unit is one of auto, s, ms, us, ns, not %q", name)
	}
	s.unit = units[i]
	return nil
}
