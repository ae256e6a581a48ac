//go:build hdf5 && cgo

package hdf5

/*
#cgo linux CFLAGS: -I/usr/include/hdf5/serial
#cgo darwin CFLAGS: -I/opt/homebrew/include -I/usr/local/include
#cgo darwin LDFLAGS: -L/opt/homebrew/lib -L/usr/local/lib
#include <hdf5.h>
#include <stdint.h>
#include <string.h>

// Only numbers and flat buffers cross: no pointer to memory that itself holds Go pointers.

enum { EVQ_REASON = 8192 }; // the system's error comes after the path of the file

static herr_t evq_keep(unsigned n, const H5E_error2_t *e, void *to) {
	if (e->desc) strncpy((char *)to, e->desc, EVQ_REASON - 1);
	return 1; // the innermost is enough
}
static void evq_reason(char *to) { to[0] = to[EVQ_REASON - 1] = 0; H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, evq_keep, to); H5Eclear2(H5E_DEFAULT); }

// evq_read reads n rows of cols values, with one axis or two, from row at, in the file's own type.
static int evq_read(hid_t d, int rank, long long at, long long n, long long cols, void *to) {
	hsize_t start[2] = {(hsize_t)at, 0}, count[2] = {(hsize_t)n, (hsize_t)cols};
	hid_t fs = H5Dget_space(d), ms = H5Screate_simple(rank, count, NULL), t = H5Dget_type(d);
	int e = H5Sselect_hyperslab(fs, H5S_SELECT_SET, start, NULL, count, NULL);
	if (e >= 0) e = H5Dread(d, t, ms, fs, H5P_DEFAULT, to);
	H5Tclose(t); H5Sclose(ms); H5Sclose(fs);
	return e;
}

// evq_chunk_size fails for chunks that were never written, and cannot say so. Then the slow query is asked:
// it looks at all chunks, so it is not asked first.
static int evq_chunk_size(hid_t d, long long at, hsize_t *n) {
	hsize_t o[H5S_MAX_RANK] = {(hsize_t)at};
	if (H5Dget_chunk_storage_size(d, o, n) >= 0) return 0;
	unsigned mask;
	haddr_t where = HADDR_UNDEF;
	if (H5Dget_chunk_info_by_coord(d, o, &mask, &where, n) < 0) return -1;
	if (where == HADDR_UNDEF) *n = 0;
	return 0;
}
// evq_offset returns where the values of a dataset start that are stored in one piece.
static unsigned long long evq_offset(hid_t d) {
	haddr_t a = H5Dget_offset(d);
	if (a == HADDR_UNDEF) H5Eclear2(H5E_DEFAULT);
	return a == HADDR_UNDEF ? ~0ULL : a;
}
// evq_chunk_place looks at all chunks, so it is asked only where one is damaged.
static int evq_chunk_place(hid_t d, long long at, unsigned long long *where, unsigned long long *n) {
	hsize_t o[H5S_MAX_RANK] = {(hsize_t)at}, size = 0;
	unsigned mask;
	haddr_t a = HADDR_UNDEF;
	if (H5Dget_chunk_info_by_coord(d, o, &mask, &a, &size) < 0 || a == HADDR_UNDEF) return -1;
	*where = a;
	*n = size;
	return 0;
}
static int evq_chunk(hid_t d, long long at, uint32_t *mask, void *to) { hsize_t o[H5S_MAX_RANK] = {(hsize_t)at}; return H5Dread_chunk(d, H5P_DEFAULT, o, mask, to); }

// evq_scalar reads the only element of a whole number, dataset or attribute; 1: read, 0: there is none.
static int evq_scalar(hid_t at, const char *name, int attribute, long long *v) {
	if (attribute ? H5Aexists(at, name) <= 0 : H5Lexists(at, name, H5P_DEFAULT) <= 0) return 0;
	hid_t o = attribute ? H5Aopen(at, name, H5P_DEFAULT) : H5Dopen2(at, name, H5P_DEFAULT);
	if (o < 0) return 0;
	hid_t sp = attribute ? H5Aget_space(o) : H5Dget_space(o), t = attribute ? H5Aget_type(o) : H5Dget_type(o);
	H5T_class_t c = H5Tget_class(t);
	// The size is checked because the library makes room for what a damaged type declares.
	int ok = H5Sget_simple_extent_npoints(sp) == 1 && (c == H5T_INTEGER || c == H5T_FLOAT) && H5Tget_size(t) <= 16;
	double f = 0;
	hid_t as = c == H5T_FLOAT ? H5T_NATIVE_DOUBLE : H5T_NATIVE_LLONG;
	void *to = c == H5T_FLOAT ? (void *)&f : (void *)v;
	if (ok) ok = (attribute ? H5Aread(o, as, to) : H5Dread(o, as, H5S_ALL, H5S_ALL, H5P_DEFAULT, to)) >= 0;
	if (ok && c == H5T_FLOAT) {
		ok = f >= -9007199254740992.0 && f <= 9007199254740992.0 && f == (double)(long long)f; // whole, and exact: no NaN
		if (ok) *v = (long long)f;
	}
	H5Tclose(t); H5Sclose(sp);
	if (attribute) H5Aclose(o); else H5Dclose(o);
	return ok;
}

// evq_kind returns the library's type. kind: bytes, negative with sign, 100 + bytes for floats.
static hid_t evq_kind(int kind) {
	return kind == 1 ? H5T_STD_U8LE : kind == 2 ? H5T_STD_U16LE : kind == 4 ? H5T_STD_U32LE : kind == -1 ? H5T_STD_I8LE :
		kind == -4 ? H5T_STD_I32LE : kind == -8 ? H5T_STD_I64LE : kind == 104 ? H5T_IEEE_F32LE : -1;
}

// evq_create makes a dataset of dims (0, rest) in chunks of the given dims. The client data of the nf filters stand
// one after another in values.
static hid_t evq_create(hid_t at, const char *name, hid_t t, int rank, const hsize_t *chunk, int nf, const int *filters, const int *n, const unsigned *values) {
	hsize_t dims[H5S_MAX_RANK], most[H5S_MAX_RANK];
	memcpy(dims, chunk, rank * sizeof *chunk);
	memcpy(most, chunk, rank * sizeof *chunk);
	dims[0] = 0;
	most[0] = H5S_UNLIMITED;
	hid_t sp = H5Screate_simple(rank, dims, most), pl = H5Pcreate(H5P_DATASET_CREATE);
	int e = H5Pset_chunk(pl, rank, chunk);
	for (int k = 0; k < nf && e >= 0; values += n[k++]) e = H5Pset_filter(pl, filters[k], H5Z_FLAG_OPTIONAL, n[k], values);
	hid_t d = e < 0 ? -1 : H5Dcreate2(at, name, t, sp, H5P_DEFAULT, pl, H5P_DEFAULT);
	H5Pclose(pl); H5Sclose(sp);
	return d;
}

static int evq_extend(hid_t d, long long rows) {
	hsize_t dims[H5S_MAX_RANK];
	hid_t sp = H5Dget_space(d);
	int e = H5Sget_simple_extent_dims(sp, dims, NULL);
	H5Sclose(sp);
	dims[0] = (hsize_t)rows;
	return e < 0 ? -1 : H5Dset_extent(d, dims);
}

static int evq_write_chunk(hid_t d, long long at, size_t n, const void *b) {
	hsize_t o[H5S_MAX_RANK] = {0};
	o[0] = (hsize_t)at;
	return H5Dwrite_chunk(d, H5P_DEFAULT, 0, o, n, b);
}

// evq_write_64 writes a whole dataset: one dimension of n numbers of 64 bits, or a scalar; kind is -8, or 8 without sign.
static int evq_write_64(hid_t at, const char *name, int kind, int scalar, long long n, const void *v) {
	hsize_t dim = (hsize_t)n;
	hid_t sp = scalar ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &dim, NULL);
	hid_t d = H5Dcreate2(at, name, kind < 0 ? H5T_STD_I64LE : H5T_STD_U64LE, sp, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
	int e = d < 0 ? -1 : n == 0 ? 0 : H5Dwrite(d, kind < 0 ? H5T_NATIVE_INT64 : H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, v);
	if (d >= 0 && H5Dclose(d) < 0) e = -1;
	H5Sclose(sp);
	return e;
}
static void evq_forget(void) { H5Eclear2(H5E_DEFAULT); }
static int evq_quiet(void) { return H5Eset_auto2(H5E_DEFAULT, NULL, NULL); }
static hid_t evq_open_dataset(hid_t at, const char *name) { return H5Dopen2(at, name, H5P_DEFAULT); }
// evq_header returns where the header of an object stands, 0 where that is not known.
static unsigned long long evq_header(hid_t at, const char *name) {
	H5G_stat_t s;
	memset(&s, 0, sizeof s);
	return H5Gget_objinfo(at, name, 1, &s) < 0 ? 0 : s.objno[0] | (sizeof s.objno[0] < 8 ? (unsigned long long)s.objno[1] << 32 : 0);
}
static int evq_close_dataset(hid_t d) { return H5Dclose(d); }
static int evq_flush(hid_t f) { return H5Fflush(f, H5F_SCOPE_GLOBAL); }
static int evq_available(int filter) { return H5Zfilter_avail(filter); }
*/
import "C"

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"unsafe"

	"github.com/evq-project/evq/io/hdf5/chunk"
)

