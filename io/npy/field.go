package npy

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// ErrObjects reports an array of Python objects, which only unpickling could read; that would run whatever the
// file says, so it is never done.
var ErrObjects = errors.New("it holds pickled Python objects, which are not read")

// ErrNotTable reports an array that has no fields, or more than one axis.
var ErrNotTable = errors.New("not a structured array")

// A field is one column of a structured array.
type field struct {
	name   string // empty for padding
	descr  string // NumPy's type, such as <f4
	kind   byte   // of the type: b i u f c S a U V m M
	big    bool
	size   int // bytes
	offset int // in a record
}

// simpleType is a type without a shape: its byte order, kind, size and, for times, unit.
var simpleType = regexp.MustCompile(`^([<>|=]?)([biufcSaUVmM])(\d{1,9})(?:\[[^\]]*\])?$`)

// maxRecord bounds the bytes of a record.
const maxRecord = 1 << 20

// parseFields reads the fields of a structured type and returns them with the size of a record.
func parseFields(descr list) (fields []field, size int, err error) {
	seen := map[string]bool{}
	for i, d := range descr {
		f, err := parseField(d)
		if err != nil {
			return nil, 0, fmt.Errorf("field %d: %w", i, err)
		}
		if f.name != "" && seen[f.name] {
			return nil, 0, fmt.Errorf("there are two fields %q; the file is damaged", f.name)
		}
		seen[f.name] = true
		f.offset = size
		if size += f.size; size > maxRecord {
			return nil, 0, fmt.Errorf("a record has more than %d bytes; the file is damaged", maxRecord)
		}
		fields = append(fields, f)
	}
	if size == 0 {
		return nil, 0, fmt.Errorf("%w: a record has no bytes", ErrNotTable)
	}
	return fields, size, nil
}

// parseField reads one of the tuples (name, type) or (name, type, shape) of a structured type. A name may be a
// pair of title and name.
func parseField(d any) (field, error) {
	t, ok := d.(tuple)
	if !ok || len(t) < 2 || len(t) > 3 {
		return field{}, fmt.Errorf("%s is not a name and a type; the file is damaged", brief(d))
	}
	if pair, ok := t[0].(tuple); ok && len(pair) == 2 {
		t[0] = pair[1]
	}
	name, ok := t[0].(string)
	if !ok {
		return field{}, fmt.Errorf("%s is not a name; the file is damaged", brief(t[0]))
	}
	descr, ok := t[1].(string)
	switch {
	case !ok:
		return field{}, fmt.Errorf("%q has fields of its own; save each as a field of the array", name)
	case len(t) == 3:
		return field{}, fmt.Errorf("%q is an array of shape %s in each record; save each value as a field of its own", name, brief(t[2]))
	}
	return simpleField(name, descr)
}

func simpleField(name, descr string) (field, error) {
	if strings.Contains(descr, "O") {
		return field{}, fmt.Errorf("%q: %w; save it with a type of numbers", name, ErrObjects)
	}
	m := simpleType.FindStringSubmatch(descr)
	if m == nil {
		return field{}, fmt.Errorf("%q has the type %.40q, which is not known; save it with a type of numbers", name, descr)
	}
	size, err := strconv.Atoi(m[3])
	if err != nil || size > maxRecord {
		return field{}, fmt.Errorf("%q has the type %.40q; the file is damaged", name, descr)
	}
	f := field{name: name, descr: descr, kind: m[2][0], big: m[1] == ">", size: size}
	if f.kind == 'U' { // counted in characters
		f.size *= 4
	}
	return f, nil
}
