package aedat3

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/rawheader"
)

const defaultReadSize = 256 << 10

// A decoder yields the polarity events of one source, packet by packet. It implements format.Decoder.
type decoder struct {
	file     format.File
	old      bool // version 3.0, whose coordinates lie elsewhere
	policy   format.Policy
	rep      *event.Report
	pool     *event.Pool
	triggers rawheader.Triggers
	chosen   int16 // the source that is read, or anySource until one is met

	at       int64 // the next packet
	pos, end int64 // events of the packet in work that are not read yet
	head     head  // of that packet
	buf      []byte
	rest     []byte // read and not yet decoded
	clock    clock
	bad      int   // damaged ranges met
	err      error // what ends the scan, once the events before it are out
}

func newDecoder(f format.File, h *header, chosen int16, p format.Policy, want event.Request, rep *event.Report, pool *event.Pool, readSize int) *decoder {
	n := (int64(readSize) + eventSize - 1) / eventSize * eventSize
	return &decoder{
		file: f, old: h.version == "3.0", policy: p, rep: rep, pool: pool, triggers: rawheader.Triggers{To: want.Triggers},
		chosen: chosen, at: h.packets, buf: make([]byte, min(n, f.Size/eventSize*eventSize+eventSize)),
	}
}

// Next implements format.Decoder. A buffer takes the events of as many packets as it has room for.
func (d *decoder) Next(ctx context.Context) (*event.Buffer, error) {
	if d.err != nil {
		return nil, d.err
	}
	b := d.pool.Get()
	for d.err == nil && b.Len() < b.Cap() {
		switch {
		case len(d.rest) > 0:
			d.err = d.decode(b)
		case d.pos < d.end:
			d.err = d.load(ctx)
		default:
			d.err = d.packet(ctx)
		}
	}
	if err := d.triggers.Flush(); err != nil {
		d.err = err
	}
	if b.Len() > 0 {
		return b, nil
	}
	b.Release()
	return nil, d.err
}

// Close implements format.Decoder.
func (d *decoder) Close() error {
	d.rest, d.err = nil, io.EOF
	return nil
}

// load reads the next events of the packet in work.
func (d *decoder) load(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	d.rest = d.buf[:min(int64(len(d.buf)), d.end-d.pos)]
	err := d.read(d.rest, d.pos)
	d.pos += int64(len(d.rest))
	return err
}

