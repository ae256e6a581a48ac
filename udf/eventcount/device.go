package eventcount

import (
	"context"
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
	table *udf.DeviceTable
}

// onDevice returns nil where the device counts no tables.
func (c Count) onDevice(g event.Geometry, d accel.Device) (udf.Encoder, error) {
	t := accel.Table{Bins: 1, Width: g.Width, Height: g.Height, TileX: 1, TileY: 1, Polarity: accel.Merged}
	table, err := udf.OpenDeviceTable(name, d, t)
	if table == nil {
		return nil, err
	}
	e, err := c.Open(g, nil) // for windows that come bit by bit
	if err != nil {
		return nil, errors.Join(err, table.Close())
	}
	return &deviceEncoder{e.(*encoder), table}, nil
}

// Encode counts one window after another.
func (e *deviceEncoder) Encode(ctx context.Context, w event.Windowed, dst []tensor.Block) error {
	return e.Each(ctx, w, dst, func(w event.Window, all udf.Events, data []byte) error {
		ev := udf.Events{X: all.X[w.Lo:w.Hi], Y: all.Y[w.Lo:w.Hi]} // without polarities, which need not be there
		return e.table.Count(ctx, ev, []accel.Segment{{Len: uint32(w.Hi - w.Lo)}}, data)
	})
}

func (e *deviceEncoder) OffSensor() int64 { return e.encoder.OffSensor() + e.table.OffSensor() }
func (e *deviceEncoder) Close() error     { return errors.Join(e.table.Close(), e.encoder.Close()) }
