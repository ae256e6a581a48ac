package eventframe

import (
	"context"
	"encoding/binary"
	"errors"

	"github.com/evq-project/evq/accel"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/tensor"
	"github.com/evq-project/evq/udf"
)

// A deviceEncoder counts whole windows on a device. Windows whose events come bit by bit the processor counts, as the
// encoder in it does.
type deviceEncoder struct {
	*encoder
	table  *udf.DeviceTable
	slices udf.Slices
}

// onDevice returns nil where the device counts no tables.
func (f Frame) onDevice(g event.Geometry, d accel.Device) (udf.Encoder, error) {
	t := accel.Table{Bins: f.Bins, Width: g.Width, Height: g.Height, TileX: 1, TileY: 1, Polarity: accel.Apart}
	if f.Signed {
		t.Polarity = accel.Signed
	}
	table, err := udf.OpenDeviceTable(name, d, t)
	if table == nil {
		return nil, err
	}
	e, err := f.Open(g, nil) // for windows that come bit by bit
	if err != nil {
		return nil, errors.Join(err, table.Close())
	}
	return &deviceEncoder{e.(*encoder), table, udf.Slices{Whole: f.Variant == Tonic}}, nil
}

// Encode counts one window after another.
func (e *deviceEncoder) Encode(ctx context.Context, w event.Windowed, dst []tensor.Block) error {
	return e.Each(ctx, w, dst, func(w event.Window, all udf.Events, data []byte) error {
		ev := all.Slice(w.Lo, w.Hi)
		var segments []accel.Segment
		done := 0
		if n := len(ev.T); n > 0 {
			from, to := e.frame.Timebase.Limits(ev.T[0], ev.T[n-1], w)
			if segments = e.slices.Cut(ev.T, from, to, e.frame.Bins); len(segments) > 0 {
				last := segments[len(segments)-1]
				done = int(last.Start + last.Len)
			}
		}
		if err := e.table.Count(ctx, ev, segments, data); err != nil {
			return err
		}
		if err := e.table.Skip(ev.Slice(done, len(ev.T)), e.g); err != nil {
			return err
		}
		if e.frame.Mode != Count || e.frame.Cutoff > 0 {
			clip(data, e.frame.limit())
		}
		return nil
	})
}

// clip bounds the magnitude of all counts.
func clip(data []byte, limit int32) {
	for i := 0; i+4 <= len(data); i += 4 {
		if n := int32(binary.LittleEndian.Uint32(data[i:])); n > limit || n < -limit {
			binary.LittleEndian.PutUint32(data[i:], uint32(max(min(n, limit), -limit)))
		}
	}
}

// Notes implements udf.Noter.
func (e *deviceEncoder) Notes() []string {
	return append(e.slices.Notes(name), e.encoder.Notes()...)
}

func (e *deviceEncoder) OffSensor() int64 { return e.encoder.OffSensor() + e.table.OffSensor() }
func (e *deviceEncoder) Close() error     { return errors.Join(e.table.Close(), e.encoder.Close()) }
