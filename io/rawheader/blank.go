package rawheader

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/format"
)

// BlankSize is how many zero bytes in a row no recording holds: a sector of a disk. A block that was never written, or
// not downloaded, reads as zeros.
const BlankSize = 512

// blankStep is how far apart bytes are looked at: a run of BlankSize bytes holds eight in a row that are.
const blankStep = BlankSize / 2

// A Blanker is Words that know when a run of zero bytes cannot be theirs. Words that are no Blanker get such runs as
// words.
type Blanker interface {
	// Blank is asked before the bytes from up to to are decoded, which are at least BlankSize zeros and the rest of
	// the words at their ends. It takes them, and forgets what the words that were there may have changed, or leaves
	// them to Decode. tail says that nothing follows them.
	Blank(from, to int64, tail bool) (taken bool, err error)
}

// Blank counts a run of zero bytes, or refuses it: where nothing follows it, the recording ends before it, as with a cut
// last word; else it is damage. lost says what is lost with it, or nothing.
func (s *Scan) Blank(name string, from, to int64, tail bool, lost string) (taken bool, err error) {
	msg := fmt.Sprintf("%d bytes are zeros", to-from)
	switch {
	case tail && s.Policy.Strict:
		return true, &format.SyntaxError{Format: name, Offset: from, Msg: "nothing but zeros from here on; without --strict they are left out"}
	case tail:
		s.Report.Lose(event.TrailingBytes, to-from, from)
		s.Report.Note("the recording ends at byte %#x: nothing but zeros follow.", from)
	case !s.Policy.Salvage:
		return true, format.Damaged(name, from, msg+", which no recording holds: a block of the file was never written", nil)
	default:
		if lost != "" {
			msg += ", " + lost
		}
		s.bad.Skip(s.Report, from, to, msg)
	}
	return true, nil
}

// A span is a range of bytes in the file: [from, to).
type span struct{ from, to int64 }

func (s span) empty() bool { return s.to <= s.from }

// until returns how many bytes of b, words that start at the byte at, come before a run of zeros that starts among them,
// and where the words lie that it touches. The span is empty where there is no such run.
func (p *Payload) until(ctx context.Context, b []byte, at int64) (n int64, blank span, err error) {
	for i := 0; i < len(b); {
		lo, hi := nextZeros(b, i)
		if lo == hi {
			break
		}
		size := int64(hi - lo)
		if hi == len(b) && size < BlankSize { // is it the start of one?
			if size, err = p.zerosFrom(ctx, at+int64(lo), size, size+BlankSize); err != nil {
				return 0, span{}, err
			}
		}
		if size < BlankSize {
			i = hi
			continue
		}
		if hi == len(b) {
			if size, err = p.zerosFrom(ctx, at+int64(lo), size, p.end); err != nil {
				return 0, span{}, err
			}
		}
		word := int64(p.word)
		n = int64(lo) / word * word
		words := (int64(lo) - n + size + word - 1) / word
		return n, span{at + n, min(at+n+words*word, p.end)}, nil
	}
	return int64(len(b)), span{}, nil
}

// nextZeros returns a run of zero bytes in b[i:] that may belong to one of BlankSize: it ends b, or holds one of the
// places that are looked at. Such runs that cannot are passed over; the run is empty where there is none.
func nextZeros(b []byte, i int) (lo, hi int) {
	for k := (i + blankStep - 1) / blankStep * blankStep; k+8 <= len(b); k += blankStep {
		if binary.LittleEndian.Uint64(b[k:]) != 0 {
			continue
		}
		lo, hi = k, k+8
		for lo > i && b[lo-1] == 0 {
			lo--
		}
		for hi < len(b) && b[hi] == 0 {
			hi++
		}
		return lo, hi
	}
	hi = len(b)
	for lo = hi; lo > i && b[lo-1] == 0; {
		lo--
	}
	return lo, hi
}

// zerosFrom returns how many zeros, at most about most, start at the byte at, the first known of which are known.
func (p *Payload) zerosFrom(ctx context.Context, at, known, most int64) (int64, error) {
	if p.ahead == nil {
		p.ahead = make([]byte, BlankSize)
	}
	n := known
	for n < most && at+n < p.end {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		b := p.ahead[:min(int64(len(p.ahead)), p.end-at-n)]
		if err := ReadFull(p.r, b, at+n); err != nil {
			return 0, err
		}
		for _, c := range b {
			if c != 0 {
				return n, nil
			}
			n++
		}
		if len(p.ahead) < DefaultReadSize/4 && n >= BlankSize {
			p.ahead = make([]byte, DefaultReadSize/4) // a long run
		}
	}
	return n, nil
}
