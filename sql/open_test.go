//go:build duckdb

package sql

import (
	"context"
	dbsql "database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/evq-project/evq/engine"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/format"
)

var sensor = event.Geometry{Width: 64, Height: 48}

// opened opens a session for a test.
func opened(t testing.TB, o Options) *Session {
	t.Helper()
	s, err := Open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// files writes a scene of events as a raw recording and as a store.
func files(t testing.TB, events int) (dir, raw, store string, b event.Batch) {
	t.Helper()
	dir = t.TempDir()
	b = eventtest.Scene(7, events, sensor)
	src := eventtest.Source(b, sensor, 4096)
	raw, store = filepath.Join(dir, "rec.raw"), filepath.Join(dir, "rec.parquet")
	for _, to := range []string{raw, store} {
		if _, err := engine.Convert(context.Background(), src, to); err != nil {
			t.Fatal(err)
		}
	}
	return dir, raw, store, b
}

// one returns the single value of a query as text.
func one(t testing.TB, s *Session, query string, args ...any) string {
	t.Helper()
	all, err := table(s, query, args...)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	if len(all) != 1 || len(all[0]) != 1 {
		t.Fatalf("%s: %v", query, all)
	}
	return fmt.Sprint(all[0][0])
}

// table returns the rows of a query.
func table(s *Session, query string, args ...any) ([][]any, error) {
	rows, err := s.Query(context.Background(), query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	return read(rows)
}

func read(rows *dbsql.Rows) ([][]any, error) {
	names, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	var out [][]any
	for rows.Next() {
		row, to := make([]any, len(names)), make([]any, len(names))
		for i := range row {
			to[i] = &row[i]
		}
		if err := rows.Scan(to...); err != nil {
			return nil, err
		}
		out = append(out, row)
	}
	return out, rows.Err()
}

// fails runs a query that must fail, and says with what.
func fails(t testing.TB, s *Session, query string, want ...string) {
	t.Helper()
	_, err := table(s, query)
	if err == nil {
		t.Errorf("%s: no error", query)
		return
	}
	for _, w := range want {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%s: %v; it does not say %q", query, err, w)
		}
	}
}

func TestFilesAreTables(t *testing.T) {
	dir, raw, store, b := files(t, 20_000)
	s := opened(t, Options{})
	var sum [4]int64
	for i, at := range b.T() {
		sum[0] += at
		sum[1] += int64(b.X()[i])
		sum[2] += int64(b.Y()[i])
		sum[3] += int64(b.P()[i])
	}
	want := fmt.Sprint(b.Len(), sum)
	glob := filepath.Join(dir, "rec[1].raw")
	if err := os.Link(raw, glob); err != nil {
		t.Fatal(err)
	}
	globStore := filepath.Join(dir, "rec[1].parquet")
	if err := os.Link(store, globStore); err != nil {
		t.Fatal(err)
	}
	for _, from := range []string{
		literal(raw), literal(store), literal(glob), literal(globStore), `"` + raw + `"`, `"` + store + `"`, "events('" + raw + "')", "events(['" + store + "'])",
	} {
		got, err := table(s, "SELECT count(*), sum(t)::BIGINT, sum(x)::BIGINT, sum(y)::BIGINT, sum(p)::BIGINT FROM "+from)
		if err != nil {
			t.Errorf("%s: %v", from, err)
			continue
		}
		if text := fmt.Sprint(got[0][0], got[0][1:]); text != want {
			t.Errorf("%s: %s, want %s", from, text, want)
		}
		if n := one(t, s, "SELECT count(*) FROM "+from); n != fmt.Sprint(b.Len()) {
			t.Errorf("%s: %s events", from, n)
		}
		got, err = table(s, "SELECT DISTINCT typeof(t), typeof(x), typeof(y), typeof(p) FROM "+from)
		if text := fmt.Sprint(got); err != nil || text != "[[BIGINT INTEGER INTEGER INTEGER]]" {
			t.Errorf("%s: the types are %s, %v", from, text, err)
		}
		got, err = table(s, "SELECT * FROM "+from+" LIMIT 1")
		if err != nil || fmt.Sprint(got[0]) != fmt.Sprint([]any{b.T()[0], b.X()[0], b.Y()[0], b.P()[0]}) {
			t.Errorf("%s: the first event is %v, %v", from, got, err)
		}
	}
	two := fmt.Sprint(2 * b.Len())
	for _, query := range []string{
		"SELECT count(*) FROM " + literal(filepath.Join(dir, "*.raw")), // with rec[1].raw
		"SELECT count(*) FROM " + literal(filepath.Join(dir, "*.parquet")),
		"SELECT count(*) FROM events(['" + raw + "', '" + store + "'])",
		"SELECT sum(n) FROM (SELECT filename, count(*) AS n FROM events(['" + raw + "', '" + store + "'], filename := true) GROUP BY filename)",
		"SELECT count(*) FROM (SELECT 1 FROM '" + raw + "' UNION ALL SELECT 1 FROM '" + store + "')",
		"SELECT count(*) * 2 FROM '" + raw + "' AS a SEMI JOIN '" + store + "' USING (t, x, y, p)",
		"SELECT 2 * count(rec.t) FROM '" + store + "' WHERE rec.x >= 0",
		"SELECT 2 * count(e.t) FROM '" + store + "' e",
		"WITH e AS (FROM '" + store + "') SELECT 2 * count(*) FROM e",
		"FROM '" + store + "' SELECT 2 * count(*)",
	} {
		if got := one(t, s, query); got != two {
			t.Errorf("%s: %s, want %s", query, got, two)
		}
	}
}

func TestErrorsOfRecordings(t *testing.T) {
	dir, raw, _, _ := files(t, 5000)
	bytes, err := os.ReadFile(raw)
	if err != nil {
		t.Fatal(err)
	}
	damaged := filepath.Join(dir, "cut.raw")
	if err := os.WriteFile(damaged, bytes[:len(bytes)-3], 0o600); err != nil {
		t.Fatal(err)
	}
	strange := filepath.Join(dir, "strange.bin")
	if err := os.WriteFile(strange, []byte("\x00\x01nothing of the kind"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := opened(t, Options{})
	fails(t, s, "SELECT count(*) FROM events('"+damaged+"', strict := true)", "cut.raw")
	fails(t, s, "SELECT * FROM '"+strange+"'", "strange.bin")
	fails(t, s, "SELECT * FROM '"+filepath.Join(dir, "missing.raw")+"'", "missing.raw", "no such file")
	fails(t, s, "SELECT * FROM '"+filepath.Join(dir, "none*.raw")+"'", "no file matches")
	fails(t, s, "SELECT * FROM nosuchtable", "nosuchtable")
	fails(t, s, "SELECT * FROM events()", "recording is missing", "events('recording'")
	fails(t, s, "SELECT * FROM events('"+raw+"', sizes := '1x1')", "sizes")
	fails(t, s, "SELECT * FROM events('"+raw+"', {'sise': '1x1'})", `did you mean size?`)
	fails(t, s, "SELECT * FROM events('"+raw+"', roi := [1, 2, 3])", "X0, Y0, X1, Y1")
	fails(t, s, "SELECT * FROM stacked_histogram('"+raw+"', '50ms', bins := 0)", "bins is a whole number")
	fails(t, s, "SELECT * FROM stacked_histogram('"+raw+"', '50ms', 'binz=3')", "did you mean bins?")
	fails(t, s, "SELECT * FROM refractory_filter('"+raw+"', against := 'nobody')", "kept, seen")
	fails(t, s, "SELECT * FROM represent('"+raw+"', 'voxel_gird')", "voxel_grid")
	if got := one(t, s, "SELECT 7"); got != "7" {
		t.Error("the session is broken after errors")
	}
}

func TestEventsSelect(t *testing.T) {
	_, raw, store, b := files(t, 20_000)
	s := opened(t, Options{Policy: format.Policy{OnUnsorted: format.Error}})
	mid := b.T()[b.Len()/2]
	for _, path := range []string{raw, store} {
		for call, where := range map[string]string{
			fmt.Sprintf("time := '%d..%d'", b.T()[100], mid):                    fmt.Sprintf("t >= %d AND t < %d", b.T()[100], mid),
			"roi := [3, 4, 20, 30]":                                             "x BETWEEN 3 AND 20 AND y BETWEEN 4 AND 30",
			"polarity := 'on'":                                                  "p = 1",
			"predicate := 'x < 20 and y // 2 = 3'":                              "x < 20 AND y // 2 = 3",
			"{'roi': '3,4,20,30', 'polarity': 'off'}":                           "x BETWEEN 3 AND 20 AND y BETWEEN 4 AND 30 AND p = 0",
			"'polarity=off,where=x<7'":                                          "x < 7 AND p = 0",
			"roi := [3, 4, 20, 30], filter := ['dedup', 'refractory:period=1']": "",
		} {
			got := one(t, s, "SELECT count(*)::VARCHAR || ',' || sum(hash(t, x, y, p))::VARCHAR FROM events('"+path+"', "+call+")")
			if where == "" {
				continue
			}
			want := one(t, s, "SELECT count(*)::VARCHAR || ',' || sum(hash(t, x, y, p))::VARCHAR FROM '"+path+"' WHERE "+where)
			if got != want {
				t.Errorf("%s: %s, want %s", call, got, want)
			}
		}
	}
}

// A query that is canceled ends soon, and so does one that wants only some rows.
func TestCancel(t *testing.T) {
	_, raw, _, _ := files(t, 200_000)
	s := opened(t, Options{})
	for range 50 {
		if got := one(t, s, "SELECT count(*) FROM (FROM '"+raw+"' LIMIT 3)"); got != "3" {
			t.Fatal(got)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	rows, err := s.Query(ctx, "SELECT sum(a.t * b.x) FROM '"+raw+"' a, '"+raw+"' b WHERE a.x + b.y > 3")
	if err == nil {
		_, err = read(rows)
		_ = rows.Close()
	}
	if err == nil {
		t.Fatal("a canceled query ended well")
	}
	if got := one(t, s, "SELECT count(*) FROM '"+raw+"'"); got != "200000" {
		t.Error(got)
	}
}
