// Package table writes rows to files and streams people already use: CSV, JSON, Parquet, Arrow IPC, and text in
// columns for a terminal.
//
// It knows Arrow records of integers, floats and text, and refuses to know where they come from.
package table

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/evq-project/evq/io/atomicfile"
)

// A Sink keeps the rows of records, in the order in which they are written.
type Sink interface {
	// Write adds rows. The caller keeps the record.
	Write(r arrow.RecordBatch) error
	// Close completes the output; only then does a file appear under its name.
	Close() error
	// Abort drops what was written to a file. After Close it does nothing.
	Abort() error
}

// A Format is one way of writing rows.
type Format struct {
	Name       string
	Doc        string
	Extensions []string
	open       func(w io.Writer, schema *arrow.Schema) (encoder, error)
}

// An encoder writes rows; finish ends the output and leaves the writer open.
type encoder interface {
	write(r arrow.RecordBatch) error
	finish() error
}

// Formats lists the formats. A new one adds one line here.
var Formats = []Format{
	{"csv", "text with commas, a header line, nothing for what has no value", []string{".csv"}, newCSV},
	{"json", "an array of objects, null for what has no value", []string{".json"}, newJSON},
	{"jsonl", "one JSON object a line", []string{".jsonl", ".ndjson"}, newJSONLines},
	{"parquet", "Parquet with zstd", []string{".parquet"}, newParquet},
	{"arrow", "Arrow IPC: a file, or a stream where it goes to standard output", []string{".arrow", ".arrows", ".feather"}, newArrow},
	{"pretty", "columns for the eye", []string{".txt"}, newPretty},
}

// Names lists the formats' names.
func Names() []string {
	names := make([]string, len(Formats))
	for i, f := range Formats {
		names[i] = f.Name
	}
	return names
}

// Extensions lists the extensions that mean a format.
func Extensions() (all []string) {
	for _, f := range Formats {
		all = append(all, f.Extensions...)
	}
	return all
}

// ErrFormat reports a format that there is none of.
var ErrFormat = errors.New("rows are not written like that")

// Create starts a file in the format called name or, where that is empty, the one that the path's extension means.
// The file appears under its name when it is complete; one that exists is overwritten only with force.
func Create(path, name string, schema *arrow.Schema, force bool) (Sink, error) {
	f, err := find(path, name)
	if err != nil {
		return nil, err
	}
	file, err := atomicfile.Create(path, force)
	if err != nil {
		return nil, err
	}
	open := f.open
	if f.Name == "arrow" && strings.ToLower(filepath.Ext(path)) != ".arrows" {
		open = newArrowFile
	}
	e, err := open(file, schema)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("table: %s: %w", path, err), file.Abort())
	}
	return &fileSink{file: file, encoder: e}, nil
}

// New writes rows to w, which it leaves open.
func New(w io.Writer, name string, schema *arrow.Schema) (Sink, error) {
	f, err := find("", name)
	if err != nil {
		return nil, err
	}
	e, err := f.open(w, schema)
	return streamSink{e}, err
}

func find(path, name string) (Format, error) {
	for _, f := range Formats {
		if f.Name == name || name == "" && slices.Contains(f.Extensions, strings.ToLower(filepath.Ext(path))) {
			return f, nil
		}
	}
	if name != "" {
		return Format{}, fmt.Errorf("%w: %q; there are %s", ErrFormat, name, strings.Join(Names(), ", "))
	}
	return Format{}, fmt.Errorf("%w: %s; the name must end in %s, or give the format", ErrFormat, path, strings.Join(Extensions(), ", "))
}

type fileSink struct {
	file    *atomicfile.File
	encoder encoder
	closed  bool
	failed  error
}

func (s *fileSink) Write(r arrow.RecordBatch) error {
	if s.failed == nil {
		if err := s.encoder.write(r); err != nil {
			s.failed = fmt.Errorf("table: writing %s: %w", s.file.Name(), err)
		}
	}
	return s.failed
}

// Close completes the file; after a failed Write it drops it.
func (s *fileSink) Close() error {
	if s.closed {
		return nil
	}
	if s.failed != nil {
		return errors.Join(s.failed, s.Abort())
	}
	s.closed = true
	if err := s.encoder.finish(); err != nil {
		return errors.Join(fmt.Errorf("table: completing %s: %w", s.file.Name(), err), s.file.Abort())
	}
	return s.file.Commit()
}

func (s *fileSink) Abort() error {
	if s.closed {
		return nil
	}
	s.closed = true
	return s.file.Abort()
}

type streamSink struct{ encoder }

func (s streamSink) Write(r arrow.RecordBatch) error { return s.write(r) }
func (s streamSink) Close() error                    { return s.finish() }
func (s streamSink) Abort() error                    { return nil }
