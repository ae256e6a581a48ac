//go:build duckdb

package sql

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/evq-project/evq/engine"
	"github.com/evq-project/evq/io/event/eventtest"
)

func runner(t testing.TB, s *Session) *Runner {
	t.Helper()
	r, err := s.Runner(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}

// rowsOf runs a statement and returns its columns and its rows as text, which BLOBs are part of.
func rowsOf(r *Runner, text string) (route Route, head string, rows []string, err error) {
	q, err := r.Run(context.Background(), text)
	if err != nil {
		return route, "", nil, err
	}
	defer func() { _ = q.Close() }()
	each := q.Each
	if len(text)%2 == 0 {
		each = q.Pass
	}
	err = each(context.Background(), func(rec arrow.RecordBatch) error {
		for i := range int(rec.NumRows()) {
			var b strings.Builder
			for _, c := range rec.Columns() {
				b.WriteString(c.ValueStr(i) + "|")
			}
			rows = append(rows, b.String())
		}
		return nil
	})
	return q.Route(), q.Schema().String(), rows, err
}

// differ runs a query in both ways and reports where the rows are not the same ones.
func differ(t *testing.T, r *Runner, text string, native bool) {
	t.Helper()
	ctx := context.Background()
	route, head, got, err := rowsOf(r, text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	if route.Native != native {
		t.Errorf("%s\n is run as %v", text, route)
	}
	if err := r.Exec(ctx, "SET evq_route = 'off'"); err != nil {
		t.Fatal(err)
	}
	off, wantHead, want, err := rowsOf(r, text)
	if err != nil {
		t.Fatal(err)
	}
	if off.Native {
		t.Fatalf("%s is run by the engine though evq_route is off", text)
	}
	if err := r.Exec(ctx, "SET evq_route = 'on'"); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text, "ORDER BY") {
		slices.Sort(got)
		slices.Sort(want)
	}
	if head != wantHead {
		t.Errorf("%s\n columns %s\n want    %s", text, head, wantHead)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s (%v): %d rows, %d unrouted; they differ", text, route, len(got), len(want))
	}
}

// What the engine runs in DuckDB's place has DuckDB's rows, for any window, condition and representation.
func TestRouted(t *testing.T) {
	s := opened(t, Options{Threads: 2, Memory: 1 << 30})
	r := runner(t, s)
	_, raw, store, b := files(t, 20_000)
	rng := rand.New(rand.NewPCG(1, 2))
	span := b.T()[b.Len()-1]
	for i := range 40 {
		file := []string{raw, store}[i%2]
		window := 1 + rng.Int64N(span)
		where := ""
		if i%3 > 0 {
			where = "WHERE " + conditionOf(rng, span)
		}
		column := []string{
			"stacked_histogram(t,x,y,p,10,48,64,10)", "stacked_histogram(t, x, y, p, 3, 24, 32, 255, {'overflow': 'wrap'})", "count(*)",
			"mixed_density(t,x,y,p,4,48,64)", "event_frame(t,x,y,p,2,48,64)", "event_count(t,x,y,p,48,64)", "voxel_grid(t,x,y,p,5,48,64)",
			"bina_rep(t,x,y,p,48,64)", "count(*) AS n, stacked_histogram(t,x,y,p,48,64), event_count(t,x,y,p,48,64)",
		}[i%9]
		q := fmt.Sprintf("SELECT t//%d AS w, %s FROM '%s' %s GROUP BY w", window, column, file, where)
		if i%5 == 0 {
			q = fmt.Sprintf("SELECT %s FROM '%s' %s", column, file, where)
		}
		if i%7 == 0 {
			q = strings.Replace(q, "GROUP BY w", "GROUP BY ALL ORDER BY w", 1)
		}
		differ(t, r, q, true)
	}
}

// conditionOf makes a condition such as ROIs and ranges of time are.
func conditionOf(rng *rand.Rand, span int64) string {
	parts := []string{
		fmt.Sprintf("t >= %d AND t < %d", rng.Int64N(span), rng.Int64N(2*span)), fmt.Sprintf("x BETWEEN %d AND %d", rng.IntN(64), rng.IntN(90)),
		fmt.Sprintf("%d > y", rng.IntN(60)), "p = 1", "NOT (x = 3 OR y <> 5 AND p = 0)", "x IN (1, 2, 3, 40, 41, 42, -7)", "x > -5 AND y < 100000",
		fmt.Sprintf("(x < %d OR y >= %d)", rng.IntN(64), rng.IntN(48)), "t > 5000000000",
	}
	rng.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
	return strings.Join(parts[:1+rng.IntN(3)], " AND ")
}

// The forms that a query may be written in.
func TestRoutedForms(t *testing.T) {
	s := opened(t, Options{Threads: 2})
	r := runner(t, s)
	_, raw, store, _ := files(t, 5000)
	h := "stacked_histogram(t,x,y,p,2,48,64,10)"
	for _, c := range []struct {
		text   string
		native bool
	}{
		{"SELECT t//1000 AS w, " + h + " FROM '%s' GROUP BY w ORDER BY w", true},
		{"SELECT t//1000, " + h + " FROM '%s' GROUP BY t//1000 ORDER BY 1", true},
		{"SELECT " + h + " h, t//1000 w FROM '%s' GROUP BY 2 ORDER BY w ASC LIMIT 3", true},
		{"SELECT e.t//1000 AS w, count(e.x) FROM '%s' e WHERE e.y < 9 GROUP BY ALL ORDER BY ALL", false},
		{"SELECT e.t//1000 AS w, count(e.x) FROM '%s' e WHERE e.y < 9 GROUP BY ALL ORDER BY w", true},
		{"SELECT t//1000 AS w, count(*) FROM events('%s') GROUP BY w", true},
		{"SELECT count(*) FROM '%s' WHERE t >= 100 AND t < 2000 AND x BETWEEN 3 AND 40 AND y BETWEEN 2 AND 30", true},
		{"SELECT count(*) FROM '%s' WHERE x > 1000", true},
		{"SELECT t//1000 w, count(*) FROM '%s' WHERE x > 1000 GROUP BY w", true},
		{"SELECT " + h + " FROM '%s' WHERE x > 1000", true},
		{"SELECT t//1000 AS w, sum(x) FROM '%s' GROUP BY w", false},
		{"SELECT (t+5)//1000 AS w, count(*) FROM '%s' GROUP BY w", false},
		{"SELECT t//1000 AS w, count(DISTINCT x) FROM '%s' GROUP BY w", false},
		{"SELECT t//1000 AS w, count(*) FROM '%s' GROUP BY w HAVING count(*) > 10", false},
		{"SELECT t//1000 AS w, count(*) FILTER (x > 3) FROM '%s' GROUP BY w", false},
		{"SELECT t//1000 AS w, count(*) FROM '%s' GROUP BY w ORDER BY w DESC", false},
		{"SELECT t//1000 AS w, count(*) FROM '%s' GROUP BY w ORDER BY 2, 1", false},
		{"SELECT t//1000 AS w, count(*) FROM '%s' WHERE x*2 < 10 GROUP BY w", false},
		{"SELECT t//1000 AS t, count(*) FROM '%s' GROUP BY t//1000", true},
		{"SELECT t//1000 AS x, count(*) FROM '%s' GROUP BY ALL", true},
		{"SELECT t//1000 AS w, time_surface(t,x,y,p,48,64) FROM '%s' GROUP BY w", false},
		{"SELECT t//1000 AS w, voxel_grid(t,x,y,p,48,64,'timebase=window') FROM '%s' GROUP BY w", false},
		{"WITH a AS (SELECT * FROM '%s') SELECT t//1000 AS w, count(*) FROM a GROUP BY w", false},
		{"SELECT count(*) FROM (SELECT t//1000 AS w, count(*) FROM '%s' GROUP BY w)", false},
	} {
		for _, f := range []string{raw, store} {
			whole := strings.HasPrefix(c.text, "SELECT count(*) FROM '%s'") // which DuckDB does itself where it reads the file
			differ(t, r, fmt.Sprintf(c.text, f), c.native && !(whole && f == store))
		}
	}
}

// Times before 0 are cut towards 0 by //, as windows are not: the engine leaves them to DuckDB, unless the condition
// rules them out.
func TestRoutedNegative(t *testing.T) {
	b := eventtest.Scene(3, 3000, sensor)
	times := b.T()
	middle := times[len(times)/2]
	for i := range times {
		times[i] -= middle
	}
	path := filepath.Join(t.TempDir(), "negative.parquet")
	if _, err := engine.Convert(context.Background(), eventtest.Source(b, sensor, 512), path); err != nil {
		t.Fatal(err)
	}
	r := runner(t, opened(t, Options{}))
	differ(t, r, "SELECT t//777 AS w, count(*) FROM '"+path+"' GROUP BY w", false)
	differ(t, r, "SELECT t//777 AS w, count(*) FROM '"+path+"' WHERE t >= 0 GROUP BY w", true)
	differ(t, r, "SELECT count(*) FROM events('"+path+"')", true)
}

// A table of the file's name is read instead of it, and settings that turn the order around do.
func TestRoutedHidden(t *testing.T) {
	s := opened(t, Options{})
	r := runner(t, s)
	_, raw, _, _ := files(t, 2000)
	ctx := context.Background()
	if err := r.Exec(ctx, "SET default_order = 'DESC'"); err != nil {
		t.Fatal(err)
	}
	differ(t, r, "SELECT t//1000 w, count(*) FROM '"+raw+"' GROUP BY w ORDER BY w", false)
	differ(t, r, "SELECT t//1000 w, count(*) FROM '"+raw+"' GROUP BY w ORDER BY w ASC", true)
	if err := r.Exec(ctx, `CREATE TABLE "`+raw+`" AS SELECT 5::BIGINT t, 1 x, 1 y, 1 p`); err != nil {
		t.Fatal(err)
	}
	differ(t, r, "SELECT t//1000 w, count(*) FROM '"+raw+"' GROUP BY w", false)
}

// EXPLAIN says who runs a query and why.
func TestRouteExplained(t *testing.T) {
	r := runner(t, opened(t, Options{}))
	_, raw, _, _ := files(t, 2000)
	for text, want := range map[string]string{
		"EXPLAIN SELECT t//1000 w, stacked_histogram(t,x,y,p,48,64) FROM '" + raw + "' GROUP BY w": "native: windows of 1ms, stacked_histogram(bins=10, cutoff=10)",
		"EXPLAIN SELECT avg(x) FROM '" + raw + "'":                                                 "duckdb: it has a column that is neither",
	} {
		_, head, rows, err := rowsOf(r, text)
		if err != nil {
			t.Fatal(err)
		}
		all := strings.Join(rows, "\n")
		if !strings.Contains(all, want) || !strings.Contains(head, "explain_value") || len(rows) < 2 {
			t.Errorf("%s:\n%s\n%s\nwant %s", text, head, all, want)
		}
	}
	if err := r.Exec(context.Background(), "SET evq_route = 'of'"); err == nil || !strings.Contains(err.Error(), "'on' or 'off'") {
		t.Errorf("a wrong setting: %v", err)
	}
}

// A query that is stopped leaves the runner as it was.
func TestRunCanceled(t *testing.T) {
	s := opened(t, Options{})
	r := runner(t, s)
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	q, err := r.Run(ctx, "SELECT sum(a.range * b.range) FROM range(100000000) a, range(1000000) b")
	if err == nil {
		err = q.Each(ctx, func(arrow.RecordBatch) error { return nil })
		_ = q.Close()
	}
	if err == nil {
		t.Fatal("a query that was stopped has a result")
	}
	if _, _, rows, err := rowsOf(r, "SELECT 42"); err != nil || rows[0] != "42|" {
		t.Fatal(rows, err)
	}
}

// Records that are retained stay as they were, whatever comes after them; also blocks too large to share a record.
func TestRecordsRetained(t *testing.T) {
	r := runner(t, opened(t, Options{Threads: 2}))
	_, raw, _, _ := files(t, 5000)
	for _, size := range []string{"48, 64", "1200, 1600"} {
		text := "SELECT t // 500 AS w, stacked_histogram(t, x, y, p, 3, " + size + ", 10) FROM '" + raw + "' GROUP BY w ORDER BY w LIMIT 6"
		var passed, kept [][32]byte
		sums := func(rec arrow.RecordBatch) (out [][32]byte) {
			for i := range int(rec.NumRows()) {
				out = append(out, sha256.Sum256(rec.Column(1).(*array.Binary).Value(i)))
			}
			return out
		}
		q, err := r.Run(context.Background(), text)
		if err != nil {
			t.Fatal(err)
		}
		if err := q.Pass(context.Background(), func(rec arrow.RecordBatch) error { passed = append(passed, sums(rec)...); return nil }); err != nil {
			t.Fatal(err)
		}
		_ = q.Close()
		if q, err = r.Run(context.Background(), text); err != nil {
			t.Fatal(err)
		}
		var held []arrow.RecordBatch
		if err := q.Each(context.Background(), func(rec arrow.RecordBatch) error { rec.Retain(); held = append(held, rec); return nil }); err != nil {
			t.Fatal(err)
		}
		_ = q.Close()
		for _, rec := range held {
			kept = append(kept, sums(rec)...)
			rec.Release()
		}
		if !q.Route().Native || len(passed) != 6 || !slices.Equal(passed, kept) {
			t.Errorf("%s: %v: %d blocks passed, %d kept, or they differ", text, q.Route(), len(passed), len(kept))
		}
	}
}
