package exec

import (
	"context"

	"github.com/evq-project/evq/exprs"
	"github.com/evq-project/evq/io/event"
)

// FilterWindows keeps, in every window, the events that satisfy Pred. The windows stay where they are.
type FilterWindows struct {
	In   WindowOp
	Pred exprs.Expr

	kept  selector
	until []int // how many events before each are kept
}

func (f *FilterWindows) String() string { return "filter in windows " + f.Pred.String() }

// Input implements Operator.
func (f *FilterWindows) Input() Operator { return f.In }

// Close implements Operator.
func (f *FilterWindows) Close() error { return f.In.Close() }

// Next returns the next run of windows.
func (f *FilterWindows) Next(ctx context.Context) (event.Windowed, error) {
	w, err := f.In.Next(ctx)
	if err != nil || w.Events.Len() == 0 {
		return w, err
	}
	keep := f.kept.mask(f.Pred, w.Events)
	f.until = append(f.until[:0], 0)
	n := 0
	for _, k := range keep {
		if k {
			n++
		}
		f.until = append(f.until, n)
	}
	out := event.Windowed{Windows: make([]event.Window, len(w.Windows))}
	for i, win := range w.Windows {
		win.Lo, win.Hi, win.Since = f.until[win.Lo], f.until[win.Hi], f.until[win.Since]
		out.Windows[i] = win
	}
	out.Events = f.kept.compact(w.Events, f.kept.indices(keep))
	w.Events.Release()
	return out, nil
}
