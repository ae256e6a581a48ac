//go:build duckdb

package sql

import (
	"context"
	dbsql "database/sql"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/duckdb/duckdb-go/v2"

	"github.com/evq-project/evq/accel/acceltest"
	"github.com/evq-project/evq/engine"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/tensor"
)

// The benchmarks below hold SQL against what it is made of, in one run with two threads: the lazy frame, the decoder,
// DuckDB without evq. EVQ_BENCH_RECORDING names another recording of 1280x720 than the generated one, in EVT3.
const benchEvents = 5_000_000

// benchFiles are a recording as EVT3 and as a store, and how many events it has.
func benchFiles(b *testing.B) (raw, store string, events int64) {
	b.Helper()
	dir := b.TempDir()
	raw, store = filepath.Join(dir, "bench.raw"), filepath.Join(dir, "bench.parquet")
	g := event.Geometry{Width: 1280, Height: 720}
	var src event.Source
	src = eventtest.Source(eventtest.Scene(1, benchEvents, g), g, 1<<16)
	if name := os.Getenv("EVQ_BENCH_RECORDING"); name != "" {
		rec, err := engine.Open(name)
		if err != nil {
			b.Fatal(err)
		}
		defer rec.Close()
		src = rec.Source
	}
	rep, err := engine.Convert(context.Background(), src, store)
	if err == nil {
		_, err = engine.Convert(context.Background(), src, raw)
	}
	if err != nil {
		b.Fatal(err)
	}
	return raw, store, rep.Events
}

// timed reports how many events a way of asking reads in a second of time, and of CPU time.
func timed(b *testing.B, name string, events int64, do func() error) {
	b.Run(name, func(b *testing.B) {
		cpu := acceltest.ProcessorTime()
		for b.Loop() {
			if err := do(); err != nil {
				b.Fatal(err)
			}
		}
		n := float64(events) * float64(b.N) / 1e6
		b.ReportMetric(n/b.Elapsed().Seconds(), "Mevents/s")
		b.ReportMetric(n/(acceltest.ProcessorTime()-cpu).Seconds(), "Mevents/cpu-s")
		b.ReportMetric(0, "ns/op")
	})
}

// asked returns a query as something to be timed.
func asked(b *testing.B, s *Session, setting, query string) func() error {
	b.Helper()
	r := runner(b, s)
	if err := r.Exec(context.Background(), "SET evq_route = '"+setting+"'"); err != nil {
		b.Fatal(err)
	}
	return func() error {
		q, err := r.Run(context.Background(), query)
		if err != nil {
			return err
		}
		defer q.Close()
		return q.Pass(context.Background(), func(arrow.RecordBatch) error { return nil })
	}
}

// BenchmarkRouted is a query that the engine runs beside the lazy frame that does the same.
func BenchmarkRouted(b *testing.B) {
	raw, store, n := benchFiles(b)
	s := opened(b, Options{Threads: 2})
	rep, err := engine.Represent("stacked_histogram:bins=10")
	if err != nil {
		b.Fatal(err)
	}
	opts := []engine.Option{engine.Threads(2)}
	for kind, path := range map[string]string{"evt3": raw, "store": store} {
		timed(b, kind+"/frame", n, func() error {
			rec, err := engine.Open(path, opts...)
			if err != nil {
				return err
			}
			defer rec.Close()
			return rec.Frame().Window(engine.Every(50*time.Millisecond)).Represent(rep).Each(context.Background(), func(tensor.Block) error { return nil }, opts...)
		})
		timed(b, kind+"/sql", n, asked(b, s, "on", "SELECT t // 50000 AS w, stacked_histogram(t, x, y, p, 10, 720, 1280, 10) FROM '"+path+"' GROUP BY w"))
	}
}

// BenchmarkAggregate is the aggregate in DuckDB over a store, with large blocks and with small ones.
func BenchmarkAggregate(b *testing.B) {
	_, store, n := benchFiles(b)
	s := opened(b, Options{Threads: 2})
	for _, c := range []struct{ name, columns, size string }{{"360x640", "t, x // 2, y // 2, p", "360, 640"}, {"36x64", "t, x // 20, y // 20, p", "36, 64"}} {
		call := fmt.Sprintf("stacked_histogram(%s, 10, %s, 10)", c.columns, c.size)
		timed(b, c.name, n, asked(b, s, "off", "SELECT t // 50000 AS w, octet_length("+call+") FROM '"+store+"' GROUP BY w"))
	}
}

// BenchmarkCounts counts by SQL, by the decoder's own reading, and by DuckDB without evq where it can read a file.
func BenchmarkCounts(b *testing.B) {
	raw, store, n := benchFiles(b)
	s := opened(b, Options{Threads: 2})
	plain, err := duckdb.NewConnector("", nil)
	if err != nil {
		b.Fatal(err)
	}
	db := dbsql.OpenDB(plain)
	defer db.Close()
	if _, err := db.Exec("SET threads = 2"); err != nil {
		b.Fatal(err)
	}
	timed(b, "evt3/decode", n, func() error {
		rec, err := engine.Open(raw, engine.Threads(2))
		if err != nil {
			return err
		}
		defer rec.Close()
		_, err = event.Each(context.Background(), rec.Source, event.Request{Box: event.Everything, Threads: 2}, func(event.Batch) error { return nil })
		return err
	})
	for _, c := range []struct{ name, query string }{
		{"all", "SELECT count(*) FROM F"}, {"time", "SELECT count(*) FROM F WHERE t >= 500000 AND t < 1500000"},
		{"roi", "SELECT count(*) FROM F WHERE x BETWEEN 100 AND 200 AND y < 100"}, {"on", "SELECT count(*) FROM F WHERE p = 1"},
		{"windows", "SELECT t // 50000 AS w, count(*) FROM F GROUP BY w"},
	} {
		timed(b, "evt3/"+c.name+"/routed", n, asked(b, s, "on", replaceFile(c.query, raw)))
		timed(b, "evt3/"+c.name+"/duckdb", n, asked(b, s, "off", replaceFile(c.query, raw)))
		timed(b, "store/"+c.name+"/routed", n, asked(b, s, "on", replaceFile(c.query, store)))
		timed(b, "store/"+c.name+"/duckdb", n, asked(b, s, "off", replaceFile(c.query, store)))
		text := replaceFile(c.query, store)
		timed(b, "store/"+c.name+"/plain", n, func() error {
			rows, err := db.Query(text)
			if err != nil {
				return err
			}
			defer rows.Close()
			_, err = read(rows)
			return err
		})
	}
}
