// Package sheet draws a PNG contact sheet of blocks: one small picture for each of some windows that span the
// whole recording.
//
// It knows how blocks look; it refuses to know how they are made.
package sheet

import (
	"context"
	"errors"
	"fmt"
	"image/png"

	"github.com/evq-project/evq/io/atomicfile"
	"github.com/evq-project/evq/io/tensor"
)

// Create names a sheet. ON is drawn red and OFF blue, on white; each tile is at most 320 pixels wide and bears
// the end of its window in seconds.
func Create(path string, options ...Option) tensor.Output {
	o := output{path: path, max: 24}
	for _, option := range options {
		option(&o)
	}
	return o
}

// An Option changes how a sheet is drawn.
type Option func(*output)

// Force overwrites a file that exists.
func Force() Option { return func(o *output) { o.force = true } }

// Max sets how many tiles a sheet has at most, 24 by default. Of more blocks every second, fourth and so on
// is drawn, so that at least half of the tiles are used and they lie evenly.
func Max(n int) Option { return func(o *output) { o.max = n } }

// maxTiles bounds the memory of a sheet: a tile takes at most 100 KB, twice while the sheet is drawn.
const maxTiles = 500

type output struct {
	path  string
	force bool
	max   int
}

// String returns the path.
func (o output) String() string { return o.path }

// Open starts a sheet of blocks whose last two axes are rows and columns.
func (o output) Open(layouts ...tensor.Layout) (tensor.Sink, error) {
	l, err := tensor.One(layouts)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.path, err)
	}
	if o.max < 1 || o.max > maxTiles {
		return nil, fmt.Errorf("sheet: %d tiles; 1 to %d are possible", o.max, maxTiles)
	}
	p, err := newPainter(l)
	if err != nil {
		return nil, err
	}
	f, err := atomicfile.Create(o.path, o.force)
	if err != nil {
		return nil, err
	}
	return &sink{file: f, layout: l, painter: p, max: o.max, stride: 1}, nil
}

// A sink keeps the tile of every stride-th block. When there is no room for the next, it doubles the stride
// and drops every second tile.
type sink struct {
	file    *atomicfile.File
	layout  tensor.Layout
	painter *painter
	max     int
	stride  int
	n       int
	tiles   []tile
	closed  bool
}

func (s *sink) Write(ctx context.Context, b tensor.Block) error {
	defer b.Release()
	if s.closed {
		return errors.New("sheet: a block after the end")
	}
	if err := s.layout.Check(b); err != nil {
		return fmt.Errorf("sheet: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	n := s.n
	s.n++
	if n%s.stride == 0 && len(s.tiles) == s.max {
		s.thin()
	}
	if n%s.stride == 0 {
		s.tiles = append(s.tiles, s.painter.paint(b))
	}
	return nil
}

// thin keeps the tiles of even numbers.
func (s *sink) thin() {
	kept := s.tiles[:0]
	for i := 0; i < len(s.tiles); i += 2 {
		kept = append(kept, s.tiles[i])
	}
	s.tiles, s.stride = kept, 2*s.stride
}

// Close draws the sheet and gives it its name. Without blocks it is one empty tile.
func (s *sink) Close() error {
	if s.closed {
		return nil
	}
	s.closed = true
	if err := png.Encode(s.file, s.painter.sheet(s.tiles)); err != nil {
		return errors.Join(fmt.Errorf("sheet: %w", err), s.file.Abort())
	}
	return s.file.Commit()
}

func (s *sink) Abort() error {
	s.closed = true
	return s.file.Abort()
}
