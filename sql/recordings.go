package sql

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/evq-project/evq/engine"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/formats"
	"github.com/evq-project/evq/sql/duck"
)

// recordingColumns are what evq info says, by the names of its JSON.
var recordingColumns = []duck.Column{
	{Name: "path", Type: duck.Varchar}, {Name: "bytes", Type: duck.Bigint}, {Name: "format", Type: duck.Varchar}, {Name: "version", Type: duck.Varchar},
	{Name: "width", Type: duck.Integer}, {Name: "height", Type: duck.Integer}, {Name: "unit", Type: duck.Varchar}, {Name: "polarity", Type: duck.Varchar},
	{Name: "sorted", Type: duck.Boolean}, {Name: "events", Type: duck.Bigint}, {Name: "first_t", Type: duck.Bigint}, {Name: "last_t", Type: duck.Bigint},
	{Name: "duration_us", Type: duck.Bigint}, {Name: "events_per_second", Type: duck.Double}, {Name: "on", Type: duck.Bigint}, {Name: "off", Type: duck.Bigint},
	{Name: "max_x", Type: duck.Integer}, {Name: "max_y", Type: duck.Integer}, {Name: "error", Type: duck.Varchar},
}

// recordingsFunction is recordings('folder/*'): one row for each recording, from what its header and footer tell; what
// only decoding tells is NULL unless full is true. Files that are no recordings are left out, a recording that cannot
// be read has its error in a column.
func (s *Session) recordingsFunction() duck.TableFunction {
	return duck.TableFunction{Name: "recordings", Most: 2, Named: withAliases(append([]string{"full"}, readingNames...)), Bind: func(_ context.Context, args duck.Args) (duck.Table, error) {
		a, err := newArguments("recordings", args, "path")
		if err != nil {
			return nil, err
		}
		files, err := s.files(a.texts("path"))
		if err != nil {
			return nil, err
		}
		for _, path := range files {
			// A link among many that leads nowhere is a row of the listing; what was named must be there.
			if _, err := os.Lstat(path); err != nil {
				return nil, err
			}
		}
		full, err := a.truth("full")
		if err != nil {
			return nil, err
		}
		opts, err := s.reading(a, nil)
		if err != nil {
			return nil, err
		}
		if err := a.rest(); err != nil {
			return nil, err
		}
		return &listing{recordingColumns, func(ctx context.Context) (func() ([]any, error), error) {
			return s.recordingRows(ctx, flat(files), full, opts), nil
		}}, nil
	}}
}

// flat replaces folders by the files in them.
func flat(paths []string) []string {
	var out []string
	for _, p := range paths {
		entries, err := os.ReadDir(p)
		if err != nil {
			out = append(out, p)
			continue
		}
		for _, e := range entries {
			if !e.IsDir() {
				out = append(out, filepath.Join(p, e.Name()))
			}
		}
	}
	return out
}

func (s *Session) recordingRows(ctx context.Context, files []string, full bool, opts []engine.Option) func() ([]any, error) {
	return func() ([]any, error) {
		for len(files) > 0 {
			path := files[0]
			files = files[1:]
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			err := s.allow.check(path) // of a file in a folder nobody looked where it leads
			var row []any
			if err == nil {
				row, err = recordingRow(ctx, path, full, opts)
			}
			if errors.Is(err, format.ErrUnknown) || errors.Is(err, formats.ErrFolder) {
				continue
			}
			if ctx.Err() != nil {
				return nil, err
			}
			if err != nil {
				row = make([]any, len(recordingColumns))
				row[0], row[len(row)-1] = path, err.Error()
			}
			return row, nil
		}
		return nil, nil
	}
}

func recordingRow(ctx context.Context, path string, full bool, opts []engine.Option) ([]any, error) {
	rec, err := engine.Open(path, opts...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rec.Close() }()
	info := rec.Info()
	row := []any{path, nil, info.Format, nil, nil, nil, info.Unit, info.Polarity, info.Sorted, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil}
	if st, err := os.Stat(path); err == nil {
		row[1] = st.Size()
	}
	if info.Version != "" {
		row[3] = info.Version
	}
	if g := rec.Geometry(); g.Known() {
		row[4], row[5] = int32(g.Width), int32(g.Height)
	}
	if info.Events >= 0 {
		row[9] = info.Events
	}
	if info.Stats && info.Events > 0 {
		extent(row, info.Extent, info.Events)
	}
	if full {
		return row, decode(ctx, rec, opts, row)
	}
	return row, nil
}

// extent sets what follows from the extremes of a recording that has events.
func extent(row []any, e event.Box, events int64) {
	d := e.T1 - e.T0
	row[10], row[11], row[12] = e.T0, e.T1, d
	if d > 0 {
		row[13] = float64(events) / (float64(d) / 1e6)
	}
	row[16], row[17] = int32(e.X1), int32(e.Y1)
}

// decode sets what only the events tell.
func decode(ctx context.Context, rec *engine.Recording, opts []engine.Option, row []any) error {
	var n, on int64
	e := event.Box{}
	err := rec.Frame().Each(ctx, func(b event.Batch) error {
		if n == 0 {
			e.T0 = b.T()[0]
		}
		e.T1 = b.T()[b.Len()-1]
		n += int64(b.Len())
		e.X1, e.Y1 = max(e.X1, slices.Max(b.X())), max(e.Y1, slices.Max(b.Y()))
		for _, p := range b.P() {
			on += int64(p)
		}
		return nil
	}, opts...)
	row[9], row[14], row[15] = n, on, n-on
	if n > 0 {
		extent(row, e, n)
	}
	return err
}
