//go:build hdf5 && cgo

package hdf5

/*
#include <hdf5.h>
#include <stdint.h>
#include <string.h>

// evq_blocks_kind names the types of blocks as createDataset does; 0: another.
static int evq_blocks_kind(hid_t t) {
	if (H5Tequal(t, H5T_STD_U8LE) > 0 || H5Tequal(t, H5T_STD_U8BE) > 0) return 1;
	if (H5Tequal(t, H5T_STD_I8LE) > 0 || H5Tequal(t, H5T_STD_I8BE) > 0) return -1;
	if (H5Tequal(t, H5T_STD_U32LE) > 0) return 4;
	if (H5Tequal(t, H5T_STD_I32LE) > 0) return -4;
	if (H5Tequal(t, H5T_STD_I64LE) > 0) return -8;
	return H5Tequal(t, H5T_IEEE_F32LE) > 0 ? 104 : 0;
}

// evq_blocks_extent returns the rank and fills in the dimensions, those of a chunk (0: not chunked), the type
// and one element of the fill value. The arrays hold H5S_MAX_RANK.
static int evq_blocks_extent(hid_t d, hsize_t *dims, hsize_t *chunk, int *kind, unsigned char *fill) {
	hid_t sp = H5Dget_space(d), t = H5Dget_type(d), pl = H5Dget_create_plist(d);
	int rank = sp < 0 || t < 0 || pl < 0 ? -1 : H5Sget_simple_extent_dims(sp, dims, NULL);
	if (rank >= 0) {
		H5D_fill_value_t fv;
		*kind = evq_blocks_kind(t);
		if (H5Pget_layout(pl) == H5D_CHUNKED && H5Pget_chunk(pl, H5S_MAX_RANK, chunk) < 0) rank = -1;
		if (*kind && H5Pfill_value_defined(pl, &fv) >= 0 && fv == H5D_FILL_VALUE_USER_DEFINED) H5Pget_fill_value(pl, t, fill);
	}
	H5Pclose(pl); H5Tclose(t); H5Sclose(sp);
	return rank;
}

// evq_blocks_chunk_size is 0 for chunks that were never written. The quick question fails for those and for
// faults alike, so that the slow one, which looks at all chunks, is asked second.
static int evq_blocks_chunk_size(hid_t d, const hsize_t *at, hsize_t *n) {
	if (H5Dget_chunk_storage_size(d, at, n) >= 0) return 0;
	unsigned mask;
	haddr_t where = HADDR_UNDEF;
	if (H5Dget_chunk_info_by_coord(d, at, &mask, &where, n) < 0) return -1;
	if (where == HADDR_UNDEF) *n = 0;
	return 0;
}
static int evq_blocks_chunk(hid_t d, const hsize_t *at, uint32_t *mask, void *to) { return H5Dread_chunk(d, H5P_DEFAULT, at, mask, to); }

// evq_blocks_read reads one row, in the file's own type.
static int evq_blocks_read(hid_t d, int rank, const hsize_t *dims, hsize_t row, void *to) {
	hsize_t start[H5S_MAX_RANK] = {row}, count[H5S_MAX_RANK];
	memcpy(count, dims, rank * sizeof *dims);
	count[0] = 1;
	hid_t fs = H5Dget_space(d), ms = H5Screate_simple(rank, count, NULL), t = H5Dget_type(d);
	int e = H5Sselect_hyperslab(fs, H5S_SELECT_SET, start, NULL, count, NULL);
	if (e >= 0) e = H5Dread(d, t, ms, fs, H5P_DEFAULT, to);
	H5Tclose(t); H5Sclose(ms); H5Sclose(fs);
	return e;
}
*/
import "C"

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"unsafe"

	"github.com/evq-project/evq/io/hdf5/chunk"
	"github.com/evq-project/evq/io/tensor"
	"gonum.org/v1/hdf5"
)

// A blockFile is the open dataset and the idle decoders of its chunks.
type blockFile struct {
	h       *hdf5.File
	id      int64
	size    int   // bytes of an element
	dims    []int // all axes
	chunk   []int // none where the dataset isn't chunked, or the library reads it
	fill    []byte
	filters []chunk.Filter

	mu   *sync.Mutex
	idle []*blockDecoder
}

