package rawheader

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/evq-project/evq/io/event"
)

// BufferSize is how many events a buffer takes: small enough to stay in a core's cache until it is used.
const BufferSize = 64 << 10

// Words is what a format makes of its words. It keeps the state that they set from one call to the next.
type Words interface {
	// Decode turns words, which start at the byte at, into events until they are used up or b has no room for what a
	// word can hold. It returns how many bytes it took.
	Decode(b *event.Buffer, words []byte, at int64) (n int, err error)
	// Room is how many events a buffer must have room for before Decode is called.
	Room() int
	// End settles what the end of the payload at the byte at leaves open; trailing bytes of a cut word follow it.
	End(at, trailing int64) error
}

// A Decoder drives a format's words over a payload. It is a format.Decoder.
type Decoder struct {
	payload  *Payload
	words    Words
	pool     *event.Pool
	triggers *Triggers

	rest  []byte // read and not yet decoded
	at    int64  // where in the file rest starts
	blank span   // the zeros that follow it
	taken int64  // where zeros end that the words took for theirs
	err   error  // what ends the scan, once the events before it are out
}

// NewDecoder starts at the start of a payload. Buffers come from pool, which makes them of BufferSize; triggers are
// handed on before the buffer during which they were met.
func NewDecoder(p *Payload, w Words, pool *event.Pool, triggers *Triggers) *Decoder {
	return &Decoder{payload: p, words: w, pool: pool, triggers: triggers}
}

// Next implements format.Decoder.
func (d *Decoder) Next(ctx context.Context) (*event.Buffer, error) {
	if d.err != nil {
		return nil, d.err
	}
	b := d.pool.Get()
	if b.Cap() < d.words.Room() {
		return nil, fmt.Errorf("rawheader: a buffer of %d events has no room for %d", b.Cap(), d.words.Room())
	}
	for d.err == nil && b.Len() <= b.Cap()-d.words.Room() {
		if len(d.rest) == 0 {
			if d.err = d.load(ctx); d.err != nil || len(d.rest) == 0 {
				continue
			}
		}
		n, err := d.words.Decode(b, d.rest, d.at)
		d.rest, d.at, d.err = d.rest[n:], d.at+int64(n), err
	}
	if errors.Is(d.err, io.EOF) {
		if err := d.words.End(d.payload.end, d.payload.trailing); err != nil {
			d.err = err
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

// load reads the next words, up to a run of zeros, or takes the run.
func (d *Decoder) load(ctx context.Context) (err error) {
	zeros, may := d.words.(Blanker)
	if z := d.blank; !z.empty() {
		d.blank = span{}
		taken, err := zeros.Blank(z.from, z.to, z.to == d.payload.end)
		if d.payload.pos = z.to; !taken {
			d.payload.pos, d.taken = z.from, z.to
		}
		return err
	}
	if d.rest, d.at, err = d.payload.Next(ctx); err != nil || !may {
		return err
	}
	n := min(int64(len(d.rest)), d.taken-d.at)
	if n <= 0 {
		if n, d.blank, err = d.payload.until(ctx, d.rest, d.at); err != nil {
			return err
		}
	}
	d.rest, d.payload.pos = d.rest[:n], d.at+n
	return nil
}

// Close implements format.Decoder.
func (d *Decoder) Close() error {
	d.rest, d.err = nil, io.EOF
	return nil
}
