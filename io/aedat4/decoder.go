package aedat4

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/rawheader"
)

const (
	headSize  = 8  // a packet's stream and size
	eventSize = 16 // a stored event
	// leastMemory is what a packet may take, however little memory is given.
	leastMemory = 64 << 20
)

// A decoder yields the events of one stream, packet by packet. It implements format.Decoder.
type decoder struct {
	file     format.File
	header   *header
	policy   format.Policy
	rep      *event.Report
	pool     *event.Pool
	triggers rawheader.Triggers
	codec    *codec
	tracks   []track
	chosen   int32 // the stream whose events are read, or anyStream until one is met

	at, end int64 // the next packet, and where packets end
	closed  bool  // the table of packets is at the end: no packet may be cut
	raw     []byte
	events  []byte // of the packet in work, not yet yielded
	origin  int64  // where in the file that packet starts
	bad     int    // damaged ranges met
	err     error  // what ends the scan, once the events before it are out
}

func newDecoder(f format.File, h *header, chosen int32, p format.Policy, want event.Request, rep *event.Report, pool *event.Pool) (*decoder, error) {
	c, err := newCodec(h.compression, max(p.Memory, leastMemory))
	if err != nil {
		return nil, err
	}
	d := &decoder{
		file: f, header: h, policy: p, rep: rep, pool: pool, codec: c, chosen: chosen,
		triggers: rawheader.Triggers{To: want.Triggers}, at: h.packets, end: f.Size,
	}
	if h.table >= h.packets && h.table <= f.Size {
		d.end, d.closed = h.table, true
	}
	d.noteStreams()
	return d, nil
}

// noteStreams says which events are left out where there are several streams of them.
func (d *decoder) noteStreams() {
	for i := range d.header.streams {
		if s := &d.header.streams[i]; s.kind == kindEvents && s.id != d.chosen {
			d.rep.Note("the events of %s are left out; --stream %d reads them instead of those of stream %d.", s.label(), s.id, d.chosen)
		}
	}
}

