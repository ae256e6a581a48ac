package aedat3

import (
	"context"

	"github.com/evq-project/evq/io/event"
)

const (
	scanSize = 64 << 10 // bytes looked through at a time
	maxNoted = 100      // damaged ranges that are named one by one
)

// lose counts a damaged range and names it.
func (d *decoder) lose(from, to int64, msg string) {
	d.rep.Lose(event.DamagedBytes, to-from, from)
	if d.bad++; d.bad <= maxNoted {
		d.rep.Note("bytes %#x to %#x are damaged and left out: %s.", from, to, msg)
	} else {
		d.rep.Note("damaged ranges after the first %d are counted only.", maxNoted)
	}
}

// skip passes over damage at d.at to the next packet, or to the end.
func (d *decoder) skip(ctx context.Context, msg string) error {
	next, err := d.find(ctx, d.at+1)
	if err != nil {
		return err
	}
	d.lose(d.at, next, msg)
	d.at = next
	return nil
}

// find returns where the next packet seems to start, the end of the file where there is none.
func (d *decoder) find(ctx context.Context, from int64) (int64, error) {
	buf := make([]byte, scanSize+headSize)
	for ; from+headSize <= d.file.Size; from += scanSize {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		b := buf[:min(int64(len(buf)), d.file.Size-from)]
		if err := d.read(b, from); err != nil {
			return 0, err
		}
		for i := 0; i < scanSize && i+headSize <= len(b); i++ {
			if d.looksLike(parseHead(b[i:]), d.file.Size-from-int64(i)) {
				return from + int64(i), nil
			}
		}
	}
	return d.file.Size, nil
}

// looksLike reports whether h can be the head of a packet with left bytes up to the end of the file. Heads have no mark
// of their own: all their numbers must agree.
func (d *decoder) looksLike(h head, left int64) bool {
	known := int(h.kind) < len(kinds) && h.number > 0 && h.capacity <= 1<<24
	return known && (h.source == d.chosen || d.chosen == anySource) && h.check() == "" && h.consistent() && h.body() <= left-headSize
}
