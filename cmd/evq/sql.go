package main

import (
	"context"
	_ "embed"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/spf13/cobra"

	"github.com/evq-project/evq/sql"
)

// sqlMacros are windows and histograms for a DuckDB without evq.
//
//go:embed sql_macros.sql
var sqlMacros string

func (a *app) sqlCommand() *cobra.Command {
	q := &sqlQuery{app: a}
	cmd := &cobra.Command{
		Use:   `sql ["SELECT ..."]`,
		Short: "Ask in SQL: DuckDB over recordings, with evq's functions; without a query a shell",
		Long: `Sql runs DuckDB with recordings as tables and evq's representations and filters as functions.

Any recording is a table of t (BIGINT, microseconds), x, y and p (INTEGER): FROM 'drive.raw'. Several statements are
separated by semicolons; the rows of the last one are printed: pretty on a terminal, CSV in a pipe, or what -o names.
BLOBs of a representation go to .npy, .npz and .h5 as blocks. Without a query it is a shell on a terminal; elsewhere
statements are read from standard input.

Queries whose rows the engine is known to give exactly as DuckDB would are run by the engine; --explain says which,
and SET evq_route = 'off' leaves all to DuckDB.`,
		Example: `  evq sql "SELECT count(*) FROM 'drive.raw' WHERE p = 1"
  evq sql "SELECT t // 50000 AS w, stacked_histogram(t, x, y, p, 10, 720, 1280, 10) AS h FROM 'drive.parquet' GROUP BY w ORDER BY w" -o h.npy
  evq sql "COPY (SELECT * FROM triggers('drive.raw')) TO 'triggers.parquet'"
  evq sql`,
		Args:              q.args,
		ValidArgsFunction: completeFiles,
		RunE:              func(cmd *cobra.Command, args []string) error { return q.run(cmd, args) },
	}
	q.flags(cmd)
	return cmd
}

// A sqlQuery is the flags of the verb.
type sqlQuery struct {
	app      *app
	file     string
	json     bool
	readOnly bool
	allow    []string
	explain  bool
	macros   bool
	output   sqlOutput
}

func (q *sqlQuery) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVarP(&q.file, "file", "f", "", "read the statements from `FILE`; - is standard input")
	f.BoolVar(&q.json, "json", false, "print JSON; the same as --to json")
	f.BoolVar(&q.readOnly, "read-only", false, "allow nothing that writes a file, loads code or reaches the network")
	f.StringArrayVar(&q.allow, "allow", nil, "let queries touch only what lies in `DIR`, or a file; may be given several times")
	f.BoolVar(&q.explain, "explain", false, "say who would run the query, evq's engine or DuckDB, why, and how")
	f.BoolVar(&q.macros, "macros", false, "print macros that give a DuckDB without evq windows and histograms")
	q.output.app = q.app
	q.output.flags(cmd)
}

// args checks that there is at most one query.
func (q *sqlQuery) args(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) > 1:
		return usage("%s takes one query, not %d; put it in quotes", cmd.CommandPath(), len(args))
	case len(args) == 1 && q.file != "":
		return usage("a query and -f were both given; give one")
	case q.json && q.output.to != "" && q.output.to != "json":
		return usage("--json and --to %s were both given; give one", q.output.to)
	}
	return nil
}

// run runs statements, or the shell.
func (q *sqlQuery) run(cmd *cobra.Command, args []string) error {
	a, ctx := q.app, cmd.Context()
	if q.macros {
		_, err := io.WriteString(a.out, sqlMacros)
		return err
	}
	if q.json {
		q.output.to = "json"
	}
	text, shell, err := q.text(args)
	if err != nil {
		return err
	}
	o := sql.Options{ReadOnly: q.readOnly, Allow: q.allow, Threads: a.threads}
	if cmd.Flags().Changed("memory") { // else groups may have more than other verbs need
		o.Memory = a.memory
	}
	s, err := sql.Open(ctx, o)
	if err != nil {
		return err
	}
	r, err := s.Runner(ctx)
	if err == nil {
		if shell {
			err = a.sqlShell(ctx, s, r, q)
		} else {
			err = a.sqlText(ctx, r, text, q)
			if lost := a.sqlLosses(s); err == nil { // a query that failed says so rather
				err = lost
			}
		}
		err = errors.Join(err, r.Close())
	}
	return errors.Join(err, s.Close())
}

// text returns the statements; shell says that they are to be asked for.
func (q *sqlQuery) text(args []string) (text string, shell bool, err error) {
	if len(args) == 1 {
		return args[0], false, nil
	}
	var b []byte
	switch {
	case q.file == "" && sql.Built && isTerminal(os.Stdin) && terminal(q.app.out):
		return "", true, nil
	case q.file == "" && !sql.Built:
		return "", false, nil // Open says what is missing
	case q.file == "" || q.file == "-":
		b, err = io.ReadAll(os.Stdin)
	default:
		b, err = os.ReadFile(q.file)
	}
	return string(b), false, err
}

func isTerminal(f *os.File) bool {
	st, err := f.Stat()
	return err == nil && st.Mode()&os.ModeCharDevice != 0
}

// sqlText runs statements and prints the rows of the last one.
func (a *app) sqlText(ctx context.Context, r *sql.Runner, text string, q *sqlQuery) error {
	all := onTheirLines(text)
	if len(all) == 0 {
		return usage("there is no statement; such as evq sql \"SELECT count(*) FROM 'drive.raw'\"")
	}
	last := len(all) - 1
	for _, one := range all[:last] {
		if err := r.Exec(ctx, one); err != nil {
			return err
		}
	}
	if q.explain {
		return a.sqlExplain(ctx, r, all[last])
	}
	return q.output.run(ctx, r, all[last])
}

// onTheirLines returns the statements of a text, each on the line on which it stands there, for errors that name it.
func onTheirLines(text string) []string {
	all, _ := sql.Statements(text)
	at := 0
	for i, one := range all {
		at += strings.Index(text[at:], one)
		all[i] = strings.Repeat("\n", strings.Count(text[:at], "\n")) + one
		at += len(one)
	}
	return all
}

// sqlLosses prints what the recordings of statements lost.
func (a *app) sqlLosses(s *sql.Session) error {
	var err error
	for _, l := range s.Losses() {
		if e := a.reported(l.Path, l.Report, l.OffSensor); e != nil {
			err = e
		}
	}
	return err
}

// sqlExplain prints who would run a statement, why, and how.
func (a *app) sqlExplain(ctx context.Context, r *sql.Runner, text string) error {
	res, err := r.Run(ctx, "EXPLAIN "+text)
	if err != nil {
		return err
	}
	p := &printer{w: a.out}
	err = res.Each(ctx, func(rec arrow.RecordBatch) error {
		for i := range int(rec.NumRows()) {
			value := rec.Column(int(rec.NumCols()) - 1).(*array.String).Value(i)
			p.line("%s", strings.TrimRight(value, "\n"))
		}
		return p.err
	})
	return errors.Join(err, res.Close())
}

// sqlDone reports whether a statement has no rows to show, such as SET or DROP.
func sqlDone(schema *arrow.Schema) bool {
	f := schema.Fields()
	return len(f) == 0 || len(f) == 1 && f[0].Name == "Success" && f[0].Type.ID() == arrow.BOOL
}
