package sql

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/evq-project/evq/engine"
	"github.com/evq-project/evq/io/tensor"
	"github.com/evq-project/evq/sql/duck"
	"github.com/evq-project/evq/udf"
)

// windowColumns are what is known of a window.
var windowColumns = []duck.Column{{Name: "window", Type: duck.Bigint}, {Name: "window_start", Type: duck.Bigint}, {Name: "window_end", Type: duck.Bigint}, {Name: "window_events", Type: duck.Bigint}}

// representationFunction is NAME('recording', window, …): one block for each window, in order.
func (s *Session) representationFunction(e udf.Entry) duck.TableFunction {
	named := slices.Concat(readingNames, selectingNames, windowingNames, paramNames(e.Params))
	return duck.TableFunction{Name: e.Name, Most: 3, Named: withAliases(named), Bind: func(ctx context.Context, args duck.Args) (duck.Table, error) {
		a, err := newArguments(e.Name, args, "recording", "window")
		if err != nil {
			return nil, err
		}
		rep, err := e.Make(a.params(e.Params))
		if err != nil {
			return nil, err
		}
		return s.bindBlocks(ctx, a, rep, e.Policy)
	}}
}

// representFunction is represent('recording', 'name', window, …) for a representation that is named by text.
func (s *Session) representFunction() duck.TableFunction {
	named := slices.Concat(readingNames, selectingNames, windowingNames)
	return duck.TableFunction{Name: "represent", Most: 4, Named: withAliases(named), Bind: func(ctx context.Context, args duck.Args) (duck.Table, error) {
		a, err := newArguments("represent", args, "recording", "name", "window")
		if err != nil {
			return nil, err
		}
		text := a.text("name")
		if text == "" {
			return nil, fmt.Errorf("represent: the name is missing; call it represent('recording', 'voxel_grid:bins=5', '50ms')")
		}
		e, err := engine.RepresentationEntry(text, s.naming()...)
		if err != nil {
			return nil, fmt.Errorf("represent: %w", err)
		}
		_, own, err := udf.ParseCall(text)
		if err != nil {
			return nil, fmt.Errorf("represent: %w", err)
		}
		params := a.params(e.Params)
		for k, v := range own {
			if _, twice := params[k]; twice {
				return nil, fmt.Errorf("represent: %s is given twice", k)
			}
			params[k] = v
		}
		rep, err := e.Make(params)
		if err != nil {
			return nil, fmt.Errorf("represent: %w", err)
		}
		return s.bindBlocks(ctx, a, rep, e.Policy)
	}}
}

func paramNames(of []udf.Param) []string {
	out := make([]string, len(of))
	for i, p := range of {
		out[i] = p.Name
	}
	return out
}

// windowed reads the arguments of a function over the windows of one recording, and opens it.
func (s *Session) windowed(ctx context.Context, a *arguments, prefer map[string]string) (*windowTable, error) {
	files, err := s.files(a.texts("recording"))
	if err != nil {
		return nil, err
	}
	if len(files) != 1 {
		return nil, fmt.Errorf("%s reads one recording, not %d; UNION ALL joins the rows of several", a.function, len(files))
	}
	t := &windowTable{session: s}
	if t.opts, err = s.reading(a, prefer); err != nil {
		return nil, err
	}
	frame, err := s.selecting(ctx, a)
	if err != nil {
		return nil, err
	}
	by, err := s.windowing(a)
	if err != nil {
		return nil, err
	}
	if err := a.rest(); err != nil {
		return nil, err
	}
	t.path = files[0]
	if t.rec, err = s.open(t.path, t.opts); err != nil {
		return nil, err
	}
	f, err := frame(t.rec)
	if err != nil {
		_ = t.rec.Close() // the other error says more
		return nil, err
	}
	t.windows = f.Window(by)
	return t, nil
}

// A windowTable is the windows of a recording, which it keeps open.
type windowTable struct {
	session *Session
	path    string
	rec     *engine.Recording
	opts    []engine.Option
	windows engine.Windowed
}

// Close closes the recording.
func (t *windowTable) Close() error { return t.rec.Close() }

// bindBlocks checks a call and its blocks.
func (s *Session) bindBlocks(ctx context.Context, a *arguments, rep udf.Representation, prefer map[string]string) (duck.Table, error) {
	w, err := s.windowed(ctx, a, prefer)
	if err != nil {
		return nil, err
	}
	t := &blockTable{windowTable: *w, blocks: w.windows.Represent(rep)}
	if _, err := t.blocks.Layouts(t.opts...); err != nil { // such as a sensor of unknown size
		_ = t.Close()
		return nil, fmt.Errorf("%s: %w", a.function, sizeHint(err))
	}
	return t, nil
}

// sizeHint makes advice for the command one for SQL.
func sizeHint(err error) error {
	if text := err.Error(); strings.Contains(text, "--size") {
		return &hinted{strings.NewReplacer("--size WIDTHxHEIGHT", "size := 'WIDTHxHEIGHT'", "such as --size ", "such as size := ", "--size", "size").Replace(text), err}
	}
	return err
}

// A hinted error says something in other words.
type hinted struct {
	text string
	err  error
}

func (h *hinted) Error() string { return h.text }
func (h *hinted) Unwrap() error { return h.err }

// A blockTable is the blocks of a recording's windows as a table.
type blockTable struct {
	windowTable
	blocks engine.Tensors
}

func (t *blockTable) Columns() []duck.Column {
	return append(slices.Clone(windowColumns), duck.Column{Name: "data", Type: duck.Blob})
}

func (t *blockTable) Open(ctx context.Context, wanted []bool) (duck.Rows, error) {
	return &blockRows{newPump(ctx, func(ctx context.Context, yield func(tensor.Block) error) error {
		var met engine.Stats
		err := t.blocks.Each(ctx, yield, append(slices.Clip(t.opts), engine.Collected(&met))...)
		t.session.losses.dropped(t.path, met.OffSensor, false)
		return err
	})}, nil
}

// blockRows are blocks as rows.
type blockRows struct{ *pump[tensor.Block] }

// chunkBytes bounds the blocks that are handed over at once.
const chunkBytes = 32 << 20

func (r *blockRows) Next(c *duck.Chunk) error {
	bytes := 0
	for c.N < c.Cap && bytes < chunkBytes {
		b, ok, err := r.next()
		if err != nil || !ok {
			return err
		}
		v := c.Vectors
		for i, n := range [...]int64{int64(b.Index), b.Start, b.End, b.Events} {
			if v[i].Wanted {
				v[i].Int64s()[c.N] = n
			}
		}
		if v[4].Wanted {
			if err := v[4].SetBytes(c.N, b.Data); err != nil {
				return err
			}
			bytes += len(b.Data)
		}
		c.N++
	}
	return nil
}