func (d *decoder) read(b []byte, at int64) error {
	if err := rawheader.ReadFull(d.file, b, at); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// offset is where in the file the bytes in d.rest start.
func (d *decoder) offset() int64 { return d.pos - int64(len(d.rest)) }

// decode takes what was read: special events to the last, polarity events as far as b has room.
func (d *decoder) decode(b *event.Buffer) error {
	if d.head.kind == special {
		return d.specials()
	}
	at := b.Len()
	n := min(len(d.rest)/eventSize, b.Cap()-at)
	in, base := d.rest[:n*eventSize], int64(d.head.overflow)<<31
	b.Resize(at + n)
	xShift, yShift, mask := 17, 2, uint32(1<<15-1)
	if d.old {
		xShift, yShift, mask = 18, 4, 1<<14-1
	}
	k := at
	var negative int32
	for i := 0; i < len(in); i += eventSize {
		w, t := binary.LittleEndian.Uint32(in[i:]), int32(binary.LittleEndian.Uint32(in[i+4:]))
		if w&1 == 0 {
			continue
		}
		negative |= t
		b.T[k], b.X[k], b.Y[k], b.P[k] = base+int64(t), uint16(w>>xShift&mask), uint16(w>>yShift&mask), int8(w>>1&1)
		k++
	}
	b.Resize(k)
	if invalid := at + n - k; invalid > 0 {
		d.rep.CountUnknown("invalid", int64(invalid), d.offset())
	}
	where := d.offset()
	d.rest = d.rest[n*eventSize:]
	if negative < 0 {
		return d.negative(b, at, in, where)
	}
	return nil
}

// negative ends the scan at the first event, from the at-th of b on, whose time is below 0.
func (d *decoder) negative(b *event.Buffer, at int, in []byte, where int64) error {
	for i := 0; i < len(in); i += eventSize {
		w, t := binary.LittleEndian.Uint32(in[i:]), int32(binary.LittleEndian.Uint32(in[i+4:]))
		if w&1 == 0 {
			continue
		}
		if t < 0 {
			b.Resize(at)
			return d.damaged(where+int64(i), fmt.Sprintf("an event has the negative time %d", t))
		}
		at++
	}
	return nil
}

// damaged is the error of damage inside the packet in work; where the policy salvages, the rest of the packet is
// passed over instead.
func (d *decoder) damaged(at int64, msg string) error {
	if !d.policy.Salvage {
		return format.Damaged(name, at, msg, nil)
	}
	d.lose(at, d.end, msg)
	d.pos, d.rest = d.end, nil
	return nil
}

// packet takes the head of the next packet: events and specials become the packet in work, what else there is is
// counted.
func (d *decoder) packet(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	left := d.file.Size - d.at
	if left == 0 {
		return io.EOF
	}
	if left < headSize {
		return d.cut()
	}
	var b [headSize]byte
	if err := d.read(b[:], d.at); err != nil {
		return err
	}
	h := parseHead(b[:])
	msg := h.check()
	if h.compressedEvents() && msg == "" {
		msg = "a packet of events is compressed; save the recording again without compression"
	}
	if over := msg == "" && h.body() > left-headSize; over {
		if h.consistent() {
			return d.cut()
		}
		msg = fmt.Sprintf("a packet has %d bytes, but %d are left", h.body(), left-headSize)
	}
	if msg == "" {
		return d.enter(h)
	}
	if d.policy.Salvage {
		return d.skip(ctx, msg)
	}
	if h.compressedEvents() {
		return syntax(d.at, "%s", msg)
	}
	return format.Damaged(name, d.at, msg, nil)
}

// cut ends the scan at a packet that the end of the file cuts in two.
func (d *decoder) cut() error {
	if d.policy.Strict {
		return syntax(d.at, "the last packet is cut; without --strict it is left out")
	}
	d.rep.Lose(event.TrailingBytes, d.file.Size-d.at, d.at)
	return io.EOF
}

// enter makes the packet at d.at the one in work, or counts its events.
func (d *decoder) enter(h head) error {
	at := d.at
	d.at += headSize + h.body()
	if h.kind == polarity && d.chosen == anySource {
		d.chosen = h.source
	}
	switch kind := h.kind; {
	case kind == polarity && h.source == d.chosen:
		d.clock.step(h.overflow, d.rep, at)
	case kind == special && (h.source == d.chosen || d.chosen == anySource):
	case kind <= polarity:
		d.rep.CountUnknown(fmt.Sprintf("%s of source %d", kindName(kind), h.source), int64(h.number), at)
		d.rep.Note("only the events of source %d are read; --stream chooses another.", d.chosen)
		return nil
	case int(kind&^compressed) >= len(kinds) && d.policy.OnUnknown == format.Error:
		return syntax(at, "a packet is of the unknown type %d; --on-unknown skip passes over it", kind&^compressed)
	default:
		d.rep.CountUnknown(kindName(kind), int64(h.number), at)
		return nil
	}
	d.head, d.pos, d.end = h, at+headSize, d.at
	return nil
}

// A clock follows the overflows of a source's time.
type clock struct {
	running  bool
	overflow int32
}

// step takes the overflow counter of the next packet.
func (c *clock) step(overflow int32, rep *event.Report, at int64) {
	switch {
	case !c.running:
	case overflow > c.overflow:
		rep.Count(event.Wraps, int64(overflow-c.overflow), at)
	case overflow < c.overflow:
		rep.Count(event.Glitches, 1, at)
	}
	c.running, c.overflow = true, overflow
}
