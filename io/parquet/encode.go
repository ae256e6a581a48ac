package parquet

import (
	"bytes"
	"fmt"
	"sync"

	"github.com/apache/arrow-go/v18/parquet/file"

	"github.com/evq-project/evq/io/event"
)

// An encoder turns buffers of events into row groups; several goroutines may use one.
type encoder struct {
	layout  layout
	outputs sync.Pool // *bytes.Buffer
	scratch sync.Pool // *[]int32 of groupLen
}

func newEncoder(l layout) *encoder {
	return &encoder{layout: l,
		outputs: sync.Pool{New: func() any { return new(bytes.Buffer) }},
		scratch: sync.Pool{New: func() any { s := make([]int32, groupLen); return &s }}}
}

// encode encodes the events of b. The group's bytes stay valid until out is handed back to outputs.
func (e *encoder) encode(b *event.Buffer) (g group, out *bytes.Buffer, err error) {
	out = e.outputs.Get().(*bytes.Buffer)
	wide := e.scratch.Get().(*[]int32)
	defer e.scratch.Put(wide)
	g, err = encodeGroup(e.layout, out, func(rg file.SerialRowGroupWriter) error {
		if err := column[*file.Int64ColumnChunkWriter](rg, b.T); err != nil {
			return err
		}
		for _, coordinates := range [][]uint16{b.X, b.Y} {
			if err := column[*file.Int32ColumnChunkWriter](rg, widen((*wide)[:b.Len()], coordinates)); err != nil {
				return err
			}
		}
		p := widen((*wide)[:b.Len()], b.P)
		if i := firstPolarityError(p); i >= 0 {
			return fmt.Errorf("parquet: event has polarity %d; a store keeps 0 and 1", p[i])
		}
		return column[*file.Int32ColumnChunkWriter](rg, p)
	})
	return g, out, err
}

func widen[T uint16 | int8](dst []int32, src []T) []int32 {
	for i, v := range src {
		dst[i] = int32(v)
	}
	return dst
}

// firstPolarityError returns the index of the first value that is not 0 or 1, or -1.
func firstPolarityError(p []int32) int {
	var all int32
	for _, v := range p {
		all |= v
	}
	if all&^1 == 0 {
		return -1
	}
	for i, v := range p {
		if v&^1 != 0 {
			return i
		}
	}
	return -1
}
