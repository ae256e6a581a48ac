package rawheader

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// DefaultReadSize is how many bytes a Payload reads at a time: they stay in a core's cache, beside the events of a
// buffer, until they are decoded.
const DefaultReadSize = 256 << 10

// ErrShrunk reports a file that has become shorter since it was opened.
var ErrShrunk = errors.New("the file ends here, but was longer when it was opened; do not change it while it is read")

// A Payload streams the words after a header through one buffer.
type Payload struct {
	r        io.ReaderAt
	buf      []byte
	pos, end int64
	trailing int64 // bytes after the last whole word
	word     int
	ahead    []byte // read to find the end of a run of zeros
}

// NewPayload starts at the byte start of a file of size bytes. Words are word bytes long; readSize is how many bytes
// are read at a time, rounded up to whole words so that none is ever split; 0 is DefaultReadSize.
func NewPayload(r io.ReaderAt, start, size int64, word, readSize int) *Payload {
	if readSize <= 0 {
		readSize = DefaultReadSize
	}
	length := max(size-start, 0)
	trailing := length % int64(word)
	length -= trailing
	n := int64((readSize + word - 1) / word * word)
	return &Payload{r: r, buf: make([]byte, min(n, length)), pos: start, end: start + length, trailing: trailing, word: word}
}

// Next returns the next words and where in the file they start; io.EOF after the last whole word. The bytes are valid
// until the next call.
func (p *Payload) Next(ctx context.Context) (b []byte, offset int64, err error) {
	if err := ctx.Err(); err != nil {
		return nil, p.pos, err
	}
	if p.pos >= p.end {
		return nil, p.pos, io.EOF
	}
	b = p.buf[:min(int64(len(p.buf)), p.end-p.pos)]
	if err := ReadFull(p.r, b, p.pos); err != nil {
		return nil, p.pos, err
	}
	offset, p.pos = p.pos, p.pos+int64(len(b))
	return b, offset, nil
}

// ReadFull fills b from the byte at, where the file's size said that it could; what is missing now is ErrShrunk.
func ReadFull(r io.ReaderAt, b []byte, at int64) error {
	n, err := r.ReadAt(b, at)
	if n == len(b) {
		return nil
	}
	if errors.Is(err, io.EOF) {
		err = ErrShrunk
	}
	return fmt.Errorf("reading at byte %d: %w", at+int64(n), err)
}
