package engine_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/evq-project/evq/engine"
	"github.com/evq-project/evq/engine/enginetest"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/tensor"
)

// An answer is what a query yields: events, blocks or rows.
type answer struct {
	events event.Batch
	blocks []tensor.Block
	table  *relation
}

// A runnable query.
type runnable struct {
	run     func(context.Context, ...engine.Option) (answer, error)
	explain func(...engine.Option) (string, error)
	analyze func(context.Context, ...engine.Option) (string, error)
}

// A question is a random query, a recording, and where plain loops can tell it the answer.
type question struct {
	rec   event.Batch
	size  event.Geometry
	build func(engine.Frame) runnable
	text  string
	want  *answer
}

func ask(seed uint64) question {
	g := newGenerator(seed)
	g.say("%d events on %v", g.rec.Len(), g.size)
	g.events()
	q := question{rec: g.rec, size: g.size}
	want := &answer{}
	if g.r.IntN(8) == 0 {
		frame := g.frame
		q.build = func(f engine.Frame) runnable { return ofFrame(frame(f)) }
		want.events = batchOf(g.evs)
	} else {
		g.windows()
		if g.r.IntN(2) == 0 {
			build, table := g.group()
			build, want.table = g.ordered(build, table)
			q.build = func(f engine.Frame) runnable { return ofTable(build(f)) }
		} else {
			q.build, want = g.represented()
		}
	}
	if want != nil && g.exact {
		q.want = want
	}
	q.text = strings.Join(g.steps, "\n  ")
	return q
}

// represented draws representations, a limit of them, or one as a table of cells.
func (g *generator) represented() (func(engine.Frame) runnable, *answer) {
	reps := g.representations()
	window, blocks := g.window, g.blocks(reps)
	build := func(f engine.Frame) engine.Tensors { return window(f).Represent(reps...) }
	if g.r.IntN(3) == 0 {
		n := g.r.Int64N(int64(len(g.wins)) + 4)
		g.say("limit %d windows", n)
		plain := build
		build = func(f engine.Frame) engine.Tensors { return plain(f).Limit(n) }
		blocks = blocks[:min(len(blocks), int(n)*len(reps))]
	}
	if len(reps) > 1 || g.r.IntN(3) > 0 || !g.at.Known() {
		var want *answer
		if blocks != nil {
			want = &answer{blocks: blocks}
		}
		return func(f engine.Frame) runnable { return ofTensors(build(f)) }, want
	}
	g.say("cells")
	table := func(f engine.Frame) engine.Table { return build(f).Table() }
	if blocks == nil {
		return func(f engine.Frame) runnable { return ofTable(table(f)) }, nil
	}
	table, rel := g.ordered(table, cellsOf(blocks, reps[0], g))
	return func(f engine.Frame) runnable { return ofTable(table(f)) }, &answer{table: rel}
}

func ofFrame(f engine.Frame) runnable {
	return runnable{
		run: func(ctx context.Context, o ...engine.Option) (a answer, err error) {
			a.events, err = f.Collect(ctx, o...)
			return a, err
		},
		explain: f.Explain, analyze: f.Analyze,
	}
}

func ofTensors(q engine.Tensors) runnable {
	return runnable{
		run: func(ctx context.Context, o ...engine.Option) (a answer, err error) {
			a.blocks, err = q.Collect(ctx, o...)
			return a, err
		},
		explain: q.Explain, analyze: q.Analyze,
	}
}

func ofTable(q engine.Table) runnable {
	return runnable{
		run: func(ctx context.Context, o ...engine.Option) (a answer, err error) {
			r, err := q.Collect(ctx, o...)
			if err != nil {
				return a, err
			}
			defer r.Release()
			a.table, err = relationOf(r)
			return a, err
		},
		explain: q.Explain, analyze: q.Analyze,
	}
}

func relationOf(r arrow.RecordBatch) (*relation, error) {
	out := &relation{rows: make([][]cell, r.NumRows())}
	for i, col := range r.Columns() {
		out.names = append(out.names, r.ColumnName(i))
		if col.Len() != len(out.rows) {
			return nil, fmt.Errorf("column %s has %d of %d rows", r.ColumnName(i), col.Len(), len(out.rows))
		}
		for row := range out.rows {
			var c cell
			switch col := col.(type) {
			case *array.Int64:
				c = cell{n: col.Value(row)}
			case *array.Float64:
				c = cell{float: true, f: col.Value(row)}
			default:
				return nil, fmt.Errorf("column %s is of %v", r.ColumnName(i), col.DataType())
			}
			if col.IsNull(row) {
				c = cell{null: true}
			}
			if c.f != c.f {
				return nil, fmt.Errorf("column %s, row %d is not a number", r.ColumnName(i), row)
			}
			out.rows[row] = append(out.rows[row], c)
		}
	}
	return out, nil
}

// diff names the first difference of two answers, or returns "".
func (a answer) diff(b answer) string {
	if d := eventtest.Diff(a.events, b.events); d != "" {
		return d
	}
	for i := range min(len(a.blocks), len(b.blocks)) {
		if a.blocks[i].Part != b.blocks[i].Part {
			return fmt.Sprintf("block %d: part %d and part %d", i, a.blocks[i].Part, b.blocks[i].Part)
		}
	}
	if d := enginetest.Diff(a.blocks, b.blocks); d != "" {
		return d
	}
	if a.table == nil || b.table == nil {
		return ""
	}
	return a.table.diff(b.table)
}

func (r *relation) diff(o *relation) string {
	if a, b := strings.Join(r.names, ","), strings.Join(o.names, ","); a != b {
		return fmt.Sprintf("columns %s and %s", a, b)
	}
	for i := range min(len(r.rows), len(o.rows)) {
		for j, a := range r.rows[i] {
			b := o.rows[i][j]
			if a.null != b.null || !a.null && a != b {
				return fmt.Sprintf("row %d, %s: %+v and %+v", i, r.names[j], a, b)
			}
		}
	}
	if len(r.rows) != len(o.rows) {
		return fmt.Sprintf("%d rows and %d", len(r.rows), len(o.rows))
	}
	return ""
}