// Next implements format.Decoder. A buffer takes the events of as many packets as it has room for.
func (d *decoder) Next(ctx context.Context) (*event.Buffer, error) {
	if d.err != nil {
		return nil, d.err
	}
	b := d.pool.Get()
	for d.err == nil && b.Len() < b.Cap() {
		if len(d.events) == 0 {
			d.err = d.packet(ctx)
			continue
		}
		d.err = d.fill(b)
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
	d.codec.close()
	d.events, d.raw, d.err = nil, nil, io.EOF
	return nil
}

// fill turns stored events {t i64, x i16, y i16, p bool, 3 bytes} into events.
func (d *decoder) fill(b *event.Buffer) error {
	at := b.Len()
	n := min(len(d.events)/eventSize, b.Cap()-at)
	b.Resize(at + n)
	in := d.events[:n*eventSize]
	odd := unpack(b, at, in)
	d.events = d.events[n*eventSize:]
	if odd > 1 {
		return d.polarities(b, at, in)
	}
	return nil
}

// polarities settles those that are neither 0 nor 1, from the at-th event of b on.
func (d *decoder) polarities(b *event.Buffer, at int, in []byte) error {
	for i := range b.P[at:] {
		v := in[i*eventSize+12]
		if v <= 1 {
			continue
		}
		if d.policy.Polarity != "nonzero" {
			b.Resize(at + i)
			return syntax(d.origin, "a packet holds the polarity %d; --polarity-encoding nonzero takes it as ON", v)
		}
		b.P[at+i] = 1
		d.rep.Count(event.RemappedPolarity, 1, d.origin)
	}
	return nil
}

// vet looks for polarities that would end the scan before any event of the packet is yielded, so that a salvage can
// leave the packet out.
func (d *decoder) vet() error {
	for i := 12; i < len(d.events) && d.policy.Polarity != "nonzero"; i += eventSize {
		if v := d.events[i]; v > 1 {
			d.events = nil
			return fmt.Errorf("it holds the polarity %d", v)
		}
	}
	return nil
}

// packet takes the next packet: its events become those in work, its triggers are handed on, and what else there is is
// counted. Damage ends the scan, or is passed over where the policy salvages.
func (d *decoder) packet(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if d.at >= d.end {
		return d.finish()
	}
	err := d.take()
	var damage *format.SyntaxError
	switch {
	case !errors.As(err, &damage):
		return err
	case d.policy.Salvage:
		return d.skip(ctx, damage.Msg)
	case strings.Contains(damage.Msg, "--"): // it says already what to do
		return err
	}
	return format.Damaged(name, damage.Offset, damage.Msg, nil)
}

// finish judges the end of the packets.
func (d *decoder) finish() error {
	if missing := d.header.table - d.file.Size; missing > 0 {
		if d.policy.Strict {
			return syntax(d.file.Size, "the file ends here, the header places the table of packets at %#x; without --strict the packets before are kept", d.header.table)
		}
		d.rep.Lose(event.TrailingBytes, missing, d.file.Size)
		d.rep.Note("the file ends %d bytes before the table of packets that its header promises.", missing)
	}
	return io.EOF
}

// take reads and opens the packet at d.at.
func (d *decoder) take() error {
	left := d.end - d.at - headSize
	if left < 0 {
		return d.cut("the head of a packet is cut")
	}
	var head [headSize]byte
	if err := d.read(head[:], d.at); err != nil {
		return err
	}
	id, size := int32(binary.LittleEndian.Uint32(head[:])), int64(int32(binary.LittleEndian.Uint32(head[4:])))
	if id < 0 || id > maxStream || size < 4 {
		return syntax(d.at, "a packet of stream %d has %d bytes", id, size)
	}
	tr := d.track(id)
	if size > left {
		return d.overlong(tr, size, left)
	}
	if tr.opened && !tr.read && id != d.chosen {
		d.rep.CountUnknown(tr.name, 1, d.at)
		d.at += headSize + size
		return nil
	}
	b, err := d.payload(size)
	if err != nil {
		return err
	}
	fb, err := d.codec.decode(b)
	if err != nil {
		return syntax(d.at, "a packet of stream %d: %v", id, err)
	}
	if err := d.open(tr, fb); err != nil {
		return err
	}
	d.at += headSize + size
	return nil
}

// payload reads the bytes of the packet at d.at.
func (d *decoder) payload(size int64) ([]byte, error) {
	if size > d.codec.limit {
		return nil, syntax(d.at, "a packet has %d bytes: %v", size, errTooLarge)
	}
	if int64(cap(d.raw)) < size {
		d.raw = make([]byte, size+size/4)
	}
	d.raw = d.raw[:size]
	return d.raw, d.read(d.raw, d.at+headSize)
}

func (d *decoder) read(b []byte, at int64) error {
	if err := rawheader.ReadFull(d.file, b, at); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// overlong judges a packet that does not end before the packets do: cut in two with the file, or damaged.
func (d *decoder) overlong(tr *track, size, left int64) error {
	damaged := syntax(d.at, "a packet of stream %d has %d bytes, but %d are left", tr.id, size, left)
	if len(d.header.streams) > 0 && d.header.stream(tr.id) == nil || left > d.codec.limit {
		return damaged
	}
	if left < 4 {
		return d.cut("a packet is cut")
	}
	b, err := d.payload(left)
	if err != nil {
		return err
	}
	if !d.header.compression.starts(b, size) || d.codec.ends(b) {
		return damaged
	}
	return d.cut("a packet is cut")
}

// cut ends the scan at a packet that the end of the file cuts in two.
func (d *decoder) cut(msg string) error {
	if d.closed {
		return syntax(d.at, "%s by the table of packets", msg)
	}
	if d.policy.Strict {
		return syntax(d.at, "%s; without --strict it is left out", msg)
	}
	d.rep.Lose(event.TrailingBytes, d.end-d.at, d.at)
	return io.EOF
}
