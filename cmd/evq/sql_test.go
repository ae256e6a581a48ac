package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/peterh/liner"

	"github.com/evq-project/evq/sql"
)

// needSQL skips tests of what a build without DuckDB lacks.
func needSQL(t *testing.T) {
	t.Helper()
	if !sql.Built {
		t.Skip("built without DuckDB")
	}
}

// A build without DuckDB says how to get it.
func TestSQLWithoutDuckDB(t *testing.T) {
	if sql.Built {
		t.Skip("built with DuckDB")
	}
	has(t, must(t, exitFailed, "sql", "SELECT 1").errOut, "-tags duckdb")
}

func TestSQLOutputs(t *testing.T) {
	needSQL(t)
	in, dir := drive(t), t.TempDir()
	q := "SELECT count(*) AS n FROM '" + in + "'"
	want := strings.TrimSpace(must(t, 0, "query", in, "--agg", "count as n", "--to", "csv").out)
	want = want[strings.LastIndexAny(want, ",\n")+1:]
	for _, c := range []struct{ flags, want string }{{"", "n\n" + want}, {"--json", `{"n":` + want + `}`}, {"--to jsonl", `{"n":` + want + "}\n"}, {"--to pretty", want}} {
		has(t, must(t, 0, append([]string{"sql", q}, strings.Fields(c.flags)...)...).out, c.want)
	}
	for _, name := range []string{"o.csv", "o.json", "o.parquet", "o.arrow"} {
		out := filepath.Join(dir, name)
		has(t, must(t, 0, "sql", "FROM '"+in+"' LIMIT 7", "-o", out).errOut, "7 rows")
		if _, err := os.Stat(out); err != nil {
			t.Error(err)
		}
	}
	has(t, must(t, 0, "sql", "SELECT sum(x) >= 0 AS ok, count(*) AS n FROM '"+filepath.Join(dir, "o.parquet")+"'").out, "true,7")
	must(t, exitFailed, "sql", "SELECT 1", "-o", filepath.Join(dir, "o.csv")) // it exists

	copied := filepath.Join(dir, "it's 100% ünïcode.parquet")
	must(t, 0, "sql", "COPY (FROM '"+in+"' LIMIT 5) TO '"+strings.ReplaceAll(copied, "'", "''")+"'")
	has(t, must(t, 0, "sql", "SELECT count(*) AS n FROM '"+strings.ReplaceAll(copied, "'", "''")+"'", "--json").out, `{"n":5}`)

	file := fileOf(t, "q.sql", []byte("CREATE TABLE a AS SELECT 41 AS v; -- first\nUPDATE a SET v = v + 1; SELECT v FROM a"))
	has(t, must(t, 0, "sql", "-f", file).out, "v\n42\n")
}

// BLOBs become the blocks that the verb tensor writes.
func TestSQLBlocks(t *testing.T) {
	needSQL(t)
	in, dir := drive(t), t.TempDir()
	want := filepath.Join(dir, "want.npy")
	must(t, 0, "tensor", in, "--window", "100ms", "--repr", "stacked_histogram:bins=3", "-o", want)
	size, err := os.ReadFile(want)
	if err != nil {
		t.Fatal(err)
	}
	byTable := "SELECT data FROM stacked_histogram('" + in + "', '100ms', bins := 3)"
	byGroup := "SELECT t // 100000 AS w, stacked_histogram(t, x, y, p, 3, 96, 128, 10) AS h FROM '" + in + "' GROUP BY w ORDER BY w"
	for i, args := range [][]string{{byTable}, {byTable, "--shape", "6,96,128"}, {byGroup}, {"SET evq_route = 'off'; " + byGroup}} {
		out := filepath.Join(dir, fmt.Sprintf("%d.npy", i))
		must(t, 0, append([]string{"sql", "-o", out}, args...)...)
		got, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, size) {
			t.Errorf("%v gives other blocks than evq tensor", args)
		}
	}
	must(t, 0, "sql", byGroup, "-o", filepath.Join(dir, "o.npz"))
	for _, c := range []struct{ query, shape, want string }{
		{"SELECT 'a'::BLOB AS a", "", "--shape"}, {"SELECT 1 AS a", "3,4", "no BLOB"}, {"SELECT 'a'::BLOB AS a, 'b'::BLOB AS b", "3,4", "two columns"},
		{"SELECT 'a'::BLOB AS a", "3,4", "1 bytes, not the 12"}, {"SELECT NULL::BLOB AS a", "3,4", "NULL"},
		{byTable, "uint9:3,4", "none of the types"}, {byTable, "3,-4", "write the axes"}, {byTable, "99999999,99999999,99999999", "no memory"},
	} {
		r := evq(t, "sql", c.query, "-o", filepath.Join(dir, "bad.npy"), "--shape", c.shape)
		if r.code == 0 {
			t.Errorf("%s with --shape %q is written", c.query, c.shape)
		}
		has(t, r.errOut, c.want)
	}
	if exists(filepath.Join(dir, "bad.npy")) {
		t.Error("a failed query left a file")
	}
}