// A blockDecoder serves one Read at a time and keeps its memory.
type blockDecoder struct {
	*chunk.Decoder
	stored []byte
	raw    []byte // a chunk that isn't a whole block
}

func (b *Blocks) open() error {
	b.file.mu = new(sync.Mutex)
	return locked(func() error {
		h, err := hdf5.OpenFile(b.path, hdf5.F_ACC_RDONLY)
		if err != nil {
			return failed("opening (the file may be cut or not HDF5)")
		}
		b.file.h = h
		if err := b.inspect(); err != nil {
			b.file.shut()
			return err
		}
		return nil
	})
}

// inspect finds out how the blocks are stored. Call it inside the library.
func (b *Blocks) inspect() error {
	f := &b.file
	if !f.h.LinkExists(b.name) {
		return fmt.Errorf("there is none; the file holds %s", listing(&f.h.CommonFG))
	}
	var err error
	if f.id, err = openDataset(f.h.ID(), b.name); err != nil {
		return err
	}
	var dims, parts [C.H5S_MAX_RANK]C.hsize_t
	var kind C.int
	var fill [8]C.uchar
	rank := int(C.evq_blocks_extent(C.hid_t(f.id), &dims[0], &parts[0], &kind, &fill[0]))
	if rank < 0 {
		return failed("asking for its properties")
	}
	if rank == 0 || dims[0] > math.MaxInt {
		return fmt.Errorf("it has %d axes; blocks have one more than their own", rank)
	}
	dtype, ok := elementKind(int(kind))
	if !ok {
		return errors.New("its elements are not uint8, int8, uint32, int32, int64 or float32, little-endian")
	}
	f.size, b.n = dtype.Size(), int64(dims[0])
	if f.dims, err = extents("blocks", dims[:rank], f.size); err != nil {
		return err
	}
	b.layout = tensor.Layout{Name: b.name, Shape: f.dims[1:], DType: dtype}
	f.fill = C.GoBytes(unsafe.Pointer(&fill[0]), C.int(f.size))
	return f.inspectChunks(parts[:rank])
}

func (f *blockFile) inspectChunks(parts []C.hsize_t) error {
	d, err := inspect(f.id)
	if err != nil {
		return err
	}
	if parts[0] == 0 || d.byLibrary() {
		return nil
	}
	rows := parts[0]
	if f.chunk, err = extents("chunks", parts, f.size*int(min(rows, largestBlock))); err != nil {
		return err
	}
	f.chunk[0], f.filters = int(rows), d.filters
	dec, err := f.decoder()
	if err == nil {
		f.idle = append(f.idle, dec)
	}
	return err
}

// extents checks that the axes after the first hold no more than a block may. size is what multiplies them.
func extents(what string, dims []C.hsize_t, size int) ([]int, error) {
	out := []int{0}
	total := C.hsize_t(size)
	for _, d := range dims[1:] {
		if d > largestBlock || total*max(d, 1) > largestBlock {
			return nil, fmt.Errorf("its %s are larger than %d MiB, which is not read", what, largestBlock>>20)
		}
		total *= max(d, 1)
		out = append(out, int(d))
	}
	if total > largestBlock {
		return nil, fmt.Errorf("its %s are larger than %d MiB, which is not read", what, largestBlock>>20)
	}
	return out, nil
}

func elementKind(kind int) (tensor.DType, bool) {
	for t, k := range elementKinds {
		if k == kind {
			return t, true
		}
	}
	return 0, false
}

// decoder returns an idle decoder or a new one.
func (f *blockFile) decoder() (*blockDecoder, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if n := len(f.idle); n > 0 {
		d := f.idle[n-1]
		f.idle = f.idle[:n-1]
		return d, nil
	}
	d, err := chunk.NewDecoder(f.filters, f.size, newCZstd())
	return &blockDecoder{Decoder: d}, err
}

