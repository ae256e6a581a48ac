// Package arrowipc reads and writes recordings in Arrow's IPC formats, the file (.arrow, also Feather version 2) and the
// stream (.arrows).
//
// It reads any file whose schema has the columns t, x, y and p, in any order and among others; batches may be compressed
// with LZ4 or Zstandard. Times are microseconds where they are integers, and what their type says where they are
// durations, timestamps or times of day. The bytes are taken apart here, not by Arrow's library, which trusts the sizes
// that a file declares: columns are read in pieces, so that memory does not grow with a batch.
//
// Source: arrow.apache.org, "Arrow Columnar Format", and Message.fbs, Schema.fbs and File.fbs of its version 1.5.
package arrowipc

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/format"
)

const name = "arrow"

// Format is Arrow IPC. The extension .arrows is written as a stream, any other as a file.
var Format = format.Format{
	Name:       name,
	Doc:        "Arrow IPC, file (.arrow, Feather 2) and stream (.arrows), with the columns t, x, y, p; LZ4, Zstandard",
	Facts:      facts,
	Extensions: []string{".arrow", ".arrows", ".feather"},
	Magic:      magic, // of the form with a footer
	Sniff:      sniff,
	Open:       open,
	Create:     create,
	Writing:    format.Writing{Polarity: true, Duration: true},
}

// The marks of the file form.
const (
	magic   = "ARROW1"
	feather = "FEA1" // Feather version 1, which is another format
)

// ErrColumns reports a schema that holds no events.
var ErrColumns = errors.New("no columns t, x, y, p")

// A recording is what the messages before the first batch say, and where the batches are.
type recording struct {
	file   format.File
	schema schema
	first  int64 // where the message after the schema starts
	end    int64 // where messages end
	stream bool
	cut    bool // the file form lacks its footer
}

// locate finds where messages start and end.
func locate(f format.File) (at, end int64, stream, cut bool, err error) {
	head := make([]byte, min(8, max(f.Size, 0)))
	if n, err := f.ReadAt(head, 0); n < len(head) {
		return 0, 0, false, false, fmt.Errorf("%s: %w", name, err)
	}
	switch {
	case len(head) < 8:
		return 0, f.Size, true, false, nil
	case string(head[:4]) == feather:
		return 0, 0, false, false, fmt.Errorf("%s: the file is Feather version 1, which is not read; write it as version 2", name)
	case string(head[:6]) != magic:
		return 0, f.Size, true, false, nil
	}
	tail := make([]byte, 10)
	if f.Size < 8+10 {
		return 8, f.Size, false, true, nil
	}
	if n, err := f.ReadAt(tail, f.Size-10); n < len(tail) {
		return 0, 0, false, false, fmt.Errorf("%s: reading the end of the file: %w", name, err)
	}
	footer := int64(binary.LittleEndian.Uint32(tail))
	if string(tail[4:]) != magic || footer > f.Size-8-10 {
		return 8, f.Size, false, true, nil
	}
	return 8, f.Size - 10 - footer, false, false, nil
}

// read reads the schema.
func read(f format.File, p format.Policy) (*recording, error) {
	r := &recording{file: f}
	at, end, stream, cut, err := locate(f)
	if err != nil {
		return nil, err
	}
	r.end, r.stream, r.cut = end, stream, cut
	m, err := readMessage(f, at, end)
	if err != nil {
		return nil, err
	}
	if m.kind != kindSchema {
		return nil, syntax(at, nil, "the first message is no schema, but of kind %d; the file is damaged or no Arrow IPC", m.kind)
	}
	if r.schema, err = parseSchema(m.header, p); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	r.first = m.next
	return r, nil
}

func sniff(f format.File) format.Proof {
	head := make([]byte, 8)
	if n, _ := f.ReadAt(head, 0); n < len(head) {
		return format.Proof{}
	}
	isFile := string(head[:6]) == magic
	if !isFile && binary.LittleEndian.Uint32(head) != continuation && string(head[:4]) != feather {
		return format.Proof{} // streams from before 2019 have no mark: --format arrow reads them
	}
	r, err := read(f, format.Policy{TimeUnit: "us"}.WithDefaults())
	switch {
	case err == nil:
		return format.Proof{Confidence: 1, Version: r.form(), Why: "an Arrow IPC " + r.form() + " with the columns " + r.schema.what}
	case isFile || string(head[:4]) == feather || errors.Is(err, ErrColumns):
		return format.Proof{Confidence: 0.5, Why: "Arrow IPC, but: " + err.Error()}
	}
	return format.Proof{Why: err.Error()}
}

func (r *recording) form() string {
	if r.stream {
		return "stream"
	}
	return "file"
}

func open(_ context.Context, f format.File, p format.Policy) (event.Source, error) {
	p = p.WithDefaults()
	info := event.Info{Name: filepath.Base(f.Path), Format: name, Unit: "us", Polarity: "0/1", Events: -1}
	if f.Size == 0 {
		return format.NewSource(format.Recording{File: f, Policy: p, Info: info, Decode: func(context.Context, event.Request, *event.Report) (format.Decoder, error) {
			return &decoder{done: true}, nil
		}}), nil
	}
	r, err := read(f, p)
	if err != nil {
		return nil, err
	}
	s := &r.schema
	info.Version, info.Unit, info.Polarity = r.form(), s.unit.name, s.polarity
	info.Geometry, info.Fields, info.Streams = s.geometry, s.fields, s.others
	info.Events = r.count()
	pool := event.NewPool(int(max(1, min(pieceRows, f.Size))))
	return format.NewSource(format.Recording{File: f, Policy: p, Info: info,
		Decode: func(_ context.Context, _ event.Request, rep *event.Report) (format.Decoder, error) {
			return &decoder{recording: r, policy: p, rep: rep, pool: pool, at: r.first}, nil
		},
	}), nil
}

// mostCounted bounds the batches that are looked at to know the number of events beforehand.
const mostCounted = 1 << 16

// count adds up the rows of all batches by their headers, -1 where that is not known.
func (r *recording) count() (n int64) {
	if r.cut {
		return -1
	}
	at := r.first
	for range mostCounted {
		m, err := readMessage(r.file, at, r.end)
		switch {
		case err != nil:
			return -1
		case m.kind == kindEnd:
			return n
		case m.kind == kindBatch:
			rows, err := m.header.Number(0, 8, 0)
			if err != nil || rows < 0 || rows > 1<<48 {
				return -1
			}
			n += rows
		}
		at = m.next
	}
	return -1
}

// syntax is an error of damaged bytes.
func syntax(at int64, err error, msg string, args ...any) *format.SyntaxError {
	return &format.SyntaxError{Format: name, Offset: at, Msg: fmt.Sprintf(msg, args...), Err: err}
}

// The keys of the schema's metadata that evq writes.
const (
	keyWidth  = "evq.width"
	keyHeight = "evq.height"
)

// sizeIn takes the sensor's size out of the schema's metadata.
func sizeIn(fields []event.Field) (g event.Geometry, rest []event.Field) {
	for _, f := range fields {
		side, ok := map[string]*int{keyWidth: &g.Width, keyHeight: &g.Height}[f.Key]
		if !ok {
			rest = append(rest, f)
			continue
		}
		if v, err := strconv.Atoi(f.Value); err == nil && v > 0 && v <= 1<<16 {
			*side = v
		}
	}
	if !g.Known() {
		g = event.Geometry{}
	}
	return g, rest
}
