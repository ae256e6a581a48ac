//go:build hdf5 && cgo

package hdf5

/*
#include <hdf5.h>
#include <string.h>

enum { EVQ_FILTERS = 16, EVQ_VALUES = 16, EVQ_NAME = 64 };

typedef struct {
	int class, size, sign, order, precision, offset, ieee;
} evq_type;

typedef struct {
	evq_type type;
	int rank, chunked, nfilters, members;
	long long rows, cols, chunk, chunkcols;
	int ids[EVQ_FILTERS], nvalues[EVQ_FILTERS];
	unsigned values[EVQ_FILTERS][EVQ_VALUES];
	unsigned char fill[8];
} evq_info;

typedef struct {
	evq_type type;
	long long at;
	char name[EVQ_NAME];
} evq_member;

// evq_size is the size of a type where an int holds it.
static int evq_size(hid_t t) {
	size_t n = H5Tget_size(t);
	return n > 1 << 30 ? 1 << 30 : (int)n;
}

static void evq_describe(hid_t t, evq_type *i) {
	i->class = H5Tget_class(t);
	i->size = evq_size(t);
	hid_t b = i->class == H5T_ENUM ? H5Tget_super(t) : H5Tcopy(t);
	if (i->class == H5T_ENUM || i->class == H5T_INTEGER || i->class == H5T_BITFIELD || i->class == H5T_FLOAT) {
		i->sign = H5Tget_class(b) == H5T_INTEGER && H5Tget_sign(b) == H5T_SGN_2;
		i->order = H5Tget_order(b) == H5T_ORDER_BE;
		i->precision = (int)H5Tget_precision(b);
		i->offset = H5Tget_offset(b);
	}
	if (i->class == H5T_FLOAT)
		i->ieee = H5Tequal(b, H5T_IEEE_F32LE) > 0 || H5Tequal(b, H5T_IEEE_F64LE) > 0 || H5Tequal(b, H5T_IEEE_F32BE) > 0 || H5Tequal(b, H5T_IEEE_F64BE) > 0;
	H5Tclose(b);
}

static int evq_inspect(hid_t d, evq_info *i) {
	memset(i, 0, sizeof *i);
	hid_t sp = H5Dget_space(d), t = H5Dget_type(d), pl = H5Dget_create_plist(d);
	if (sp < 0 || t < 0 || pl < 0) return -1;
	hsize_t dims[H5S_MAX_RANK] = {0};
	i->rank = H5Sget_simple_extent_dims(sp, dims, NULL);
	i->rows = (long long)dims[0];
	i->cols = i->rank == 2 ? (long long)dims[1] : 1;
	evq_describe(t, &i->type);
	i->members = i->type.class == H5T_COMPOUND ? H5Tget_nmembers(t) : 0;
	if (H5Pget_layout(pl) == H5D_CHUNKED) {
		hsize_t c[H5S_MAX_RANK] = {0};
		i->chunked = 1;
		if (H5Pget_chunk(pl, H5S_MAX_RANK, c) < 0) return -1;
		i->chunk = (long long)c[0];
		i->chunkcols = i->rank == 2 ? (long long)c[1] : 1;
	}
	i->nfilters = H5Pget_nfilters(pl);
	for (int k = 0; k < i->nfilters && k < EVQ_FILTERS; k++) {
		unsigned flags, config;
		size_t n = EVQ_VALUES;
		i->ids[k] = H5Pget_filter2(pl, k, &flags, &n, i->values[k], 0, NULL, &config);
		i->nvalues[k] = n < EVQ_VALUES ? (int)n : EVQ_VALUES;
	}
	H5D_fill_value_t fv;
	if (i->type.size > 0 && i->type.size <= 8 && H5Pfill_value_defined(pl, &fv) >= 0 && fv == H5D_FILL_VALUE_USER_DEFINED) H5Pget_fill_value(pl, t, i->fill);
	H5Pclose(pl); H5Tclose(t); H5Sclose(sp);
	return 0;
}

// evq_get_member describes field k of the records of a dataset.
static int evq_get_member(hid_t d, unsigned k, evq_member *m) {
	memset(m, 0, sizeof *m);
	hid_t t = H5Dget_type(d), f = H5Tget_member_type(t, k);
	char *name = H5Tget_member_name(t, k);
	int ok = f >= 0 && name;
	if (ok) {
		size_t at = H5Tget_member_offset(t, k);
		m->at = at > 1 << 30 ? 1 << 30 : (long long)at;
		evq_describe(f, &m->type);
		strncpy(m->name, name, EVQ_NAME - 1);
	}
	if (name) H5free_memory(name);
	if (f >= 0) H5Tclose(f);
	H5Tclose(t);
	return ok ? 0 : -1;
}
*/
import "C"

