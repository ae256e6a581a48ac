package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/peterh/liner"

	"github.com/evq-project/evq/sql"
)

// A lineEditor asks for lines.
type lineEditor interface {
	// Prompt returns a line, io.EOF at the end and liner.ErrPromptAborted at Ctrl-C.
	Prompt(prompt string) (string, error)
	AppendHistory(line string)
}

// A sqlShell asks for statements and prints their rows. Ctrl-C ends a query, not the shell.
type sqlShell struct {
	app     *app
	session *sql.Session
	runner  *sql.Runner
	editor  lineEditor
	query   *sqlQuery
	timer   bool
	words   []string // that are completed; nil until they are asked for
}

// A shellCommand is one that begins with a dot.
type shellCommand struct {
	name, arg, doc string
	run            func(s *sqlShell, ctx context.Context, arg string) error
}

// shellCommands lists them. .help and .quit are the shell's own.
var shellCommands = []shellCommand{
	{".functions", "[TEXT]", "evq's functions, or those whose name has TEXT", (*sqlShell).functions},
	{".help", "", "this", nil},
	{".quit", "", "leave; so does Ctrl-D", nil},
	{".schema", "[TABLE]", "the columns of a table, a view or a file, or of all tables", (*sqlShell).schema},
	{".tables", "", "tables and views", (*sqlShell).tables},
	{".timer", "on|off", "print how long a query took", (*sqlShell).setTimer},
}

// sqlShell runs the shell on the terminal.
func (a *app) sqlShell(ctx context.Context, s *sql.Session, r *sql.Runner, q *sqlQuery) error {
	// A Ctrl-C that ends a query must not end what comes after it.
	ctx = context.WithoutCancel(ctx)
	l := liner.NewLiner()
	l.SetCtrlCAborts(true)
	l.SetMultiLineMode(true)
	shell := &sqlShell{app: a, session: s, runner: r, editor: l, query: q}
	l.SetWordCompleter(func(line string, pos int) (string, []string, string) { return shell.complete(ctx, line, pos) })
	history := a.historyFile()
	if f, err := os.Open(history); err == nil {
		_, _ = l.ReadHistory(f) // a shell without its history is one still
		_ = f.Close()
	}
	a.say("evq sql: DuckDB with recordings as tables. Statements end with a semicolon; .help lists commands")
	err := shell.loop(ctx)
	return errors.Join(err, saveHistory(l, history), l.Close())
}

// historyFile is where lines are kept between sessions; "" where there is no place for it.
func (a *app) historyFile() string {
	if name := a.env("EVQ_SQL_HISTORY"); name != "" {
		return name
	}
	dir, err := os.UserConfigDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "evq", "sql_history")
}

func saveHistory(l *liner.State, name string) error {
	if name == "" {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return fmt.Errorf("history: %w", err)
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("history: %w", err)
	}
	_, err = l.WriteHistory(f)
	return errors.Join(err, f.Close())
}

