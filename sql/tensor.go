package sql

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/evq-project/evq/engine"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/tensor"
)

// A helper is a scalar function over blocks.
type helper struct {
	Function
	overloads []overload
}

// An overload is one way to call a helper. args are b for a block, s for text, i for an integer and l for a list of
// integers; the result is a number (n), text (s), or a list of numbers (N) or of integers (l).
type overload struct {
	args   string
	result byte
	call   func(s *Session, args []any) (any, error)
}

// helpers look into blocks. The type of a block's elements is uint8 where it is not given.
var helpers = []helper{
	{Function{"tensor_shape", "scalar", "tensor_shape('stacked_histogram:bins=10', height, width)", "the shape of the blocks of a representation"},
		[]overload{{"sii", 'l', func(s *Session, a []any) (any, error) {
			l, err := s.layout(a[0].(string), a[1].(int64), a[2].(int64))
			if err != nil {
				return nil, err
			}
			out := make([]int64, len(l.Shape))
			for i, d := range l.Shape {
				out[i] = int64(d)
			}
			return out, nil
		}}}},
	{Function{"tensor_type", "scalar", "tensor_type('voxel_grid')", "the type of the elements of a representation's blocks, such as float32"},
		[]overload{{"s", 's', func(s *Session, a []any) (any, error) {
			l, err := s.layout(a[0].(string), 64, 64)
			return l.DType.String(), err
		}}}},
	{Function{"tensor_sum", "scalar", "tensor_sum(block [, 'uint8'])", "the sum of a block's elements"},
		[]overload{{"b", 'n', tensorSum}, {"bs", 'n', tensorSum}}},
	{Function{"tensor_to_list", "scalar", "tensor_to_list(block [, 'uint8'])", "the elements of a block, in C order"},
		[]overload{{"b", 'N', tensorList}, {"bs", 'N', tensorList}}},
	{Function{"tensor_at", "scalar", "tensor_at(block, shape, [channel, y, x] [, 'uint8'])", "one element of a block, by an index for each axis, or one for all: tensor_at(block, index)"},
		[]overload{{"bi", 'n', tensorAt}, {"bis", 'n', tensorAt}, {"bll", 'n', tensorAtIndices}, {"blls", 'n', tensorAtIndices}}},
}

// layout returns what the blocks of a representation look like.
func (s *Session) layout(text string, height, width int64) (tensor.Layout, error) {
	rep, err := engine.Represent(text, s.naming()...)
	if err != nil {
		return tensor.Layout{}, err
	}
	if height < 1 || width < 1 || height > 1<<16 || width > 1<<16 {
		return tensor.Layout{}, fmt.Errorf("height and width are 1 to 65536 pixels, not %d and %d", height, width)
	}
	return rep.Layout(event.Geometry{Width: int(width), Height: int(height)}), nil
}

// elements are those of a block.
type elements struct {
	data  []byte
	dtype tensor.DType
}

func elementsOf(block any, rest ...any) (elements, error) {
	e := elements{data: block.([]byte)}
	if len(rest) > 0 {
		for d := tensor.Uint8; d.String() != rest[0].(string); d++ {
			if d == tensor.Float32 {
				return e, fmt.Errorf("there is no type %q; tensor_type('name') tells that of a representation", rest[0])
			}
			e.dtype = d + 1
		}
	}
	if len(e.data)%e.dtype.Size() != 0 {
		return e, fmt.Errorf("%d bytes are no elements of %v; tensor_type('name') tells the type of a representation", len(e.data), e.dtype)
	}
	return e, nil
}

func (e elements) len() int { return len(e.data) / e.dtype.Size() }

func (e elements) at(i int) float64 {
	b := e.data[i*e.dtype.Size():]
	switch e.dtype {
	case tensor.Int8:
		return float64(int8(b[0]))
	case tensor.Uint32:
		return float64(binary.LittleEndian.Uint32(b))
	case tensor.Int32:
		return float64(int32(binary.LittleEndian.Uint32(b)))
	case tensor.Int64:
		return float64(int64(binary.LittleEndian.Uint64(b)))
	case tensor.Float32:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
	default:
		return float64(b[0])
	}
}

func tensorSum(_ *Session, a []any) (any, error) {
	e, err := elementsOf(a[0], a[1:]...)
	sum := 0.0
	for i := range e.len() {
		sum += e.at(i)
	}
	return sum, err
}

func tensorList(_ *Session, a []any) (any, error) {
	e, err := elementsOf(a[0], a[1:]...)
	if err != nil {
		return nil, err
	}
	out := make([]float64, e.len())
	for i := range out {
		out[i] = e.at(i)
	}
	return out, nil
}

func tensorAt(_ *Session, a []any) (any, error) {
	e, err := elementsOf(a[0], a[2:]...)
	if err != nil {
		return nil, err
	}
	i := a[1].(int64)
	if i < 0 || i >= int64(e.len()) {
		return nil, fmt.Errorf("tensor_at: index %d of %d elements; the first is 0", i, e.len())
	}
	return e.at(int(i)), nil
}

func tensorAtIndices(_ *Session, a []any) (any, error) {
	e, err := elementsOf(a[0], a[3:]...)
	if err != nil {
		return nil, err
	}
	shape, index := a[1].([]int64), a[2].([]int64)
	if len(shape) != len(index) {
		return nil, fmt.Errorf("tensor_at: %d indices into %d axes; give one for each", len(index), len(shape))
	}
	at, n := int64(0), int64(1)
	for k, d := range shape {
		if index[k] < 0 || index[k] >= d {
			return nil, fmt.Errorf("tensor_at: index %d of an axis of %d; the first is 0", index[k], d)
		}
		if n *= d; n > int64(e.len()) {
			break
		}
		at = at*d + index[k]
	}
	if n != int64(e.len()) {
		return nil, fmt.Errorf("tensor_at: the shape %v is not that of a block of %d elements; tensor_shape('name', height, width) tells it", shape, e.len())
	}
	return e.at(int(at)), nil
}
