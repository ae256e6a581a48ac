package aedat3

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/format"
)

const (
	magic     = "#!AER-DAT3." // and the minor version
	endLine   = "#!END-HEADER"
	maxHeader = 1 << 20 // bytes
	maxSource = 1<<15 - 1
)

// A header is the text before the first packet.
type header struct {
	version string // 3.0 or 3.1
	packets int64  // where the first packet starts
	fields  []event.Field
	sources []source
}

// A source is a camera that the header names.
type source struct {
	id   int16
	name string
}

func syntax(at int64, msg string, args ...any) error {
	return &format.SyntaxError{Format: name, Offset: at, Msg: fmt.Sprintf(msg, args...)}
}

// readHeader reads up to the first packet. The header is nil where the first line is not that of AEDAT 3; the lines
// that could be read come with an error.
//
// A header ends with the line "#!END-HEADER", or before the first line that does not start with "#": no packet does,
// for types are small.
func readHeader(f format.File) (*header, error) {
	b := make([]byte, min(f.Size, maxHeader))
	if n, err := f.ReadAt(b[:min(len(b), 4<<10)], 0); n < min(len(b), 4<<10) {
		return nil, fmt.Errorf("%s: reading the header: %w", name, err)
	}
	n := len(magic)
	if len(b) < n+2 || string(b[:n]) != magic || b[n] != '0' && b[n] != '1' || b[n+1] != '\r' && b[n+1] != '\n' {
		return nil, syntax(0, "the first line is not %s0 or %s1; this is no AEDAT 3 recording", magic, magic)
	}
	if n, err := f.ReadAt(b, 0); n < len(b) {
		return nil, fmt.Errorf("%s: reading the header: %w", name, err)
	}
	h := &header{version: "3." + string(b[n])}
	return h, h.parse(b)
}

func (h *header) parse(b []byte) error {
	for at := 0; ; {
		h.packets = int64(at)
		if at == len(b) && at < maxHeader {
			return nil
		}
		if at < len(b) && b[at] != '#' {
			return nil
		}
		end := bytes.IndexByte(b[at:], '\n')
		if end < 0 {
			return syntax(int64(at), "a line of the header does not end; the file is cut or damaged")
		}
		line := strings.TrimRight(string(b[at:at+end]), "\r")
		at += end + 1
		if line == endLine {
			h.packets = int64(at)
			return nil
		}
		h.line(line)
	}
}

// line takes one line such as "#Source 1: DVS128".
func (h *header) line(line string) {
	key, value, ok := strings.Cut(strings.TrimPrefix(line, "#"), ":")
	if !ok || strings.HasPrefix(line, "#!") {
		return
	}
	key, value = strings.TrimSpace(key), strings.TrimSpace(value)
	h.fields = append(h.fields, event.Field{Key: key, Value: value})
	number, ok := strings.CutPrefix(key, "Source ")
	if !ok {
		return
	}
	if id, err := strconv.ParseInt(strings.TrimSpace(number), 10, 16); err == nil {
		h.sources = append(h.sources, source{int16(id), value})
	}
}

// sensors lists the sizes of cameras by the start of their names, in capitals.
var sensors = []struct {
	prefix string
	size   event.Geometry
}{
	{"DVS128", event.Geometry{Width: 128, Height: 128}},
	{"EDVS", event.Geometry{Width: 128, Height: 128}},
	{"DVS132", event.Geometry{Width: 132, Height: 104}},
	{"DAVIS128", event.Geometry{Width: 128, Height: 128}},
	{"DAVIS208", event.Geometry{Width: 208, Height: 192}},
	{"DAVIS240", event.Geometry{Width: 240, Height: 180}},
	{"DAVIS346", event.Geometry{Width: 346, Height: 260}},
	{"DAVIS640", event.Geometry{Width: 640, Height: 480}},
	{"DAVISRGB", event.Geometry{Width: 640, Height: 480}},
	{"DVXPLORER", event.Geometry{Width: 640, Height: 480}},
}

// geometry returns the size of a source's sensor by its name; where the header names one source, of that.
func (h *header) geometry(id int16) event.Geometry {
	for _, s := range h.sources {
		if s.id != id && len(h.sources) > 1 {
			continue
		}
		for _, c := range sensors {
			if strings.HasPrefix(strings.ToUpper(s.name), c.prefix) {
				return c.size
			}
		}
	}
	return event.Geometry{}
}
