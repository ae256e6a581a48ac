// Package format defines how a recording's bytes are recognised and decoded into events.
//
// A format says how to recognise its recordings and how to decode them in file order; this package puts
// the decode policies around that: coordinates, off-sensor events, time order. It knows no single format.
package format

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/evq-project/evq/io/event"
)

// A File is a recording's bytes. Path is where they lie: libraries that open files themselves need it.
type File struct {
	io.ReaderAt
	Size int64
	Path string

	pieces []piece // of a file that Join made
}

// A Proof says how sure a format is that a file is its own, and why. The zero Proof means "not mine".
type Proof struct {
	Confidence float64 // 0..1
	Version    string  // the format's version, where it has one
	Why        string  // what was seen
	Properties []event.Field
}

// A Format recognises, decodes and perhaps writes one kind of recording.
type Format struct {
	Name       string
	Doc        string
	Extensions []string // with the dot; they decide what a writer writes, never what a reader reads
	// Magic is how every recording of the format begins; "" where nothing is certain. A format whose magic a file has is
	// asked first, and no other where it is sure.
	Magic string
	// Sniff judges the bytes; it may read anywhere in the file, and open it.
	Sniff func(f File) Proof
	// Open readies a recording for scanning; it reads the header only.
	Open func(ctx context.Context, f File, p Policy) (event.Source, error)
	// Part judges one of the parts that a camera split a recording into, for Join; nil where parts of this format
	// cannot be joined.
	Part func(f File, p Policy) (Part, error)
	// Create starts a recording at a path; nil where the format can only be read.
	Create func(path string, h Header, o CreateOptions) (event.Sink, error)
	// Writing says what Create can be told.
	Writing Writing
	// Facts are what the documents show of the format.
	Facts Facts
}

// A Header is what a writer is told of the recording before its first event.
type Header struct {
	Geometry event.Geometry
	Fields   []event.Field
}

// CreateOptions say how a recording is written. The zero value is every format's default.
type CreateOptions struct {
	Force       bool   // overwrite
	Compression string // the format's own names; "" = its default
	Threads     int    // 0 = one per CPU
	Polarity    string // 01 (default) or pm1, in formats whose Writing has it
	TimeType    string // int64 (default) or duration, in formats whose Writing has it
	Layout      string // one of the format's own; "" = its default
}

// ErrUnknown reports a recording that no format recognised.
var ErrUnknown = errors.New("no format recognises this recording; name one with --format NAME, such as --format evt3")

// A SyntaxError reports malformed bytes and where they stand.
type SyntaxError struct {
	Format string
	Offset int64 // bytes from the start of the file
	Msg    string
	Part   string // the file, where the recording is joined of several; else ""
	Err    error  // what shows it, where Msg is made of another error; may be nil
}

// Unwrap returns Err.
func (e *SyntaxError) Unwrap() error { return e.Err }

func (e *SyntaxError) Error() string {
	if e.Part != "" {
		return fmt.Sprintf("%s: %s: offset %#x: %s", e.Part, e.Format, e.Offset, e.Msg)
	}
	return fmt.Sprintf("%s: offset %#x: %s", e.Format, e.Offset, e.Msg)
}
