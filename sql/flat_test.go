//go:build duckdb

package sql

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
)

// resident is what this process has in memory, in bytes, after what is not used is given back; 0 where that is not told.
func resident() int64 {
	debug.FreeOSMemory()
	b, err := os.ReadFile("/proc/self/statm")
	fields := bytes.Fields(b)
	if err != nil || len(fields) < 2 {
		return 0
	}
	n, err := strconv.ParseInt(string(fields[1]), 10, 64)
	if err != nil {
		return 0
	}
	return n * int64(os.Getpagesize())
}

// A thousand queries in one session leave nothing behind: no memory, no goroutines, no open files.
func TestThousandQueries(t *testing.T) {
	if resident() == 0 {
		t.Skip("this system does not tell how much memory is resident")
	}
	_, raw, store, _ := files(t, 20_000)
	s := opened(t, Options{Threads: 2, Memory: 256 << 20})
	r := runner(t, s)
	ctx := context.Background()
	block := "stacked_histogram(t, x, y, p, 10, 480, 640, 10)" // 6 MB
	queries := []string{
		"SELECT count(*) FROM F WHERE t > 5", "SELECT t // 5000 AS w, " + block + " FROM F GROUP BY w", "SET evq_route = 'off'", "SELECT count(*) FROM F",
		"SELECT max(octet_length(b)) FROM (SELECT " + block + " AS b FROM F GROUP BY t // 5000)", "SELECT sum(window_events) FROM voxel_grid(F, '1ms')",
		"SELECT data FROM voxel_grid(F, '1ms') LIMIT 1", "SELECT count(*) FROM refractory_filter(F)", "SELECT x, zz FROM F", "SELECT event_count(t, x, y, p) FROM F",
		"SELECT tensor_sum(event_count(t, x, y, p, 48, 64), 'uint32') FROM F", "FROM windows(F, '1ms')", "SET evq_route = 'on'",
	}
	run := func(n int) {
		for i := range n {
			text := replaceFile(queries[i%len(queries)], []string{raw, store}[i/len(queries)%2])
			q, err := r.Run(ctx, text)
			if err != nil {
				continue // some are wrong on purpose
			}
			if err := q.Pass(ctx, func(arrow.RecordBatch) error { return nil }); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			if err := q.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	run(200)
	memory, goroutines := resident(), runtime.NumGoroutine()
	n := 800
	if testing.Short() {
		n = 200
	}
	run(n)
	if more := resident() - memory; more > 48<<20 {
		t.Errorf("%d queries left %d MiB behind, of %d", n, more>>20, memory>>20)
	}
	if more := runtime.NumGoroutine() - goroutines; more > 3 {
		t.Errorf("%d goroutines were left behind", more)
	}
	if s.held() != 0 {
		t.Errorf("groups hold %d bytes after their queries", s.held())
	}
}

// Queries that are stopped free what they hold, at whatever they are.
func TestCanceledQueriesFree(t *testing.T) {
	_, raw, store, _ := files(t, 300_000)
	s := opened(t, Options{Threads: 2, Memory: 512 << 20})
	for _, path := range []string{raw, store} {
		for i, text := range []string{
			"SELECT t // 100, stacked_histogram(t, x, y, p, 10, 48, 64, 10) FROM F GROUP BY 1", "SELECT data FROM stacked_histogram(F, '100us')",
			"SELECT event_count(t, x, y, p, 48, 64) FROM (SELECT e.t, e.x, e.y, e.p FROM F e, range(20))", "SELECT count(*) FROM F a JOIN F b USING (x)",
		} {
			for k := range 6 {
				ctx, cancel := context.WithTimeout(context.Background(), time.Duration(1+k*k*4)*time.Millisecond)
				rows, err := s.Query(ctx, replaceFile(text, path))
				if err == nil {
					_, err = read(rows)
					_ = rows.Close()
				}
				if err != nil && ctx.Err() == nil {
					t.Errorf("query %d: %v", i, err)
				}
				cancel()
			}
		}
	}
	if s.held() != 0 {
		t.Errorf("groups hold %d bytes after their queries were stopped", s.held())
	}
	if got := one(t, s, "SELECT count(*) FROM "+literal(raw)); got != fmt.Sprint(300_000) {
		t.Error(got)
	}
}