// The route is told, and makes no difference.
func TestSQLExplain(t *testing.T) {
	needSQL(t)
	in := drive(t)
	q := "SELECT t // 100000 AS w, count(*) AS n FROM '" + in + "' GROUP BY w ORDER BY w"
	has(t, must(t, 0, "sql", q, "--explain").out, "native: windows of 100ms")
	has(t, must(t, 0, "sql", "SET evq_route = 'off'; "+q, "--explain").out, "duckdb: evq_route is off")
	has(t, must(t, 0, "sql", "SELECT 1", "--explain").out, "duckdb: ")
	if a, b := must(t, 0, "sql", q).out, must(t, 0, "sql", "SET evq_route = 'off'; "+q).out; a != b {
		t.Errorf("the engine gives\n%s, DuckDB\n%s", a, b)
	}
}

// Errors say where, what to write instead, and what the recording lacks.
func TestSQLErrors(t *testing.T) {
	needSQL(t)
	in := drive(t)
	for _, c := range []struct {
		code int
		args []string
		want []string
	}{
		{exitFailed, []string{"SELECT count(*) FROM '" + in + "' WHERE )"}, []string{"LINE 1"}},
		{exitFailed, []string{"SELECT stacked_histogramm(t) FROM '" + in + "'"}, []string{"stacked_histogram", "LINE 1"}},
		{exitFailed, []string{"FROM '" + fileOf(t, "bad.raw", []byte("no recording")) + "'"}, []string{"bad.raw"}},
		{exitFailed, []string{"COPY (SELECT 1) TO 'x.csv'", "--read-only"}, []string{"refused", "COPY"}},
		{exitFailed, []string{"FROM '" + in + "'", "--allow", t.TempDir()}, []string{"refused", "outside"}},
		{exitUsage, []string{"SELECT 1", "-f", "x.sql"}, []string{"give one"}},
		{exitUsage, []string{"SELECT 1", "SELECT 2"}, []string{"quotes"}},
		{exitUsage, []string{" ; -- nothing"}, []string{"no statement"}},
		{exitUsage, []string{"SELECT 1", "--json", "--to", "csv"}, []string{"give one"}},
	} {
		r := must(t, c.code, append([]string{"sql"}, c.args...)...)
		has(t, r.errOut, c.want...)
	}
}

// What a recording lost is printed, and is the exit code; a query that fails says so rather.
func TestSQLLosses(t *testing.T) {
	needSQL(t)
	whole, err := os.ReadFile(drive(t))
	if err != nil {
		t.Fatal(err)
	}
	cut := fileOf(t, "cut.raw", whole[:len(whole)-1])
	count := "SELECT count(*) AS n FROM '" + cut + "'"
	has(t, must(t, exitLosses, "sql", count).errOut, "cut.raw: lost 1 trailing_bytes")
	has(t, must(t, exitLosses, "sql", count+"; SELECT 1").errOut, "trailing_bytes")
	has(t, must(t, exitFailed, "sql", count+"; SELECT zz").errOut, "zz")
	has(t, must(t, exitFailed, "sql", "SELECT 1;\n\nSELECT 2; SELECT\n  zz FROM '"+drive(t)+"'").errOut, "LINE 4:   zz FROM")
	if r := must(t, 0, "sql", "SELECT count(*) FROM '"+drive(t)+"'"); strings.Contains(r.errOut, "lost") {
		t.Error(r.errOut)
	}
}

// Blocks of a whole sensor fit where no limit is given.
func TestSQLMemory(t *testing.T) {
	needSQL(t)
	q := "SET evq_route = 'off'; SELECT sum(octet_length(b)) AS n FROM (SELECT stacked_histogram(t, x, y, p, 10, 720, 1280, 10) AS b FROM '" + drive(t) + "' GROUP BY t // 50000)"
	must(t, 0, "sql", q)
	has(t, must(t, exitFailed, "sql", "--memory", "128MiB", q).errOut, "need more memory than is allowed", "raise the memory limit", "table function")
}

