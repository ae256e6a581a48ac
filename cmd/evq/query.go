package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/spf13/cobra"

	"github.com/evq-project/evq/engine"
	"github.com/evq-project/evq/exprs"
	"github.com/evq-project/evq/io/table"
	"github.com/evq-project/evq/udf/builtins"
)

func (a *app) queryCommand() *cobra.Command {
	q := &groupQuery{input: input{app: a}}
	o := &tableOutput{app: a}
	cmd := &cobra.Command{
		Use:   "query REC... [--group KEYS] [--agg LIST]",
		Short: "Count and measure events by window, bin, pixel or anything computed from them: a table",
		Long: `Query groups the events of a recording and prints a table: pretty on a terminal, CSV in a pipe, or what -o names.

A row has the window (window, window_start, window_end, window_events) where there are windows, the bin where there
are bins, a column for each key, and one for each aggregate. Without --group a window is one row.

Keys and conditions are integers computed from t, x, y and p: x // 16, (t - 5ms) % 1000, tile(16), pixel, p.
A column may be computed from aggregates, keys and columns before it, by + - * / // %: rate = count / seconds. --having
compares such numbers and leaves rows out; what it asks for need not be a column.
Several recordings give rows each, told apart by the column recording; --merge takes them as one.

` + aggregateHelp(),
		Example: `  evq query drive.parquet --window 1s --agg count,rate
  evq query drive.raw --where 'p = on' --group 'tile(16)' --order count:desc --limit 10
  evq query drive.parquet --window 50ms --bins 10 --group p --agg 'count, mean(x) as cx' -o bins.csv
  evq query drive.raw --window 1s --group 'tile(32)' --agg 'count, on_share = sum(p) / count' --having 'count > 1000'
  evq query 'night/*.parquet' --agg 'count, min(t), max(t)'`,
		Args:              q.args,
		ValidArgsFunction: completeFiles,
		RunE:              func(cmd *cobra.Command, args []string) error { return a.query(cmd.Context(), args, q, o) },
	}
	o.flags(cmd)
	q.flags(cmd)
	q.reading.joinFlag(cmd)
	return cmd
}

// A groupQuery is the flags of a query for a table, and what it is made of.
type groupQuery struct {
	input
	group, agg string
	having     string
	bins       int64
	width      time.Duration
	orderText  string
	limit      int64
	merge      bool

	keys  []exprs.Key
	kept  []engine.Condition
	aggs  []engine.Aggregated
	order []engine.Order
	rows  engine.Table
}

func (q *groupQuery) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&q.group, "group", "", "group by `KEYS`, such as p, 'y // 16 as row, x // 16', pixel, 'tile(32)'")
	f.StringVar(&q.agg, "agg", "count", "compute `LIST` of every group, such as 'count, mean(x) as cx, on_share = sum(p) / count'")
	f.StringVar(&q.having, "having", "", "only the rows for which `EXPR` holds, such as 'count > 100 and sum(p) / count > 0.5'")
	valueFlag(cmd, &q.bins, parseCount, "bins", "", "divide each window into `N` bins of equal time, from its first event to its last")
	valueFlag(cmd, &q.width, parseDuration, "bin-width", "", "divide each window into bins of length `D`, from its start")
	f.StringVar(&q.orderText, "order", "", "sort by `COLUMNS`, such as count:desc,y")
	valueFlag(cmd, &q.limit, parseCount, "limit", "", "only the first `N` rows")
	f.BoolVar(&q.merge, "merge", false, "take several recordings as one, merged by time")
	q.input.flags(cmd)
}

// args checks the arguments: recordings, or with --join the parts of one.
func (q *groupQuery) args(cmd *cobra.Command, args []string) error {
	if q.reading.join {
		return q.reading.joined(cmd, args)
	}
	return someArguments(cmd, args)
}

// check reads the flags that are text.
func (q *groupQuery) check() (err error) {
	if q.bins > 0 && q.width > 0 {
		return usage("--bins and --bin-width both divide windows; give one")
	}
	if q.group != "" {
		if q.keys, err = engine.Keys(q.group); err != nil {
			return usageError{fmt.Errorf("--group: %w", err)}
		}
	}
	if q.aggs, err = engine.Aggregates(q.agg); err != nil {
		return usageError{fmt.Errorf("--agg: %w", err)}
	}
	if q.having != "" {
		c, err := engine.Having(q.having)
		if err != nil {
			return usageError{fmt.Errorf("--having: %w", err)}
		}
		q.kept = []engine.Condition{c}
	}
	if q.orderText != "" {
		for part := range strings.SplitSeq(q.orderText, ",") {
			column, way, _ := strings.Cut(strings.TrimSpace(part), ":")
			if way != "" && way != "asc" && way != "desc" {
				return usage("--order %s: write COLUMN, COLUMN:asc or COLUMN:desc", part)
			}
			q.order = append(q.order, engine.Order{Column: column, Desc: way == "desc"})
		}
	}
	return nil
}

// open opens recordings, one or several that are merged, and makes the query.
func (q *groupQuery) open(ctx context.Context, paths []string, m *meter) error {
	if err := q.openAll(ctx, paths, m); err != nil {
		return err
	}
	w := q.frame.Window(q.by)
	g := w.GroupBy(q.keys...)
	switch {
	case q.bins > 0:
		g = w.Bin(int(q.bins)).GroupBy(q.keys...)
	case q.width > 0:
		g = w.BinWidth(q.width).GroupBy(q.keys...)
	}
	q.rows = g.Having(q.kept...).Agg(q.aggs...)
	if len(q.order) > 0 {
		q.rows = q.rows.OrderBy(q.order...)
	}
	if q.limit > 0 {
		q.rows = q.rows.Limit(q.limit)
	}
	return nil
}

