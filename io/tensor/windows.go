package tensor

import (
	"errors"
	"fmt"
)

// What an output that holds several arrays calls those that tell of its windows: their limits in microseconds and
// how many events they have, all int64.
const (
	WindowStart  = "window_start"
	WindowEnd    = "window_end"
	WindowEvents = "window_events"
)

// Names returns what an output that holds several arrays calls those of blocks: data where there is one layout,
// else each by its layout's name. The second of a name is name_2, the third name_3.
func Names(layouts []Layout) []string {
	names := make([]string, len(layouts))
	taken := map[string]bool{WindowStart: true, WindowEnd: true, WindowEvents: true}
	for i, l := range layouts {
		name := l.Name
		if name == "" || len(layouts) == 1 {
			name = "data"
		}
		names[i] = name
		for n := 2; taken[names[i]]; n++ {
			names[i] = fmt.Sprintf("%s_%d", name, n)
		}
		taken[names[i]] = true
	}
	return names
}

// Windows holds a sink's blocks to what Output.Open promises: for every window one block of each layout, in their
// order. It counts them.
type Windows struct {
	layouts []Layout
	part    int   // of the next block
	first   Block // of the window that part belongs to, without its data
	n       int
}

// NewWindows begins before the first block. There must be a layout, and each must have elements.
func NewWindows(layouts []Layout) (*Windows, error) {
	if len(layouts) == 0 {
		return nil, errors.New("no representation; give at least one")
	}
	for _, l := range layouts {
		if n, ok := l.Size(); !ok || n == 0 {
			return nil, fmt.Errorf("blocks of shape %v have no element, or more than memory holds; choose another shape", l.Shape)
		}
	}
	return &Windows{layouts: layouts}, nil
}

// Add notes the next block. One that is refused is not counted.
func (w *Windows) Add(b Block) error {
	if b.Part != w.part {
		return fmt.Errorf("block %d is of representation %d; %d is next", b.Index, b.Part, w.part)
	}
	if err := w.layouts[b.Part].Check(b); err != nil {
		return err
	}
	f := w.first
	if b.Part > 0 && (b.Index != f.Index || b.Start != f.Start || b.End != f.End || b.Events != f.Events) {
		return fmt.Errorf("block %d of representation %d is of another window than block %d of the first", b.Index, b.Part, f.Index)
	}
	if b.Part == 0 {
		w.first = b
		w.first.Data, w.first.pool = nil, nil
	}
	if w.part++; w.part == len(w.layouts) {
		w.part = 0
		w.n++
	}
	return nil
}

// Len returns the number of whole windows.
func (w *Windows) Len() int { return w.n }

// Whole returns an error where the last window lacks a block.
func (w *Windows) Whole() error {
	if w.part == 0 {
		return nil
	}
	return fmt.Errorf("window %d lacks its block of %s", w.first.Index, w.layouts[w.part].Name)
}
