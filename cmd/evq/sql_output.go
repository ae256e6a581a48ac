package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/spf13/cobra"

	"github.com/evq-project/evq/io/table"
	"github.com/evq-project/evq/io/tensor"
	"github.com/evq-project/evq/sql"
)

// sqlBlocks are the formats of blocks that rows with a BLOB can be written as.
var sqlBlocks = []string{"npy", "npz", "h5"}

// A sqlOutput is where the rows of a statement go: as rows, or the BLOBs among them as blocks.
type sqlOutput struct {
	tableOutput
	shape string
}

func (o *sqlOutput) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVarP(&o.out, "output", "o", "", "write to `OUT`, whose extension is the format: "+strings.Join(table.Extensions(), ", ")+"; blocks: .npy, .npz, .h5")
	enumFlag(cmd, &o.to, "to", "", "write the format `NAME` whatever OUT's extension", append(table.Names(), sqlBlocks...)...)
	f.StringVar(&o.shape, "shape", "", "the `SHAPE` of blocks where the query does not tell it, such as 20,720,1280 or float32:5,480,640")
	f.BoolVar(&o.force, "force", false, "overwrite the output")
}

// run runs a statement into the output.
func (o *sqlOutput) run(ctx context.Context, r *sql.Runner, text string) error {
	blocks := o.blocks()
	var layout tensor.Layout
	if blocks != nil {
		var err error
		if layout, err = o.layout(ctx, r, text); err != nil {
			return err
		}
	}
	res, err := r.Run(ctx, text)
	if err != nil {
		return err
	}
	if blocks != nil {
		err = o.writeBlocks(ctx, res, layout, blocks)
	} else {
		err = o.writeRows(ctx, res)
	}
	return errors.Join(err, res.Close())
}

// writeRows writes rows as they are.
func (o *sqlOutput) writeRows(ctx context.Context, res *sql.Result) error {
	o.sink, o.rows = nil, 0
	none := func(arrow.RecordBatch) error { return nil }
	if o.printing() && sqlDone(res.Schema()) {
		return res.Each(ctx, none)
	}
	if err := o.open(res.Schema(), false); err != nil {
		return err
	}
	if err := res.Each(ctx, func(rec arrow.RecordBatch) error { return o.write(rec, "") }); err != nil {
		o.abort()
		return err
	}
	return o.close()
}

// blocks returns the output of blocks that the flags name, or nil where rows are asked for.
func (o *sqlOutput) blocks() *blockOutput {
	ext := strings.TrimPrefix(strings.ToLower(filepath.Ext(o.out)), ".")
	if ext == "hdf5" {
		ext = "h5"
	}
	if slices.Contains(sqlBlocks, o.to) || o.to == "" && slices.Contains(sqlBlocks, ext) {
		return &blockOutput{app: o.app, out: o.out, to: o.to, force: o.force}
	}
	return nil
}

// layout returns what the blocks are: what --shape says, or the query's own call.
func (o *sqlOutput) layout(ctx context.Context, r *sql.Runner, text string) (tensor.Layout, error) {
	if o.shape != "" {
		return parseLayout(o.shape)
	}
	l, err := r.Layout(ctx, text)
	if err != nil {
		return l, usage("%w; say it with --shape, such as --shape 20,720,1280 or --shape float32:5,480,640", err)
	}
	return l, nil
}

// parseLayout reads TYPE:A,B,C, the type being uint8 where there is none.
func parseLayout(text string) (tensor.Layout, error) {
	l := tensor.Layout{Name: "data"}
	kind, axes, ok := strings.Cut(text, ":")
	if !ok {
		kind, axes = tensor.Uint8.String(), text
	}
	var kinds []string
	for d := tensor.Uint8; d <= tensor.Float32; d++ {
		kinds = append(kinds, d.String())
		if d.String() == kind {
			l.DType = d
		}
	}
	if l.DType.String() != kind {
		return l, usage("--shape %s: %q is none of the types %s", text, kind, strings.Join(kinds, ", "))
	}
	for part := range strings.SplitSeq(axes, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || n < 1 {
			return l, usage("--shape %s: write the axes as 20,720,1280", text)
		}
		l.Shape = append(l.Shape, n)
	}
	if _, ok := l.Size(); !ok {
		return l, usage("--shape %s: no memory holds such a block", text)
	}
	return l, nil
}

// writeBlocks writes the BLOBs of rows as blocks.
func (o *sqlOutput) writeBlocks(ctx context.Context, res *sql.Result, layout tensor.Layout, to *blockOutput) error {
	column := -1
	for i, f := range res.Schema().Fields() {
		if f.Type.ID() != arrow.BINARY {
			continue
		}
		if column >= 0 {
			return usage("%s: the rows have two columns of BLOBs, %s and %s; select one", o.out, res.Schema().Field(column).Name, f.Name)
		}
		column = i
	}
	if column < 0 {
		return usage("%s: the rows have no BLOB to write as blocks; select one, such as that of stacked_histogram, or write a table", o.out)
	}
	out, err := to.output()
	if err != nil {
		return err
	}
	sink, err := out.Open(layout)
	if err != nil {
		return err
	}
	w := &blockWriter{sink: sink, layout: layout, column: column, pool: tensor.NewPool(layout)}
	if err := res.Pass(ctx, func(rec arrow.RecordBatch) error { return w.write(ctx, rec) }); err != nil {
		return errors.Join(err, sink.Abort())
	}
	if err := sink.Close(); err != nil {
		return err
	}
	o.app.say(fmt.Sprintf("%s: %s of %v %v", o.out, counted(int64(w.n), "block"), layout.Shape, layout.DType), "output", o.out, "blocks", w.n)
	return nil
}

// A blockWriter writes a column of BLOBs.
type blockWriter struct {
	sink   tensor.Sink
	layout tensor.Layout
	pool   *tensor.Pool
	column int
	n      int
}

func (w *blockWriter) write(ctx context.Context, rec arrow.RecordBatch) error {
	data := rec.Column(w.column).(*array.Binary)
	for i := range int(rec.NumRows()) {
		if data.IsNull(i) {
			return fmt.Errorf("row %d has no block, but NULL; leave such rows out, such as with HAVING count(*) > 0", w.n)
		}
		v := data.Value(i)
		if len(v) != w.layout.Bytes() {
			return fmt.Errorf("row %d has a block of %d bytes, not the %d of %v %v; say what it is with --shape", w.n, len(v), w.layout.Bytes(), w.layout.Shape, w.layout.DType)
		}
		b := w.pool.Get()
		copy(b.Data, v)
		b.Index, b.Start = w.n, valueAt(rec, tensor.WindowStart, i)
		b.End, b.Events = valueAt(rec, tensor.WindowEnd, i), valueAt(rec, tensor.WindowEvents, i)
		if err := w.sink.Write(ctx, b); err != nil {
			return err
		}
		w.n++
	}
	return nil
}

// valueAt returns an integer of a column that may be there; 0 where it is not.
func valueAt(rec arrow.RecordBatch, column string, i int) int64 {
	at := rec.Schema().FieldIndices(column)
	if len(at) != 1 {
		return 0
	}
	switch c := rec.Column(at[0]).(type) {
	case *array.Int64:
		return c.Value(i)
	case *array.Int32:
		return int64(c.Value(i))
	}
	return 0
}
