package text

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/evq-project/evq/io/format"
)

const (
	readSize = 1 << 20
	longest  = 64 << 10 // the most bytes of a line
)

// errLong reports a line that is longer than any line of events.
var errLong = fmt.Errorf("a line of more than %d bytes; the file is damaged or no text", longest)

// lines reads a file in runs of whole lines. It holds one read and the part of a line before it.
type lines struct {
	r        io.ReaderAt
	buf      []byte
	have     int   // bytes in buf
	used     int   // of those, the bytes handed out
	at       int64 // where in the file buf starts
	size     int64
	readSize int
}

func newLines(f format.File, start int64, size int) *lines {
	if size <= 0 {
		size = readSize
	}
	return &lines{r: f, at: start, size: f.Size, readSize: size}
}

// next returns the next whole lines and where they start; io.EOF after the last. tail says that it is one last line
// without an end, to which one is added. The bytes are valid until the next call.
func (l *lines) next(ctx context.Context) (b []byte, at int64, tail bool, err error) {
	l.have = copy(l.buf, l.buf[l.used:l.have])
	l.at += int64(l.used)
	l.used = 0
	for searched := 0; ; {
		if i := bytes.LastIndexByte(l.buf[searched:l.have], '\n'); i >= 0 {
			l.used = searched + i + 1
			return l.buf[:l.used], l.at, false, nil
		}
		searched = l.have
		if err := ctx.Err(); err != nil {
			return nil, l.at, false, err
		}
		if l.have > longest {
			return nil, l.at, false, errLong
		}
		n := min(int64(l.readSize), l.size-l.at-int64(l.have))
		if n <= 0 {
			break
		}
		if err := l.read(int(n)); err != nil {
			return nil, l.at, false, err
		}
	}
	if l.have == 0 {
		return nil, l.at, false, io.EOF
	}
	l.used = l.have
	return append(l.buf[:l.have], '\n'), l.at, true, nil
}

// read appends n bytes of the file.
func (l *lines) read(n int) error {
	if need := l.have + n; need > len(l.buf) {
		buf := make([]byte, max(need, min(2*len(l.buf), l.readSize+longest)))
		copy(buf, l.buf[:l.have])
		l.buf = buf
	}
	at := l.at + int64(l.have)
	if m, err := l.r.ReadAt(l.buf[l.have:l.have+n], at); m < n {
		if errors.Is(err, io.EOF) {
			err = errors.New("the file ends here, but was longer when it was opened; do not change it while it is read")
		}
		return fmt.Errorf("reading at byte %d: %w", at+int64(m), err)
	}
	l.have += n
	return nil
}
