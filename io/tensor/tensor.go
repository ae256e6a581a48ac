// Package tensor defines what leaves evq: one dense block per window, and sinks that keep blocks.
//
// It knows shapes and bytes, and nothing of events, files or devices.
package tensor

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
)

// A DType is the type of a block's elements, which are little-endian in memory.
type DType uint8

// The element types.
const (
	Uint8 DType = iota
	Int8
	Uint32
	Int32
	Int64
	Float32
)

var dtypes = [...]struct {
	name, npy string
	size      int
}{
	Uint8: {"uint8", "|u1", 1}, Int8: {"int8", "|i1", 1}, Uint32: {"uint32", "<u4", 4},
	Int32: {"int32", "<i4", 4}, Int64: {"int64", "<i8", 8}, Float32: {"float32", "<f4", 4},
}

// String returns the name, such as uint8.
func (d DType) String() string { return dtypes[d].name }

// Size returns the bytes of one element.
func (d DType) Size() int { return dtypes[d].size }

// NPY returns NumPy's description of the type, such as |u1.
func (d DType) NPY() string { return dtypes[d].npy }

// A Shape is the extent of each axis of a block, such as channels, rows, columns.
type Shape []int

// Len returns the number of elements.
func (s Shape) Len() int {
	n := 1
	for _, d := range s {
		n *= d
	}
	return n
}

// String prints the shape as (20, 360, 640).
func (s Shape) String() string {
	parts := make([]string, len(s))
	for i, d := range s {
		parts[i] = fmt.Sprint(d)
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

// Equal reports whether both shapes have the same axes.
func (s Shape) Equal(o Shape) bool { return slices.Equal(s, o) }

// A Layout is what every block of a stream has in common.
type Layout struct {
	Name  string // the representation, such as stacked_histogram
	Shape Shape
	DType DType
}

// Bytes returns the size of one block.
func (l Layout) Bytes() int { return l.Shape.Len() * l.DType.Size() }

// Size returns the size of one block; ok is false where it is more than any memory holds.
func (l Layout) Size() (bytes int64, ok bool) {
	bytes = int64(l.DType.Size())
	for _, d := range l.Shape {
		if d < 0 || d > 0 && bytes > math.MaxInt64/int64(d) {
			return 0, false
		}
		bytes *= int64(d)
	}
	return bytes, true
}

// Check refuses a block of another size or type than the layout's.
func (l Layout) Check(b Block) error {
	if b.DType != l.DType {
		return fmt.Errorf("block %d is of %v, not of %v", b.Index, b.DType, l.DType)
	}
	if len(b.Data) != l.Bytes() {
		return fmt.Errorf("block %d has %d bytes; %v of %v have %d", b.Index, len(b.Data), l.Shape, l.DType, l.Bytes())
	}
	return nil
}

// A Block is the dense result for one window.
type Block struct {
	Part       int   // which of the stream's layouts it has: 0 where there is one
	Index      int   // the window's number, from 0
	Start, End int64 // the window's limits, microseconds
	Events     int64 // how many events lie in the window
	Shape      Shape
	DType      DType
	Data       []byte // Shape.Len() elements in C order; not to be changed
	Zero       bool   // every element is zero, and Data need not be looked at

	pool *Pool
}

// Clone returns a copy that owns its memory.
func (b Block) Clone() Block {
	b.Data, b.pool = slices.Clone(b.Data), nil
	return b
}

// Release hands the block's memory back to the pool it came from, if any. Only the owner may call it, once.
func (b Block) Release() {
	if b.pool != nil {
		b.pool.put(b.Data)
	}
}

// A Pool hands out blocks of one layout and reuses those that are released. It is safe for concurrent use.
type Pool struct {
	layout Layout
	mu     sync.Mutex
	free   [][]byte
}

// pooled bounds how many idle blocks a pool keeps.
const pooled = 16

// NewPool makes a pool of blocks.
func NewPool(l Layout) *Pool { return &Pool{layout: l} }

// Get returns a block whose Data holds stale values.
func (p *Pool) Get() Block {
	p.mu.Lock()
	defer p.mu.Unlock()
	b := Block{Shape: p.layout.Shape, DType: p.layout.DType, pool: p}
	if n := len(p.free); n > 0 {
		b.Data, p.free = p.free[n-1], p.free[:n-1]
		return b
	}
	b.Data = make([]byte, p.layout.Bytes())
	return b
}

func (p *Pool) put(data []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.free) < pooled {
		p.free = append(p.free, data)
	}
}

// One returns the layout of an output that holds one representation, or an error that says what holds several.
func One(l []Layout) (Layout, error) {
	if len(l) != 1 {
		return Layout{}, fmt.Errorf("%d representations do not fit into this format; .npz, .h5 and .arrow hold several", len(l))
	}
	return l[0], nil
}

// A Stream yields blocks in window order; Next returns io.EOF after the last. The reader owns each block
// and may Release it.
type Stream interface {
	Next(ctx context.Context) (Block, error)
	Close() error
}

// A Sink keeps blocks in the order they are written.
type Sink interface {
	// Write takes over the block and releases it when it is done with it.
	Write(ctx context.Context, b Block) error
	// Close completes the output: only then does it appear under its name.
	Close() error
	// Abort drops what was written. After Close it does nothing.
	Abort() error
}

// An Output is where blocks go: a file that is not made before Open.
type Output interface {
	// String names the output in messages.
	fmt.Stringer
	// Open starts the output. Every window brings one block of each layout, in their order; an output that holds
	// only one layout refuses more.
	Open(l ...Layout) (Sink, error)
}