// library serialises every call of the HDF5 library, which is not safe for concurrent use.
var library sync.Mutex

// locked runs fn inside the library. HDF5's own printing of errors is off: they are returned.
func locked(fn func() error) error {
	library.Lock()
	defer library.Unlock()
	// A library built for threads keeps its errors, and whether it prints them, for each thread of the system.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	C.evq_quiet()
	return fn()
}

// failed returns what HDF5 says went wrong last: the system's error where there was one. Call it inside the
// library.
func failed(what string) error {
	var b [C.EVQ_REASON]C.char
	C.evq_reason(&b[0])
	reason, _, _ := strings.Cut(C.GoString(&b[0]), "\n")
	if reason == "" {
		return errors.New(what)
	}
	var number int
	if _, rest, ok := strings.Cut(C.GoString(&b[0]), "errno = "); ok {
		if _, err := fmt.Sscanf(rest, "%d", &number); err == nil && number > 0 {
			return fmt.Errorf("%s: %w", what, syscall.Errno(number))
		}
	}
	return errors.New(what + ": " + reason)
}

// read fills b with n rows from row at, in the file's own type.
func (d dataset) read(at, n int64, b []byte) error {
	if n == 0 {
		return nil
	}
	return locked(func() error {
		if C.evq_read(C.hid_t(d.id), C.int(d.rank), C.longlong(at), C.longlong(n), C.longlong(d.cols), unsafe.Pointer(&b[0])) < 0 {
			return failed("reading")
		}
		return nil
	})
}

