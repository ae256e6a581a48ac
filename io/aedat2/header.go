package aedat2

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"

	"github.com/evq-project/evq/io/event"
)

// magic is how the first line starts, before the version's number.
const magic = "#!AER-DAT"

const (
	maxHeader = 16 << 20 // bytes; jAER writes all its preferences into the header
	maxLine   = 64 << 10
	maxFields = 256
)

// ErrHeader reports a header without an end.
var ErrHeader = errors.New("the header does not end within 16 MiB, or has a line of more than 64 KiB; the file is damaged or no AEDAT recording")

// A header is what comes before the first record. The zero header is that of a file which starts with its records.
type header struct {
	version string // 1.0, 2.0 or another; "" where there is no first line that says so
	chip    string // jAER's class of the camera; "" where it is not said
	fields  []event.Field
	payload int64 // where the records start, in bytes from the start of the file
}

// readHeader reads the lines that start with a number sign and hold no control characters, up to the one that says that it
// is the last, as jAER writes since 2016. Where none does, a record may begin with a number sign as well; it is told by
// the control characters in its time and in those that follow.
func readHeader(r io.ReaderAt, size int64) (header, error) {
	var h header
	in := bufio.NewReaderSize(io.NewSectionReader(r, 0, size), maxLine)
	preferences := false
	for {
		line, err := in.ReadSlice('\n')
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull) {
			return header{}, err
		}
		if !isComment(line) {
			return h, nil
		}
		if errors.Is(err, bufio.ErrBufferFull) || h.payload+int64(len(line)) > maxHeader {
			return header{}, ErrHeader
		}
		first := h.payload == 0
		h.payload += int64(len(line))
		text := strings.ToValidUTF8(string(bytes.TrimRight(line, "\r\n")), "?")
		switch {
		case first && strings.HasPrefix(text, magic):
			h.version = strings.TrimSpace(text[len(magic):])
		case strings.EqualFold(strings.TrimSpace(text), "#End Of ASCII Header"):
			return h, nil
		case strings.HasPrefix(text, "#Start of Preferences"):
			preferences = true
		case strings.HasPrefix(text, "#End of Preferences"):
			preferences = false
		case !preferences:
			h.add(text)
		}
		if err != nil {
			return h, nil //nolint:nilerr // the file ends with its header
		}
	}
}

// add keeps a line, as a field where it has a key.
func (h *header) add(line string) {
	text := strings.TrimSpace(strings.TrimLeft(line, "#!"))
	if text == "" || len(h.fields) == maxFields {
		return
	}
	key, value, ok := strings.Cut(text, ": ")
	if !ok {
		key, value = "comment", text
	}
	f := event.Field{Key: strings.TrimSpace(key), Value: strings.TrimSpace(value)}
	if f.Key == "AEChip" {
		h.chip = f.Value
	}
	h.fields = append(h.fields, f)
}

// isComment reports whether a line, with its end, can belong to the header.
func isComment(line []byte) bool {
	if len(line) == 0 || line[0] != '#' {
		return false
	}
	body := bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
	for _, c := range body {
		if c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}
