package aedat4

import (
	"encoding/binary"
	"encoding/xml"
	"fmt"
	"strconv"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/flatbuffer"
	"github.com/evq-project/evq/io/format"
)

// magic is the first line.
const magic = "#!AER-DAT4.0\r\n"

// The identifiers of packets that evq tells apart.
const (
	kindHeader   = "IOHE"
	kindEvents   = "EVTS"
	kindTriggers = "TRIG"
	kindFrames   = "FRME"
	kindIMU      = "IMUS"
)

const (
	maxHeader = 16 << 20 // bytes; real ones have a few thousand
	maxStream = 1 << 20  // the largest id that is taken for one
)

// A header is the IOHeader after the first line.
type header struct {
	compression compression
	table       int64 // where the table of packets starts, or -1
	packets     int64 // where the first packet starts
	streams     []stream
}

// A stream is what the header's XML says of one stream.
type stream struct {
	id     int32
	kind   string // the identifier of its packets, "" where it is not said
	name   string
	source string // the camera
	size   event.Geometry
	fields []event.Field
}

// label names the stream for people.
func (s *stream) label() string {
	l := fmt.Sprintf("stream %d", s.id)
	if s.kind != "" {
		l += " " + s.kind
	}
	if s.name != "" {
		l += " " + s.name
	}
	return l
}

// stream returns the stream of an id, nil where the header does not name it.
func (h *header) stream(id int32) *stream {
	for i := range h.streams {
		if h.streams[i].id == id {
			return &h.streams[i]
		}
	}
	return nil
}

func hasMagic(f format.File) bool {
	var b [len(magic)]byte
	if f.Size < int64(len(b)) {
		return false
	}
	n, _ := f.ReadAt(b[:], 0)
	return string(b[:n]) == magic
}

func syntax(at int64, msg string, args ...any) error {
	return &format.SyntaxError{Format: name, Offset: at, Msg: fmt.Sprintf(msg, args...)}
}

// readHeader reads up to the first packet.
func readHeader(f format.File) (*header, error) {
	if !hasMagic(f) {
		return nil, syntax(0, "the first line is not %q; this is no AEDAT 4 recording", magic[:len(magic)-2])
	}
	const at = int64(len(magic))
	var prefix [4]byte
	if f.Size < at+4 {
		return nil, syntax(at, "the file ends before its header")
	}
	if n, err := f.ReadAt(prefix[:], at); n < len(prefix) {
		return nil, fmt.Errorf("%s: reading the header: %w", name, err)
	}
	size := int64(binary.LittleEndian.Uint32(prefix[:]))
	if size > f.Size-at-4 || size > maxHeader {
		return nil, syntax(at, "the header has %d bytes, the file %d; it is cut or damaged", size, f.Size)
	}
	b := make([]byte, size)
	if n, err := f.ReadAt(b, at+4); n < len(b) {
		return nil, fmt.Errorf("%s: reading the header: %w", name, err)
	}
	h := &header{packets: at + 4 + size}
	if err := h.parse(b); err != nil {
		return nil, syntax(at, "the header is damaged: %v", err)
	}
	return h, nil
}

// parse takes the flatbuffer apart: compression, position of the table, XML.
func (h *header) parse(b []byte) error {
	root, err := flatbuffer.Root(b)
	if err != nil {
		return err
	}
	if kind := flatbuffer.Kind(b); kind != kindHeader {
		return fmt.Errorf("its identifier is %q, not %s", kind, kindHeader)
	}
	c, err := root.Number(0, 4, 0)
	if err != nil {
		return err
	}
	if h.compression = compression(c); c < 0 || c >= int64(len(compressions)) {
		return fmt.Errorf("compression %d is not known", c)
	}
	if h.table, err = root.Number(1, 8, -1); err != nil {
		return err
	}
	text, err := root.Text(2)
	if err != nil || len(text) == 0 {
		return err
	}
	return h.parseXML([]byte(text))
}

// A node is an element of the XML: nodes hold attributes and nodes.
type node struct {
	Name  string `xml:"name,attr"`
	Attrs []struct {
		Key   string `xml:"key,attr"`
		Value string `xml:",chardata"`
	} `xml:"attr"`
	Nodes []node `xml:"node"`
}

func (n *node) attr(key string) string {
	for _, a := range n.Attrs {
		if a.Key == key {
			return a.Value
		}
	}
	return ""
}

// find returns the first node of a name at or below n.
func (n *node) find(name string) *node {
	if n.Name == name {
		return n
	}
	for i := range n.Nodes {
		if m := n.Nodes[i].find(name); m != nil {
			return m
		}
	}
	return nil
}

func (h *header) parseXML(text []byte) error {
	var root node
	if err := xml.Unmarshal(text, &root); err != nil {
		return fmt.Errorf("its XML: %w", err)
	}
	out := root.find("outInfo")
	if out == nil {
		return nil
	}
	for i := range out.Nodes {
		n := &out.Nodes[i]
		id, err := strconv.ParseInt(n.Name, 10, 32)
		if err != nil || id < 0 || id > maxStream || h.stream(int32(id)) != nil {
			return fmt.Errorf("its XML: %q is no stream's number, or one of two", n.Name)
		}
		h.streams = append(h.streams, newStream(int32(id), n))
	}
	return nil
}

func newStream(id int32, n *node) stream {
	s := stream{id: id, kind: n.attr("typeIdentifier"), name: n.attr("originalOutputName")}
	info := n.find("info")
	if info == nil {
		return s
	}
	s.source = info.attr("source")
	s.size = event.Geometry{Width: side(info.attr("sizeX")), Height: side(info.attr("sizeY"))}
	if !s.size.Known() {
		s.size = event.Geometry{}
	}
	for _, a := range info.Attrs {
		s.fields = append(s.fields, event.Field{Key: a.Key, Value: a.Value})
	}
	return s
}

// side reads one side of a sensor, 0 where it is none.
func side(text string) int {
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return 0
	}
	return int(n)
}