func (f *blockFile) read(i int, dst []byte) error {
	if len(dst) == 0 {
		return nil
	}
	if f.chunk == nil {
		return locked(func() error {
			dims := make([]C.hsize_t, len(f.dims))
			for k, d := range f.dims {
				dims[k] = C.hsize_t(d)
			}
			if C.evq_blocks_read(C.hid_t(f.id), C.int(len(dims)), &dims[0], C.hsize_t(i), unsafe.Pointer(&dst[0])) < 0 {
				return failed("reading")
			}
			return nil
		})
	}
	d, err := f.decoder()
	if err != nil {
		return err
	}
	err = f.gather(d, i, dst)
	f.mu.Lock()
	f.idle = append(f.idle, d)
	f.mu.Unlock()
	return err
}

// gather reads the chunks that hold block i, of which there is one where RVT or evq wrote them.
func (f *blockFile) gather(d *blockDecoder, i int, dst []byte) error {
	at := make([]C.hsize_t, len(f.dims))
	at[0] = C.hsize_t(i / f.chunk[0] * f.chunk[0])
	if f.whole() {
		return f.load(d, at, dst)
	}
	n := f.size
	for _, c := range f.chunk {
		n *= c
	}
	d.raw = sized(d.raw, n)
	inner := n / f.chunk[0]
	from := i % f.chunk[0] * inner
	for {
		if err := f.load(d, at, d.raw); err != nil {
			return err
		}
		f.place(dst, d.raw[from:from+inner], at)
		if !f.advance(at) {
			return nil
		}
	}
}

// whole reports whether a chunk is exactly one block.
func (f *blockFile) whole() bool {
	for k, c := range f.chunk {
		if k == 0 && c != 1 || k > 0 && c != f.dims[k] {
			return false
		}
	}
	return true
}

// advance moves at to the next chunk of the block.
func (f *blockFile) advance(at []C.hsize_t) bool {
	for k := len(at) - 1; k > 0; k-- {
		if at[k] += C.hsize_t(f.chunk[k]); at[k] < C.hsize_t(f.dims[k]) {
			return true
		}
		at[k] = 0
	}
	return false
}

// place copies the part of a chunk that lies inside the block to where it belongs. raw is the chunk's row.
func (f *blockFile) place(dst, raw []byte, at []C.hsize_t) {
	var copyAxis func(k, to, from int)
	copyAxis = func(k, to, from int) {
		if k == len(f.dims) {
			copy(dst[to*f.size:(to+1)*f.size], raw[from*f.size:])
			return
		}
		lo := int(at[k])
		n := min(f.chunk[k], f.dims[k]-lo)
		if k == len(f.dims)-1 {
			to, from = to*f.dims[k]+lo, from*f.chunk[k]
			copy(dst[to*f.size:(to+n)*f.size], raw[from*f.size:])
			return
		}
		for j := range n {
			copyAxis(k+1, to*f.dims[k]+lo+j, from*f.chunk[k]+j)
		}
	}
	copyAxis(1, 0, 0)
}

// load reads and decodes the chunk at an offset into dst, which it fills.
func (f *blockFile) load(d *blockDecoder, at []C.hsize_t, dst []byte) error {
	var mask C.uint32_t
	limit := len(dst) + len(dst)/4 + 1<<16
	err := locked(func() error {
		var n C.hsize_t
		if C.evq_blocks_chunk_size(C.hid_t(f.id), &at[0], &n) < 0 {
			return failed("finding a chunk")
		}
		if n > C.hsize_t(limit) {
			return errChunkSize
		}
		d.stored = sized(d.stored, int(n))
		if n > 0 && C.evq_blocks_chunk(C.hid_t(f.id), &at[0], &mask, unsafe.Pointer(&d.stored[0])) < 0 {
			return failed("reading a chunk")
		}
		return nil
	})
	if err != nil {
		return err
	}
	if len(d.stored) > 0 {
		return d.Decode(dst, d.stored, uint32(mask))
	}
	for i := 0; i < len(dst); i += f.size { // never written
		copy(dst[i:], f.fill)
	}
	return nil
}

// shut closes what is open. Call it inside the library.
func (f *blockFile) shut() {
	if f.id != 0 {
		_ = closeDataset(f.id)
		f.id = 0
	}
	if f.h != nil {
		_ = f.h.Close()
		f.h = nil
	}
}

func (f *blockFile) close() error {
	return locked(func() error { f.shut(); return nil })
}
