package parquet

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// A delta decodes DELTA_BINARY_PACKED integers (parquet-format, Encodings.md): a first value, then differences in
// blocks, each with its least difference and some miniblocks of packed bits.
type delta struct {
	data   []byte
	last   int64
	first  bool // the first value was not yet read
	least  int64
	per    int // values of a miniblock
	minis  int // miniblocks of a block
	widths []byte
	mini   int      // the next miniblock of the block
	held   []uint64 // differences of the miniblock at hand, less the least
	at     int      // how many of them were read
	room   []uint64
}

// mostPerMini bounds a miniblock; writers take 32 or 64.
const mostPerMini = 1 << 16

// mostIndex is the most bits that an index may have, however small the dictionary.
const mostIndex = 32

func (d *delta) start(data []byte, n int) error {
	block, data, err := uvarint(data)
	if err != nil {
		return err
	}
	minis, data, err := uvarint(data)
	if err != nil {
		return err
	}
	total, data, err := uvarint(data)
	if err != nil {
		return err
	}
	first, data, err := uvarint(data)
	if err != nil {
		return err
	}
	if minis == 0 || minis > mostPerMini || block == 0 || block%minis != 0 || block/minis > mostPerMini || block/minis%8 != 0 {
		return fmt.Errorf("%w: blocks of %d values in %d parts", errPage, block, minis)
	}
	if total < uint64(n) {
		return fmt.Errorf("%w: it encodes %d values, and has %d", errPage, total, n)
	}
	*d = delta{data: data, last: zigzag(first), first: true, per: int(block / minis), minis: int(minis), mini: int(minis), room: d.room}
	if cap(d.room) < d.per {
		d.room = make([]uint64, d.per)
	}
	return nil
}

// read decodes the next len(dst) values.
func (d *delta) read(dst []int64) error {
	if d.first && len(dst) > 0 {
		dst[0], d.first = d.last, false
		dst = dst[1:]
	}
	for len(dst) > 0 {
		if d.at == len(d.held) {
			n, err := d.whole(dst)
			if err != nil {
				return err
			}
			if dst = dst[n:]; n > 0 {
				continue
			}
			if err := d.load(); err != nil {
				return err
			}
		}
		n := min(len(dst), len(d.held)-d.at)
		last, least := d.last, d.least
		for i, v := range d.held[d.at : d.at+n] {
			last += int64(v) + least
			dst[i] = last
		}
		d.last = last
		d.at += n
		dst = dst[n:]
	}
	return nil
}

// whole decodes as many miniblocks straight into dst as fit and have small differences, and returns how many values
// they have. Where it stops at another, load sees to that.
func (d *delta) whole(dst []int64) (n int, err error) {
	for len(dst)-n >= d.per {
		if err := d.block(); err != nil {
			return n, err
		}
		width := int(d.widths[d.mini])
		size := d.per / 8 * width
		if width >= 16 || size > len(d.data) {
			return n, nil
		}
		to := dst[n : n+d.per]
		if width == 0 {
			for i := range to {
				d.last += d.least
				to[i] = d.last
			}
		} else {
			last, done := sums(to, d.data, width, d.last, d.least)
			for i := done; i < len(to); i++ {
				last += int64(bitsAt(d.data, i*width, width)&(1<<width-1)) + d.least
				to[i] = last
			}
			d.last = last
		}
		d.data = d.data[size:]
		d.mini++
		n += d.per
	}
	return n, nil
}

// block reads the head of the next block where the one at hand is at its end.
func (d *delta) block() (err error) {
	if d.mini < d.minis {
		return nil
	}
	var least uint64
	if least, d.data, err = uvarint(d.data); err != nil {
		return err
	}
	if len(d.data) < d.minis {
		return fmt.Errorf("%w: it ends within a block", errPage)
	}
	d.least, d.widths, d.data, d.mini = zigzag(least), d.data[:d.minis], d.data[d.minis:], 0
	return nil
}