// errChunkSize reports a stored chunk that is larger than anything its filters make.
var errChunkSize = errors.New("a stored chunk is larger than its filters make; the file is damaged")

// readChunk returns the stored bytes of the chunk that starts at row at, in b where they fit; none where the
// chunk was never written. limit bounds them.
func (d dataset) readChunk(at int64, b []byte, limit int) (stored []byte, mask uint32, err error) {
	err = locked(func() error {
		var n C.hsize_t
		if C.evq_chunk_size(C.hid_t(d.id), C.longlong(at), &n) < 0 {
			return failed("finding a chunk")
		}
		if n > C.hsize_t(limit) {
			return errChunkSize
		}
		if n == 0 {
			stored = b[:0]
			return nil
		}
		if cap(b) < int(n) {
			b = make([]byte, n, int(n)+int(n)/4)
		}
		stored = b[:n]
		var m C.uint32_t
		if C.evq_chunk(C.hid_t(d.id), C.longlong(at), &m, unsafe.Pointer(&stored[0])) < 0 {
			return failed("reading a chunk")
		}
		mask = uint32(m)
		return nil
	})
	return stored, mask, err
}

// place returns where in the file the chunk that starts at row at is stored; ok is false where that is not known.
func (d dataset) place(at int64) (from, size int64, ok bool) {
	var a, n C.ulonglong
	_ = locked(func() error {
		ok = C.evq_chunk_place(C.hid_t(d.id), C.longlong(at), &a, &n) >= 0
		C.evq_forget()
		return nil
	})
	return int64(a), int64(n), ok && a <= math.MaxInt64 && n <= math.MaxInt64
}

// offset returns where in the file the values start, where they are stored in one piece. Call it inside the library.
func (d dataset) offset() (at int64, ok bool) {
	a := uint64(C.evq_offset(C.hid_t(d.id)))
	return int64(a), a <= math.MaxInt64
}

// header returns where the header of the dataset stands in the file, 0 where that is not known.
func (d dataset) header() (at int64) {
	_ = locked(func() error {
		at = int64(C.evq_header(C.hid_t(d.id), (*C.char)(unsafe.Pointer(&[]byte(".\x00")[0]))))
		C.evq_forget()
		return nil
	})
	return max(at, 0)
}

// scalar reads a number with one element at a group, a dataset or an attribute. Call it inside the library.
func scalar(at int64, name string, attribute bool) (int64, bool) {
	c := append([]byte(name), 0)
	var v C.longlong
	var a C.int
	if attribute {
		a = 1
	}
	ok := C.evq_scalar(C.hid_t(at), (*C.char)(unsafe.Pointer(&c[0])), a, &v) > 0
	return int64(v), ok
}