// The macros work without evq's functions and count what they do.
func TestSQLMacros(t *testing.T) {
	needSQL(t)
	dir := t.TempDir()
	store := filepath.Join(dir, "d.parquet")
	must(t, 0, "convert", drive(t), "-o", store)
	macros := must(t, 0, "sql", "--macros").out
	ask := func(q string) string {
		return must(t, 0, "sql", "-f", fileOf(t, "m.sql", []byte(macros+q)), "--to", "csv").out
	}
	f := "'" + store + "'"
	same := func(a, b string) {
		t.Helper()
		if x, y := ask(a), ask(b); x != y || len(x) < 10 {
			t.Errorf("%s gives\n%s\n%s gives\n%s", a, x, b, y)
		}
	}
	same("SELECT window_start, window_end, window_events FROM evq_windows("+f+", 50000)",
		"SELECT window_start, window_end, window_events FROM windows("+f+", '50ms') WHERE window_events > 0")
	same(`SELECT "window" AS w, sum(events) AS n FROM evq_stacked_histogram(`+f+", 50000, 3) GROUP BY w ORDER BY w",
		"SELECT t // 50000 AS w, count(*) AS n FROM "+f+" GROUP BY w ORDER BY w")
	same(`SELECT "window" AS w, channel, y, x, events FROM evq_stacked_histogram(`+f+", 100000, 3) ORDER BY ALL",
		`WITH h AS (SELECT t // 100000 AS w, stacked_histogram(t, x, y, p, 3, 96, 128, 255, {rounding: 'exact'}) AS h FROM `+f+` GROUP BY w),
		i AS (SELECT w, unnest(tensor_to_list(h))::BIGINT AS events, unnest(range(6 * 96 * 128)) AS i FROM h)
		SELECT w, i // (96 * 128) AS channel, i % (96 * 128) // 128 AS y, i % 128 AS x, events FROM i WHERE events > 0 ORDER BY ALL`)
	same("SELECT y, x, off + \"on\" AS n FROM evq_counts("+f+") ORDER BY ALL", "SELECT y, x, count(*) AS n FROM "+f+" GROUP BY ALL ORDER BY ALL")
	has(t, ask("SELECT evq_window(-1, 50) AS a, evq_window(-50, 50) AS b, evq_window(0, 50) AS c, evq_window(49, 50) AS d"), "-1,-1,0,0")
}

// A script is an editor that types.
type script struct {
	lines   []string
	history []string
}

func (s *script) Prompt(string) (string, error) {
	if len(s.lines) == 0 {
		return "", io.EOF
	}
	line := s.lines[0]
	s.lines = s.lines[1:]
	if line == "^C" {
		return "", liner.ErrPromptAborted
	}
	return line, nil
}

func (s *script) AppendHistory(line string) { s.history = append(s.history, line) }

// shellOf runs a shell that is typed to, and returns what it prints.
func shellOf(t *testing.T, lines ...string) (out, errOut string, s *sqlShell) {
	t.Helper()
	var o, e bytes.Buffer
	a := &app{out: &o, errOut: &e, env: func(string) string { return "" }, screen: &screen{to: &e}}
	session, err := sql.Open(t.Context(), sql.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	r, err := session.Runner(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	q := &sqlQuery{app: a}
	q.output.app = a
	s = &sqlShell{app: a, session: session, runner: r, editor: &script{lines: lines}, query: q}
	if err := s.loop(t.Context()); err != nil {
		t.Fatal(err)
	}
	return o.String(), e.String(), s
}

func TestSQLShell(t *testing.T) {
	needSQL(t)
	in := drive(t)
	out, errOut, s := shellOf(t,
		"CREATE TABLE a AS", "  SELECT 41 AS v;", "SELECT v", "^C", "SELECT v + 1 AS answer FROM a;", "SELECT oops;", ".tables", ".schema a", ".schema "+in,
		".functions histogram", ".timer on", "SELECT ';' AS semi; SELECT 2 AS two;", ".timer maybe", ".tabels", ".help", ".quit", "SELECT 'after' AS x;")
	has(t, out, "answer\n42\n", "kind\na     table", "v            INTEGER", "t            BIGINT", "stacked_histogram(t, x, y, p", "semi", "two", "end a query")
	has(t, errOut, "oops", "LINE 1", "1 row, ", "it is one of on, off", "did you mean .tables?")
	if strings.Contains(out, "after") {
		t.Error("the shell goes on after .quit")
	}
	if h := s.editor.(*script).history; !slices.Contains(h, "CREATE TABLE a AS   SELECT 41 AS v;") || !slices.Contains(h, ".tables") {
		t.Errorf("the history is %q", h)
	}
}

func TestSQLCompletion(t *testing.T) {
	needSQL(t)
	_, _, s := shellOf(t, "CREATE TABLE recordings_of_mine AS SELECT 1 AS a_long_column;")
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "drive.raw"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ line, head, offer string }{
		{"SELECT stacked_", "SELECT ", "stacked_histogram"}, {"sele", "", "SELECT"}, {"FROM recordings_", "FROM ", "recordings_of_mine"},
		{"SELECT a_lo", "SELECT ", "a_long_column"}, {".ti", "", ".timer"}, {"FROM '" + dir + "/dr", "FROM '", dir + "/drive.raw"},
	} {
		head, offers, tail := s.complete(context.Background(), c.line+" tail", len([]rune(c.line)))
		if head != c.head || !slices.Contains(offers, c.offer) || tail != " tail" {
			t.Errorf("%q: %q, %q, %q", c.line, head, offers, tail)
		}
	}
}