// openAll opens the recording, or several as one.
func (q *groupQuery) openAll(ctx context.Context, paths []string, m *meter) error {
	if len(paths) == 1 || q.reading.join {
		return q.input.open(ctx, paths[0], m, nil)
	}
	return q.input.openMerged(ctx, paths, m)
}

// query runs the query into the output.
func (a *app) query(ctx context.Context, args []string, q *groupQuery, o *tableOutput) error {
	if err := q.check(); err != nil {
		return err
	}
	paths, err := expand(args)
	if err != nil {
		return err
	}
	for _, in := range append(paths, q.windows.ends) {
		if same(in, o.out) {
			return usage("%s would overwrite itself; write to another name", in)
		}
	}
	sets := [][]string{paths}
	if !q.merge && !q.reading.join {
		sets = nil
		for _, p := range paths {
			sets = append(sets, []string{p})
		}
	}
	var losses error
	for _, set := range sets {
		err := a.querySet(ctx, set, len(sets) > 1, q, o)
		if err != nil && !errors.Is(err, errLosses) {
			o.abort()
			return err
		}
		losses = errors.Join(losses, err)
	}
	if err := o.close(); err != nil {
		return err
	}
	return losses
}

// querySet runs the query over one recording, or over several that are one.
func (a *app) querySet(ctx context.Context, paths []string, several bool, q *groupQuery, o *tableOutput) error {
	m := a.newMeter()
	defer m.stop()
	defer q.close()
	name := strings.Join(paths, " + ")
	if err := q.open(ctx, paths, m); err != nil {
		return err
	}
	column := ""
	if several {
		column = paths[0]
	}
	if !o.printing() {
		m.show("query "+filepath.Base(paths[0]), q.rec.Info(), paths[0])
	}
	schema, err := q.rows.Schema(q.options...)
	if unknown := (*exprs.SyntaxError)(nil); errors.As(err, &unknown) {
		if unknown.Text == q.having {
			return usageError{fmt.Errorf("--having: %w", err)}
		}
		return usageError{fmt.Errorf("--agg: %w", err)}
	}
	if err != nil {
		return named(name, err)
	}
	if err := o.open(schema, several); err != nil {
		return err
	}
	var stats engine.Stats
	err = q.rows.Each(ctx, func(r arrow.RecordBatch) error { return o.write(r, column) }, append(q.options, engine.Collected(&stats))...)
	if err != nil {
		return named(name, err)
	}
	m.stop()
	return a.reported(name, q.readAll(stats.Report), 0)
}

// A tableOutput is the flags that say where rows go.
type tableOutput struct {
	app     *app
	out, to string
	force   bool

	sink table.Sink
	rows int64
}

func (o *tableOutput) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVarP(&o.out, "output", "o", "", "write to `OUT`, whose extension is the format: "+strings.Join(table.Extensions(), ", "))
	enumFlag(cmd, &o.to, "to", "", "write the format `NAME` whatever OUT's extension", table.Names()...)
	f.BoolVar(&o.force, "force", false, "overwrite the output")
}

// printing reports whether rows go to standard output.
func (o *tableOutput) printing() bool { return o.out == "" || o.out == "-" }

// open starts the output with the first recording's columns; those of the others are the same.
func (o *tableOutput) open(schema *arrow.Schema, several bool) (err error) {
	if o.sink != nil {
		return nil
	}
	if several {
		schema = table.WithText(schema, "recording")
	}
	switch {
	case !o.printing():
		o.sink, err = table.Create(o.out, o.to, schema, o.force)
	case o.to == "" && terminal(o.app.out):
		o.sink, err = table.New(o.app.out, "pretty", schema)
	case o.to == "":
		o.sink, err = table.New(o.app.out, "csv", schema)
	default:
		o.sink, err = table.New(o.app.out, o.to, schema)
	}
	return err
}

func (o *tableOutput) write(r arrow.RecordBatch, recording string) error {
	o.rows += r.NumRows()
	if recording == "" {
		return o.sink.Write(r)
	}
	with := table.AddText(r, "recording", recording)
	defer with.Release()
	return o.sink.Write(with)
}

func (o *tableOutput) close() error {
	if err := o.sink.Close(); err != nil {
		return err
	}
	if !o.printing() {
		o.app.say(fmt.Sprintf("%s: %s", o.out, counted(o.rows, "row")), "output", o.out, "rows", o.rows)
	}
	return nil
}

func (o *tableOutput) abort() {
	if o.sink != nil {
		_ = o.sink.Abort()
	}
}

// expand replaces patterns by the files they match. A file that exists under a pattern's own name is itself.
func expand(args []string) ([]string, error) {
	var out []string
	for _, arg := range args {
		if !strings.ContainsAny(arg, "*?[") || exists(arg) {
			out = append(out, arg)
			continue
		}
		files, err := filepath.Glob(arg)
		if err != nil {
			return nil, usage("%s: %w", arg, err)
		}
		if len(files) == 0 {
			return nil, usage("%s matches no file", arg)
		}
		out = append(out, files...)
	}
	return out, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// aggregateHelp lists the aggregates.
func aggregateHelp() string {
	var b strings.Builder
	b.WriteString("Aggregates:\n")
	for _, e := range builtins.Aggregates {
		_, _ = fmt.Fprintf(&b, "  %s: %s\n", e.Name, e.Doc)
	}
	return strings.TrimRight(b.String(), "\n")
}
