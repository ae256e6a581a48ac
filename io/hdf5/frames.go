package hdf5

import (
	"fmt"
	"runtime"
	"strings"

	"github.com/evq-project/evq/io/hdf5/chunk"
	"github.com/evq-project/evq/io/tensor"
)

// An Option changes how blocks are written.
type Option func(*output)

// Force overwrites an existing file.
func Force() Option { return func(o *output) { o.force = true } }

// Threads sets how many goroutines compress; 0 = one per CPU.
func Threads(n int) Option { return func(o *output) { o.threads = n } }

// Compression sets the filter, one of Compressions. "" is blosc-zstd, which RVT writes
// and its readers expect.
func Compression(name string) Option { return func(o *output) { o.compression = name } }

// Sums has the CRC-32C (Castagnoli) of the elements of every block put in to, in the order of the blocks. It is complete
// after Close, and for blocks of one layout only.
func Sums(to *[]uint32) Option { return func(o *output) { o.sums = to } }

// output is an HDF5 file that is not made before Open.
type output struct {
	path        string
	force       bool
	threads     int
	compression string
	sums        *[]uint32
}

// Create names the file that blocks go to: dataset data of shape (N, *shape), one block a chunk, as RVT writes
// its event representations, and beside it window_start, window_end and window_events, int64 of shape (N). Of several
// representations each has such a dataset under its layout's name (tensor.Names). A block of zeros costs nothing: its
// chunk isn't written, and readers fill it in.
func Create(path string, opts ...Option) tensor.Output {
	o := output{path: path}
	for _, opt := range opts {
		opt(&o)
	}
	return o
}

func (o output) String() string { return o.path }

// Open starts the file for the blocks of some layouts.
func (o output) Open(layouts ...tensor.Layout) (tensor.Sink, error) { return o.open(layouts) }

// Compressions lists the names that Compression takes, the default first. Readers need a plugin for all but
// gzip and none; h5py has them in hdf5plugin.
var Compressions = []string{"blosc-zstd", "blosc-lz4", "zstd", "lz4", "gzip", "none"}

// A packing says how chunks are compressed.
type packing struct {
	filter int
	codec  chunk.Codec
}

func parsePacking(name string) (packing, error) {
	switch name {
	case "", "blosc-zstd":
		return packing{chunk.Blosc, chunk.CodecZstd}, nil
	case "blosc-lz4":
		return packing{chunk.Blosc, chunk.CodecLZ4}, nil
	case "zstd":
		return packing{filter: chunk.Zstd}, nil
	case "lz4":
		return packing{filter: chunk.LZ4}, nil
	case "gzip":
		return packing{filter: chunk.Deflate}, nil
	case "none":
		return packing{}, nil
	}
	return packing{}, fmt.Errorf("hdf5: compression %q is none of %s", name, strings.Join(Compressions, ", "))
}

// filters returns the pipeline of chunks of n bytes, with the client data that h5py and hdf5plugin store.
func (p packing) filters(elemSize, n int) []chunk.Filter {
	switch p.filter {
	case chunk.Blosc: // revision, format, element size, chunk size, level, byte shuffle, codec
		code := uint32(5)
		if p.codec == chunk.CodecLZ4 {
			code = 1
		}
		return []chunk.Filter{{ID: chunk.Blosc, Values: []uint32{2, 2, uint32(elemSize), uint32(n), 1, 1, code}}}
	case 0:
		return nil
	}
	value := uint32(1) // level
	if p.filter == chunk.LZ4 {
		value = 0 // the writer's own block size
	}
	packer := chunk.Filter{ID: p.filter, Values: []uint32{value}}
	if elemSize == 1 {
		return []chunk.Filter{packer}
	}
	return []chunk.Filter{{ID: chunk.Shuffle, Values: []uint32{uint32(elemSize)}}, packer}
}

func (p packing) encoder(elemSize, n int, z chunk.ZstdCodec) *chunk.Encoder {
	return &chunk.Encoder{Filters: p.filters(elemSize, n), Codec: p.codec, TypeSize: elemSize, Zstd: z}
}

func threadsOr(n int) int {
	if n > 0 {
		return n
	}
	return runtime.GOMAXPROCS(0)
}
