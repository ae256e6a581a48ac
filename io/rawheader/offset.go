package rawheader

import (
	"bytes"
	"context"
	"fmt"
	"strconv"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/format"
)

// OffsetField is the header's field that holds what is to be added to every time, in microseconds. It is written where
// the times of a recording are beyond what its words hold, such as those of a clock that counts from 1970; programs that
// do not know the field see the times without it.
const OffsetField = "evq_time_offset"

// MaxOffset bounds an offset, so that no sum passes 64 bits.
const MaxOffset = 1 << 61

// OffsetRoom is what a header must have room for, so that an offset can be added to it.
const OffsetRoom = 64

// offsetStep is what offsets are multiples of, in microseconds.
const offsetStep = 1_000_000

// OffsetFor is the offset of a recording whose first time is t.
func OffsetFor(t int64) int64 {
	q := t / offsetStep
	if t%offsetStep < 0 {
		q--
	}
	return q * offsetStep
}

// WithOffset adds the field to a header that ends with its end line, or with the last of its fields.
func WithOffset(header []byte, offset int64) []byte {
	const end = "% end\n"
	body, ended := bytes.CutSuffix(header, []byte(end))
	out := fmt.Appendf(bytes.Clone(body), "%% %s %d\n", OffsetField, offset)
	if ended {
		out = append(out, end...)
	}
	return out
}

// Offset returns what is to be added to every time, in microseconds.
func (h Header) Offset() (int64, error) {
	v, ok := h.Field(OffsetField)
	if !ok {
		return 0, nil
	}
	n, err := strconv.ParseInt(v, 10, 64)
	if err != nil || n > MaxOffset || n < -MaxOffset {
		return 0, fmt.Errorf("the header's %s is %.40q and no offset in microseconds; correct the header", OffsetField, v)
	}
	return n, nil
}

// later hands triggers on with an offset added.
func later(to func([]event.Trigger) error, offset int64) func([]event.Trigger) error {
	if to == nil || offset == 0 {
		return to
	}
	return func(tr []event.Trigger) error {
		for i := range tr {
			tr[i].T += offset
		}
		return to(tr)
	}
}

// An offsetDecoder adds an offset to the times of events.
type offsetDecoder struct {
	format.Decoder
	offset int64
}

// Next implements format.Decoder.
func (d offsetDecoder) Next(ctx context.Context) (*event.Buffer, error) {
	b, err := d.Decoder.Next(ctx)
	if err != nil {
		return nil, err
	}
	for i := range b.T {
		b.T[i] += d.offset
	}
	return b, nil
}
