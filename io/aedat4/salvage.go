package aedat4

import (
	"context"
	"encoding/binary"

	"github.com/evq-project/evq/io/event"
)

const (
	scanSize = 64 << 10 // bytes looked through at a time
	lookSize = headSize + 12
	maxNoted = 100 // damaged ranges that are named one by one
)

// skip passes over damage at d.at to the next packet, or to the end.
func (d *decoder) skip(ctx context.Context, msg string) error {
	from := d.at
	next, err := d.find(ctx, from+1)
	if err != nil {
		return err
	}
	d.rep.Lose(event.DamagedBytes, next-from, from)
	if d.bad++; d.bad <= maxNoted {
		d.rep.Note("bytes %#x to %#x are damaged and left out: %s.", from, next, msg)
	} else {
		d.rep.Note("damaged ranges after the first %d are counted only.", maxNoted)
	}
	d.at = next
	return nil
}

// find returns where the next packet seems to start, d.end where there is none.
func (d *decoder) find(ctx context.Context, from int64) (int64, error) {
	buf := make([]byte, scanSize+lookSize)
	for ; from+lookSize <= d.end; from += scanSize {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		b := buf[:min(int64(len(buf)), d.end-from)]
		if err := d.read(b, from); err != nil {
			return 0, err
		}
		for i := 0; i < scanSize && i+lookSize <= len(b); i++ {
			if d.looksLike(b[i:i+lookSize], d.end-from-int64(i)) {
				return from + int64(i), nil
			}
		}
	}
	return d.end, nil
}

// looksLike reports whether b can be the start of a packet with left bytes up to the end of packets.
func (d *decoder) looksLike(b []byte, left int64) bool {
	size := int64(int32(binary.LittleEndian.Uint32(b[4:])))
	if size < lookSize-headSize || size > left-headSize || !d.header.compression.starts(b[headSize:], size) {
		return false
	}
	id := int32(binary.LittleEndian.Uint32(b))
	if len(d.header.streams) > 0 {
		return d.header.stream(id) != nil
	}
	return id >= 0 && id <= maxStream
}
