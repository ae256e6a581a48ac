// Package rawheader reads and writes what Prophesee's RAW formats share: the ASCII header, the stream of words after
// it, the clock that the words carry, and the order in which events and triggers are written.
//
// It knows no word of any format, and no policy.
//
// The rules of the header are those of Prophesee's documentation (docs.prophesee.ai, "RAW file format") and of
// OpenEB's generic_header.cpp and psee_raw_file_header.cpp.
package rawheader

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/evq-project/evq/io/event"
)

// MaxSize bounds a header, in bytes.
const MaxSize = 64 << 10

// ErrTooLong reports a header that does not end within MaxSize.
var ErrTooLong = errors.New("the header does not end within 64 KiB; the file is damaged or no RAW recording")

// A Header is the ASCII header of a recording. The zero Header is that of a file which starts with its payload.
type Header struct {
	Fields  []event.Field // in file order, without the end line
	Payload int64         // where the payload starts, in bytes from the start of the file
}

// Read reads the header of a file of the given size.
func Read(r io.ReaderAt, size int64) (Header, error) {
	n := min(size, MaxSize+1)
	if n <= 0 {
		return Header{}, nil
	}
	// Most headers are short, and a payload without one is told from its first bytes.
	for chunk := int64(4 << 10); ; chunk *= 4 {
		b := make([]byte, min(chunk, n))
		if m, err := r.ReadAt(b, 0); m < len(b) {
			return Header{}, fmt.Errorf("reading the header: %w", err)
		}
		h, open := parse(b)
		if !open || int64(len(b)) == size {
			return h, nil
		}
		if int64(len(b)) == n {
			return Header{}, ErrTooLong
		}
	}
}

// Parse reads the header at the start of b, which holds the whole file or at least the whole header.
//
// A header ends after the line "% end", or before the first line that does not start with "% " and a printable
// character or that holds a control character: such a line is payload whose first word happens to look like a
// header's. A carriage return before the end of a line is dropped.
func Parse(b []byte) Header {
	h, _ := parse(b)
	return h
}

// parse also reports whether the header might go on after b.
func parse(b []byte) (h Header, open bool) {
	pos := 0
	for {
		line, n, whole := cutLine(b[pos:])
		if line == nil {
			return h, n == 0 && pos > 0 && len(b)-pos < len("% x")
		}
		if !whole {
			open = true // a line up to the end of b: it may go on, or the file ends here
		}
		pos += n
		h.Payload = int64(pos)
		body := strings.TrimSpace(string(line[2:]))
		if body == "end" && whole {
			return h, false
		}
		key, value, _ := strings.Cut(body, " ")
		if body != "end" {
			h.Fields = append(h.Fields, event.Field{Key: key, Value: strings.TrimSpace(value)})
		}
		if open {
			return h, true
		}
	}
}

// cutLine returns the header line at the start of b without its end, the bytes it takes, and whether its end was
// seen. The line is nil where b does not start with a header line.
func cutLine(b []byte) (line []byte, n int, whole bool) {
	if len(b) < 3 || b[0] != '%' || b[1] != ' ' || b[2] <= ' ' || b[2] == 0x7f {
		return nil, 0, false
	}
	for i, c := range b {
		switch {
		case c == '\n':
			return b[:i], i + 1, true
		case c == '\r' && (i+1 == len(b) || b[i+1] == '\n'), c == '\t', c >= ' ' && c != 0x7f:
		default:
			return nil, 0, false
		}
	}
	return b, len(b), false
}

// Field returns the value of the first field whose key is key in any case, and whether there is one.
func (h Header) Field(key string) (string, bool) {
	for _, f := range h.Fields {
		if strings.EqualFold(f.Key, key) {
			return f.Value, true
		}
	}
	return "", false
}

// Write makes a header: evt and format, the geometry where it is known, and then the given fields but for those
// that say the same things. name is the format's name in a header, such as EVT3, and evt its version, such as 3.0.
func Write(name, evt string, g event.Geometry, fields []event.Field) ([]byte, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "%% evt %s\n%% format %s", evt, name)
	if g.Known() {
		fmt.Fprintf(&b, ";height=%d;width=%d\n%% geometry %dx%d", g.Height, g.Width, g.Width, g.Height)
	}
	b.WriteByte('\n')
	for _, f := range fields {
		key := strings.Join(strings.Fields(printable(f.Key)), "_")
		switch strings.ToLower(key) {
		case "", "evt", "format", "geometry", "width", "height", "endianness", "end", OffsetField:
			continue
		}
		fmt.Fprintf(&b, "%% %s\n", strings.TrimSpace(key+" "+strings.TrimSpace(printable(f.Value))))
	}
	b.WriteString("% end\n")
	if b.Len() > MaxSize-OffsetRoom {
		return nil, fmt.Errorf("a header of %d bytes is longer than %d; leave fields out", b.Len(), MaxSize-OffsetRoom)
	}
	return []byte(b.String()), nil
}

// printable puts a space where a control character would end the header.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s)
}