// loop asks for statements until the end. Errors of statements are printed.
func (s *sqlShell) loop(ctx context.Context) error {
	text, prompt := "", "evq> "
	for {
		line, err := s.editor.Prompt(prompt)
		switch {
		case errors.Is(err, liner.ErrPromptAborted):
			text, prompt = "", "evq> "
			continue
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if text == "" && strings.HasPrefix(strings.TrimSpace(line), ".") {
			line = strings.TrimSpace(line)
			s.editor.AppendHistory(line)
			if line == ".quit" || line == ".exit" {
				return nil
			}
			s.interruptibly(ctx, func(ctx context.Context) error { return s.command(ctx, line) })
			continue
		}
		text += line + "\n"
		all, complete := sql.Statements(text)
		if !complete {
			prompt = "...> "
			continue
		}
		if len(all) > 0 {
			s.editor.AppendHistory(strings.ReplaceAll(strings.TrimSpace(text), "\n", " "))
		}
		for _, one := range all {
			if !s.interruptibly(ctx, func(ctx context.Context) error { return s.statement(ctx, one) }) {
				break
			}
		}
		text, prompt = "", "evq> "
	}
}

// interruptibly does something that Ctrl-C ends, and prints its error.
func (s *sqlShell) interruptibly(ctx context.Context, do func(context.Context) error) bool {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	err := do(ctx)
	if ctx.Err() != nil {
		err = errInterrupted
	}
	stop()
	if err != nil {
		s.app.printError(err)
	}
	return err == nil
}

// statement runs one statement and prints its rows.
func (s *sqlShell) statement(ctx context.Context, text string) error {
	began := time.Now()
	o := s.query.output
	err := o.run(ctx, s.runner, text)
	s.words = nil                  // it may have made tables
	_ = s.app.sqlLosses(s.session) // the shell has no exit code for them
	if err == nil && s.timer {
		s.app.always(fmt.Sprintf("%s, %.3f s", counted(o.rows, "row"), time.Since(began).Seconds()))
	}
	return err
}

// command runs a command.
func (s *sqlShell) command(ctx context.Context, line string) error {
	name, arg, _ := strings.Cut(line, " ")
	if name == ".help" {
		return s.help()
	}
	var names []string
	for _, c := range shellCommands {
		if c.name == name {
			return c.run(s, ctx, strings.TrimSuffix(strings.TrimSpace(arg), ";"))
		}
		names = append(names, c.name)
	}
	return unknown("command", name, names)
}

func (s *sqlShell) help() error {
	w := tabwriter.NewWriter(s.app.out, 0, 0, 2, ' ', 0)
	for _, c := range shellCommands {
		_, _ = fmt.Fprintf(w, "%s %s\t%s\n", c.name, c.arg, c.doc)
	}
	_, _ = fmt.Fprintf(w, "SELECT …;\ta statement, over as many lines as it takes\nCtrl-C\tend a query, or forget a line\nTab\tcomplete a word, or the name of a file in quotes\n")
	return w.Flush()
}

func (s *sqlShell) functions(_ context.Context, arg string) error {
	w := tabwriter.NewWriter(s.app.out, 0, 0, 2, ' ', 0)
	for _, f := range s.session.Functions() {
		if strings.Contains(f.Name, strings.ToLower(arg)) {
			_, _ = fmt.Fprintf(w, "%s\t%s\t%s\n", f.Kind, f.Call, f.Doc)
		}
	}
	return w.Flush()
}

// schema describes a table, or a file that may stand in quotes or without.
func (s *sqlShell) schema(ctx context.Context, arg string) error {
	if arg == "" {
		return s.rows(ctx, "SELECT table_name, column_name, data_type FROM duckdb_columns() WHERE NOT internal ORDER BY table_name, column_index")
	}
	if !strings.ContainsAny(arg, `'"(`) && exists(arg) {
		arg = "'" + strings.ReplaceAll(arg, "'", "''") + "'"
	}
	return s.rows(ctx, "SELECT column_name, column_type FROM (DESCRIBE FROM "+arg+")")
}

func (s *sqlShell) tables(ctx context.Context, _ string) error {
	return s.rows(ctx, "SELECT table_name AS name, 'table' AS kind FROM duckdb_tables() UNION ALL SELECT view_name, 'view' FROM duckdb_views() WHERE NOT internal ORDER BY ALL")
}

func (s *sqlShell) rows(ctx context.Context, text string) error {
	o := sqlOutput{tableOutput: tableOutput{app: s.app, to: "pretty"}}
	return o.run(ctx, s.runner, text)
}

func (s *sqlShell) setTimer(_ context.Context, arg string) error {
	if err := oneOf(arg, []string{"on", "off"}); err != nil {
		return usage(".timer %s: %w", arg, err)
	}
	s.timer = arg == "on"
	return nil
}