// builtIn reports whether the library itself undoes a filter.
func builtIn(filter int) bool { return filter <= 6 && C.evq_available(C.int(filter)) > 0 }

// createDataset makes an empty dataset that grows along its first axis. kind is the bytes of an element,
// negative for signed ones, 104 for float32. Call it inside the library.
func createDataset(at int64, name string, kind int, dims []int, filters []chunk.Filter) (int64, error) {
	return createDatasetOf(at, name, int64(C.evq_kind(C.int(kind))), dims, filters)
}

// createDatasetOf makes an empty dataset of one of the library's types. Call it inside the library.
func createDatasetOf(at int64, name string, typ int64, dims []int, filters []chunk.Filter) (int64, error) {
	if len(dims) > C.H5S_MAX_RANK {
		return 0, fmt.Errorf("dataset %s: %d dimensions; HDF5 has at most %d", name, len(dims), C.H5S_MAX_RANK)
	}
	c := append([]byte(name), 0)
	d := make([]C.hsize_t, len(dims))
	for i, n := range dims {
		d[i] = C.hsize_t(n)
	}
	var ids, counts []C.int
	var values []C.uint
	for _, f := range filters {
		ids, counts = append(ids, C.int(f.ID)), append(counts, C.int(len(f.Values)))
		for _, v := range f.Values {
			values = append(values, C.uint(v))
		}
	}
	id := C.evq_create(C.hid_t(at), (*C.char)(unsafe.Pointer(&c[0])), C.hid_t(typ), C.int(len(d)), &d[0],
		C.int(len(ids)), unsafe.SliceData(ids), unsafe.SliceData(counts), unsafe.SliceData(values))
	if id < 0 {
		return 0, failed("creating dataset " + name)
	}
	return int64(id), nil
}

func extend(id, rows int64) error {
	if C.evq_extend(C.hid_t(id), C.longlong(rows)) < 0 {
		return failed("extending a dataset")
	}
	return nil
}

func writeChunk(id int64, at int64, b []byte) error {
	if C.evq_write_chunk(C.hid_t(id), C.longlong(at), C.size_t(len(b)), unsafe.Pointer(&b[0])) < 0 {
		return failed("writing a chunk")
	}
	return nil
}

// writeInt64s writes a dataset of int64, a scalar where asked for. Call it inside the library.
func writeInt64s(at int64, name string, v []int64, isScalar bool) error {
	c := append([]byte(name), 0)
	var s C.int
	if isScalar {
		s = 1
	}
	if C.evq_write_64(C.hid_t(at), (*C.char)(unsafe.Pointer(&c[0])), -8, s, C.longlong(len(v)), unsafe.Pointer(unsafe.SliceData(v))) < 0 {
		return failed("writing dataset " + name)
	}
	return nil
}

// writeUint64s writes a dataset of uint64 with one dimension. Call it inside the library.
func writeUint64s(at int64, name string, v []uint64) error {
	c := append([]byte(name), 0)
	if C.evq_write_64(C.hid_t(at), (*C.char)(unsafe.Pointer(&c[0])), 8, 0, C.longlong(len(v)), unsafe.Pointer(unsafe.SliceData(v))) < 0 {
		return failed("writing dataset " + name)
	}
	return nil
}

// openDataset opens a dataset of any type. Call it inside the library.
func openDataset(at int64, name string) (int64, error) {
	c := append([]byte(name), 0)
	id := C.evq_open_dataset(C.hid_t(at), (*C.char)(unsafe.Pointer(&c[0])))
	if id < 0 {
		return 0, failed("opening dataset " + name)
	}
	return int64(id), nil
}

// openChecked opens a dataset of the file at a path unless that would make the library fail. Call it inside the library.
func openChecked(path string, at int64, name string) (int64, error) {
	c := append([]byte(name), 0)
	if zeroChunks(path, uint64(C.evq_header(C.hid_t(at), (*C.char)(unsafe.Pointer(&c[0]))))) {
		return 0, fmt.Errorf("dataset %s has chunks of no rows; the file is damaged", name)
	}
	return openDataset(at, name)
}

func closeDataset(id int64) error {
	if C.evq_close_dataset(C.hid_t(id)) < 0 {
		return failed("closing a dataset")
	}
	return nil
}

func flush(file int64) error {
	if C.evq_flush(C.hid_t(file)) < 0 {
		return failed("flushing")
	}
	return nil
}