import (
	"strconv"
	"unsafe"

	"github.com/evq-project/evq/io/hdf5/chunk"
)

// A dataset is what the library says of one dataset, or of one column in it: of one field of its records, or of one
// value of its rows.
type dataset struct {
	id       int64
	rank     int
	rows     int64
	cols     int64 // values of a row: 1 unless it has two axes
	chunk    int64 // rows of a chunk, 0 where the dataset isn't chunked
	split    bool  // chunks hold parts of rows
	class    int
	elem     elem
	at       int  // where in a row the column's element stands
	row      int  // bytes of a row; 0: those of an element
	standard bool // an integer or a float that fills its bytes
	members  int  // fields of a record, 0 where it isn't structured
	filters  []chunk.Filter
	fill     []byte // one element
	// limit is where a file ends that was cut, 0 in one that is whole. start is where in it the values of a dataset start
	// that are stored in one piece.
	limit, start int64
}

// width is the bytes of a row.
func (d dataset) width() int { return max(d.row, d.elem.size) }

// widestRow bounds the bytes of a row.
const widestRow = 1 << 16

// inspect asks the library about a dataset. Call it inside the library.
func inspect(id int64) (dataset, error) {
	var i C.evq_info
	if C.evq_inspect(C.hid_t(id), &i) < 0 {
		return dataset{}, failed("asking for its properties")
	}
	d := dataset{id: id, rank: int(i.rank), rows: int64(i.rows), cols: int64(i.cols), members: int(i.members)}
	if i.chunked != 0 {
		d.chunk = int64(i.chunk)
		d.split = i.chunkcols != i.cols
	}
	d.setType(i._type)
	if d.rank == 2 && d.cols > 0 && d.cols <= int64(widestRow/max(d.elem.size, 1)) {
		d.row = int(d.cols) * d.elem.size
	}
	for k := range min(int(i.nfilters), C.EVQ_FILTERS) {
		f := chunk.Filter{ID: int(i.ids[k])}
		for v := range int(i.nvalues[k]) {
			f.Values = append(f.Values, uint32(i.values[k][v]))
		}
		d.filters = append(d.filters, f)
	}
	if d.standard {
		d.fill = C.GoBytes(unsafe.Pointer(&i.fill[0]), C.int(d.elem.size))
	}
	return d, nil
}

// setType notes the type of an element.
func (d *dataset) setType(t C.evq_type) {
	d.class, d.standard = int(t.class), false
	d.elem = elem{size: int(t.size), signed: t.sign != 0, big: t.order != 0 && t.size > 1}
	switch t.class {
	case C.H5T_INTEGER:
		d.standard = true
	case C.H5T_ENUM, C.H5T_BITFIELD:
		d.elem.bool, d.elem.signed = t.size == 1, false
		d.standard = t.size == 1
	case C.H5T_FLOAT:
		d.elem.float, d.elem.signed = true, true
		d.standard = t.ieee != 0
		return
	}
	d.standard = d.standard && t.precision == 8*t.size && t.offset == 0 && (t.size == 1 || t.size == 2 || t.size == 4 || t.size == 8)
}

// compound reports whether the dataset is structured.
func (d dataset) compound() bool { return d.class == C.H5T_COMPOUND }

// fields names the fields of the records. Call it inside the library.
func (d dataset) fields() []string {
	var names []string
	for k := range min(d.members, 64) {
		var m C.evq_member
		if C.evq_get_member(C.hid_t(d.id), C.uint(k), &m) >= 0 {
			names = append(names, C.GoString(&m.name[0]))
		}
	}
	return names
}

// field returns the dataset as a column of one field. Call it inside the library.
func (d dataset) field(name string) (dataset, bool) {
	for k := range min(d.members, 64) {
		var m C.evq_member
		if C.evq_get_member(C.hid_t(d.id), C.uint(k), &m) < 0 || C.GoString(&m.name[0]) != name {
			continue
		}
		d.row = d.elem.size
		d.setType(m._type)
		d.at, d.fill = int(m.at), nil
		return d, d.at+d.elem.size <= d.row
	}
	return d, false
}

// typeName names the type in messages.
func (d dataset) typeName() string {
	switch d.class {
	case C.H5T_INTEGER, C.H5T_ENUM, C.H5T_BITFIELD:
		return d.elem.String()
	case C.H5T_FLOAT:
		return "float" + strconv.Itoa(8*d.elem.size)
	case C.H5T_COMPOUND:
		return "compound"
	case C.H5T_STRING:
		return "string"
	}
	return "of another class"
}
