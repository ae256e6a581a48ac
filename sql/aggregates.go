package sql

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/evq-project/evq/accel/cpu"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/tensor"
	"github.com/evq-project/evq/sql/duck"
	"github.com/evq-project/evq/udf"
)

// aggregateFunction is NAME(t, x, y, p, parameters…, height, width [, options]): one block of the events of a group,
// as a BLOB. The parameters stand in the order of the entry, and as few as one likes of them.
//
// A group has no window: it begins with its first event and ends with its last. Its events may come in any order.
func (s *Session) aggregateFunction(e udf.Entry) duck.Aggregate {
	most := len(e.Params) + 3
	if e.Name == histogram {
		most = 5
	}
	return duck.Aggregate{Name: e.Name, Least: 2, Most: most,
		Params: func(args []any) (any, error) { return s.groupParams(e, args) },
		Open:   func(params any) (duck.Encoder, error) { return params.(*groupParams).open() },
	}
}

// histogram is the aggregate whose cutoff stands behind the size, as in RVT's own call.
const histogram = "stacked_histogram"

// aggregateCall is how an aggregate is called.
func aggregateCall(e udf.Entry) string {
	if e.Name == histogram {
		return "stacked_histogram(t, x, y, p, bins, height, width, cutoff [, options])"
	}
	return fmt.Sprintf("%s(t, x, y, p, %sheight, width [, options])", e.Name, strings.Join(append(paramNames(e.Params), ""), ", "))
}

// A groupParams is a representation on a sensor.
type groupParams struct {
	rep      udf.Representation
	geometry event.Geometry
	layout   tensor.Layout
	losses   *losses
}

func (s *Session) groupParams(e udf.Entry, args []any) (*groupParams, error) {
	given, size, err := groupArgs(e, args)
	if err != nil {
		return nil, fmt.Errorf("%s: %w; call it %s", e.Name, err, aggregateCall(e))
	}
	for _, p := range e.Params {
		if _, ok := given[p.Name]; !ok && p.Name == "memory" {
			given["memory"] = udf.WindowOnly.String() // of what lies before its group an aggregate knows nothing
		}
	}
	rep, err := e.Make(given)
	if err != nil {
		return nil, err
	}
	if r, ok := rep.(udf.Rememberer); ok && r.Remembers() {
		return nil, fmt.Errorf("%s: an aggregate does not know the events before its group; use FROM %s('recording', '50ms'), whose windows come in order", rep, e.Name)
	}
	p := &groupParams{rep: rep, geometry: size, layout: rep.Layout(size), losses: &s.losses}
	if n, ok := p.layout.Size(); !ok || n > s.shares.duck || n > math.MaxUint32 {
		return nil, fmt.Errorf("%s: blocks of %v %v do not fit into memory; give a smaller height and width, or raise the memory limit", e.Name, p.layout.Shape, p.layout.DType)
	}
	return p, nil
}

// groupArgs takes apart what follows t, x, y and p.
func groupArgs(e udf.Entry, args []any) (udf.Args, event.Geometry, error) {
	var size event.Geometry
	given := udf.Args{}
	if options, ok := optionsOf(args[len(args)-1]); ok {
		args = args[:len(args)-1]
		for _, f := range options {
			if f.Value != nil {
				given[strings.ToLower(f.Name)] = wordOf(f.Value)
			}
		}
	}
	if e.Name == histogram && len(args) == 4 {
		if _, twice := given["cutoff"]; twice {
			return nil, size, fmt.Errorf("cutoff is given twice")
		}
		if args[3] != nil {
			given["cutoff"] = wordOf(args[3])
		}
		args = args[:3]
	}
	before := len(args) - 2
	if before < 0 || before > len(e.Params) {
		return nil, size, fmt.Errorf("height and width are missing, or there are too many arguments")
	}
	for i, v := range args[:before] {
		name := e.Params[i].Name
		if _, twice := given[name]; twice {
			return nil, size, fmt.Errorf("%s is given twice", name)
		}
		if v != nil {
			given[name] = wordOf(v)
		}
	}
	for i, to := range []*int{&size.Height, &size.Width} {
		v, ok := args[before+i].(int64)
		if !ok || v < 1 || v > 1<<16 {
			return nil, size, fmt.Errorf("height and width are 1 to 65536 pixels, not %s", wordOf(args[before+i]))
		}
		*to = int(v)
	}
	return given, size, nil
}

func (p *groupParams) open() (duck.Encoder, error) {
	e, err := p.rep.Open(p.geometry, cpu.Device)
	if err != nil {
		return nil, fmt.Errorf("%v: %w", p.rep, err)
	}
	block := tensor.Block{Shape: p.layout.Shape, DType: p.layout.DType, Data: make([]byte, p.layout.Bytes())}
	return &groupEncoder{Encoder: e, params: p, blocks: []tensor.Block{block}, windows: make([]event.Window, 1)}, nil
}

// A groupEncoder encodes one group after the other.
type groupEncoder struct {
	udf.Encoder
	params  *groupParams
	blocks  []tensor.Block
	windows []event.Window
}

// Encode makes the block of a group, which is one window from its first event to its last.
func (g *groupEncoder) Encode(b event.Batch) ([]byte, error) {
	t := b.T()
	g.windows[0] = event.Window{Start: t[0], End: t[len(t)-1], Hi: len(t)}
	err := g.Encoder.Encode(context.Background(), event.Windowed{Events: b, Windows: g.windows}, g.blocks)
	return g.blocks[0].Data, err
}

// Close tells how many events were off the sensor whose size the call gives.
func (g *groupEncoder) Close() error {
	g.params.losses.dropped(g.params.rep.String(), g.OffSensor(), true)
	return g.Encoder.Close()
}
