package check

import (
	"context"
	"encoding/binary"

	"github.com/evq-project/evq/accel"
)

// A plainTable counts one event after another, for reference.
type plainTable struct{ accel.Table }

// Scatter counts polarities apart.
func (t plainTable) Scatter(ctx context.Context, job accel.Job, dst []byte) (off int64, err error) {
	clear(dst)
	plane := t.Rows() * t.Columns()
	for _, s := range job.Segments {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		base := int(s.Window)*t.Len() + int(s.Bin)*2*plane
		for i := int(s.Start); i < int(s.Start)+int(s.Len); i++ {
			x, y := int(job.X[i]), int(job.Y[i])
			if x >= t.Width || y >= t.Height {
				off++
				continue
			}
			cell := dst[4*(base+int(job.P[i])*plane+y/t.TileY*t.Columns()+x/t.TileX):][:4]
			binary.LittleEndian.PutUint32(cell, binary.LittleEndian.Uint32(cell)+1)
		}
	}
	return off, nil
}

// Close does nothing.
func (plainTable) Close() error { return nil }