// load unpacks the next miniblock.
func (d *delta) load() error {
	if err := d.block(); err != nil {
		return err
	}
	width := int(d.widths[d.mini])
	d.mini++
	size := d.per / 8 * width
	if width > 64 || size > len(d.data) {
		return fmt.Errorf("%w: %d values of %d bits in %d bytes", errPage, d.per, width, len(d.data))
	}
	d.held, d.at = d.room[:d.per], 0
	unpack(d.held, d.data, width)
	d.data = d.data[size:]
	return nil
}

func zigzag(v uint64) int64 { return int64(v>>1) ^ -int64(v&1) }

func uvarint(data []byte) (uint64, []byte, error) {
	v, n := binary.Uvarint(data)
	if n <= 0 {
		return 0, nil, fmt.Errorf("%w: it ends within a number", errPage)
	}
	return v, data[n:], nil
}

// A hybrid decodes runs of equal indices and packed ones (parquet-format, Encodings.md, RLE).
type hybrid struct {
	data   []byte
	width  int
	equal  int    // values left of a run of equal ones
	value  uint16 // which
	packed int    // values left of a packed run
	bits   []byte // of that run, from the next value's on
	skip   int    // bits of it that were read
	limit  uint16 // the largest index
}

func (h *hybrid) start(data []byte, limit uint16) error {
	if len(data) == 0 {
		return fmt.Errorf("%w: it is empty", errPage)
	}
	*h = hybrid{data: data[1:], width: int(data[0]), limit: limit}
	// Without bits all are the first value, as where a writer ends a page before it saw a second one: a run, no values.
	if h.width > mostIndex || h.width == 0 && len(h.data) > binary.MaxVarintLen64 {
		return fmt.Errorf("%w: indices of %d bits in %d bytes", errPage, h.width, len(h.data))
	}
	return nil
}

func (h *hybrid) read(dst []uint16) error {
	for len(dst) > 0 {
		switch {
		case h.equal > 0:
			n := min(h.equal, len(dst))
			for i := range dst[:n] {
				dst[i] = h.value
			}
			h.equal -= n
			dst = dst[n:]
		case h.packed > 0:
			n := min(h.packed, len(dst))
			if h.skip > 0 { // up to a border of bytes, so that unpacking begins at one
				n = min(n, 8-h.skip)
				for i := range n {
					v := bitsAt(h.bits, (h.skip+i)*h.width, h.width) & (1<<h.width - 1)
					if v > uint64(h.limit) {
						return h.tooLarge()
					}
					dst[i] = uint16(v)
				}
				h.skip += n
			} else {
				if !unpackIndices(dst[:n], h.bits, h.width, h.limit) {
					return h.tooLarge()
				}
				h.skip = n & 7
				h.bits = h.bits[n>>3*h.width:]
			}
			if h.skip == 8 {
				h.skip, h.bits = 0, h.bits[h.width:]
			}
			h.packed -= n
			dst = dst[n:]
		default:
			if err := h.run(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (h *hybrid) tooLarge() error {
	return fmt.Errorf("%w: an index of %d bits is above %d, the last of the dictionary", errPage, h.width, h.limit)
}

// run starts the next run.
func (h *hybrid) run() error {
	head, data, err := uvarint(h.data)
	if err != nil {
		return err
	}
	const most = 1 << 31
	if head>>1 == 0 || head>>1 > most {
		return fmt.Errorf("%w: a run of %d", errPage, head>>1)
	}
	if head&1 == 0 {
		size := (h.width + 7) / 8
		if len(data) < size {
			return fmt.Errorf("%w: it ends within a run", errPage)
		}
		v := uint64(0)
		for i := range size {
			v |= uint64(data[i]) << (8 * i)
		}
		if bits.Len64(v) > h.width || v > uint64(h.limit) {
			return h.tooLarge()
		}
		h.equal, h.value, h.data = int(head>>1), uint16(v), data[size:]
		return nil
	}
	// The last run of a page may be cut to the bytes that hold values.
	size := min(int(head>>1)*h.width, len(data))
	h.packed, h.bits, h.skip, h.data = int(head>>1)*8, data[:size], 0, data[size:]
	if h.width > 0 {
		h.packed = min(h.packed, size*8/h.width)
	}
	if h.packed == 0 {
		return fmt.Errorf("%w: it ends within a run", errPage)
	}
	return nil
}
