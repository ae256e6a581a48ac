package sql

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/evq-project/evq/engine"
	"github.com/evq-project/evq/io/formats"
)

// admit looks at a query before DuckDB does, and returns it with evq's readers in the place of files that DuckDB would
// read by itself.
func (s *Session) admit(text string) (*admitted, error) {
	tokens := lex(text)
	if err := refuse(tokens, s.guarded); err != nil {
		return nil, err
	}
	if s.options.ReadOnly {
		if err := readOnly(tokens); err != nil {
			return nil, err
		}
	}
	edits := rewrite(tokens, s.readerOf, s.positions)
	return &admitted{text, edited(text, edits), edits}, nil
}

// readerOf returns the function that reads a file which DuckDB would take by its name: stores go to DuckDB's own
// reader, and so their names and types come out as of other recordings.
func (s *Session) readerOf(path string) string {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".parquet":
		if formatOf(s, path) == "parquet" {
			return storeReader
		}
	case ".csv", ".tsv":
		if namesEvents(path) && formatOf(s, path) == "csv" {
			return "events"
		}
	}
	return ""
}

// namesEvents reports whether the first line of a file has the columns of events: other tables are DuckDB's to read.
func namesEvents(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	line := make([]byte, 1<<10)
	n, _ := io.ReadFull(f, line) // what it reads is enough, also where it is all
	first, _, _ := strings.Cut(string(line[:n]), "\n")
	names := strings.FieldsFunc(strings.ToLower(first), func(r rune) bool { return strings.ContainsRune(",; \t\r\"#", r) })
	for _, c := range eventColumns {
		if !slices.Contains(names, c.Name) {
			return false
		}
	}
	return true
}

// formatOf returns the format of the first file that a path names, "" where it is no recording of evq's.
func formatOf(s *Session, path string) string {
	files, err := s.files([]string{path})
	if err != nil {
		return ""
	}
	st, err := os.Stat(files[0])
	if err != nil {
		return ""
	}
	return s.formats.of(files[0], st, func() string {
		rec, err := engine.Open(files[0])
		if err != nil {
			return ""
		}
		defer func() { _ = rec.Close() }()
		return rec.Info().Format
	})
}

// knownFormats remembers what format files are, which every query over them asks, until they change.
type knownFormats struct {
	mu sync.Mutex
	m  map[string]knownFormat
}

type knownFormat struct {
	size   int64
	at     time.Time
	format string
}

// mostFormats bounds the files that are remembered.
const mostFormats = 1 << 12

func (k *knownFormats) of(path string, st os.FileInfo, find func() string) string {
	k.mu.Lock()
	known, ok := k.m[path]
	k.mu.Unlock()
	if ok && known.size == st.Size() && known.at.Equal(st.ModTime()) {
		return known.format
	}
	known = knownFormat{st.Size(), st.ModTime(), find()}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.m == nil || len(k.m) >= mostFormats {
		k.m = map[string]knownFormat{}
	}
	k.m[path] = known
	return known.format
}

// replace is asked about the names of tables that there are not. It returns the function that reads a recording of that
// name, no function where the name is none of a recording, or why the recording cannot be read.
func (s *Session) replace(name string) (function string, args []any, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%s: %v", name, r)
		}
	}()
	files, err := s.files([]string{name})
	if err != nil {
		if errors.Is(err, ErrRefused) || strings.ContainsAny(name, "*?") {
			return "", nil, err
		}
		return "", nil, nil
	}
	if _, err := os.Stat(files[0]); err != nil {
		if errors.Is(err, os.ErrNotExist) && !recordingName(name) {
			return "", nil, nil
		}
		return "", nil, err
	}
	rec, err := engine.Open(files[0], engine.Policies(s.options.Policy))
	switch {
	case errors.Is(err, formats.ErrFolder):
		return "", nil, fmt.Errorf("%s is a folder; write '%s/*' for the recordings in it", name, strings.TrimSuffix(name, "/"))
	case err != nil:
		return "", nil, err
	}
	return "events", []any{name}, rec.Close()
}

// recordingName reports whether a name ends as those of recordings do.
func recordingName(name string) bool {
	ext := filepath.Ext(name)
	if ext == ".gz" || ext == ".zst" || ext == ".zip" {
		return true
	}
	_, err := formats.ByExtension(name)
	return ext != "" && err == nil
}
