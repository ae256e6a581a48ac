//go:build duckdb

package sql

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/evq-project/evq/engine"
	"github.com/evq-project/evq/udf"
	"github.com/evq-project/evq/udf/eventcount"
)

// A file is found whatever its name has in it, on every way in.
func TestPaths(t *testing.T) {
	dir, raw, store, _ := files(t, 2000)
	s := opened(t, Options{})
	for _, name := range []string{"a b", "o'clock", `say "hi"`, "50% off", "%s%d", "größe 日本", "x;y", "-- c", "a[1]?", "back\\slash", "$1", "{b}", "#h"} {
		for _, of := range []string{raw, store} {
			path := filepath.Join(dir, name+filepath.Ext(of))
			if err := os.Link(of, path); err != nil {
				t.Fatal(err)
			}
			for _, from := range []string{literal(path), "events(" + literal(path) + ")", "(SELECT * FROM events([" + literal(path) + "]))"} {
				if n := one(t, s, "SELECT count(*) FROM "+from); n != "2000" {
					t.Errorf("%s: %s events", from, n)
				}
			}
			query := "SELECT t // 2000 AS w, event_count(t, x, y, p, 48, 64) AS c FROM " + literal(path) + " GROUP BY w"
			if got, err := table(s, query); err != nil || len(got) == 0 {
				t.Errorf("%s: %d rows, %v", query, len(got), err)
			}
		}
	}
}

// tally is a representation of a program's own, which evq knows by no name.
type tally struct{ eventcount.Count }

func (tally) String() string { return "tally" }

// A program's own representation gives the engine's bytes on every way: routed, as an aggregate of DuckDB, as a table
// function.
func TestOwnRepresentation(t *testing.T) {
	_, raw, store, _ := files(t, 20_000)
	own := udf.Entry{Name: "tally", Doc: "counts", New: func(udf.Args) (udf.Representation, error) { return tally{}, nil }}
	s := opened(t, Options{Functions: Functions{Representations: []udf.Entry{own}}})
	rec, err := engine.Open(store)
	if err != nil {
		t.Fatal(err)
	}
	defer rec.Close()
	want, err := rec.Frame().Window(engine.Every(2 * time.Millisecond)).Represent(tally{}).Collect(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{raw, store} {
		for _, query := range []string{
			fmt.Sprintf("SELECT t // 2000 AS w, tally(t, x, y, p, 48, 64) FROM '%s' GROUP BY w ORDER BY w", path),
			fmt.Sprintf("SELECT t // 2000 AS w, tally(t, x, y, p, 48, 64) FROM (SELECT * FROM '%s' WHERE hash(t) >= 0) GROUP BY w ORDER BY w", path),
			fmt.Sprintf("SELECT window_start // 2000, data FROM tally('%s', '2ms')", path),
		} {
			got, err := table(s, query)
			if err != nil {
				t.Errorf("%s: %v", query, err)
				continue
			}
			at := map[int64][]byte{}
			for _, row := range got {
				at[row[0].(int64)] = row[1].([]byte)
			}
			for _, b := range want {
				if data, ok := at[b.Start/2000]; b.Events > 0 && (!ok || !bytes.Equal(data, b.Data)) {
					t.Errorf("%s: window at %d differs", query, b.Start)
					break
				}
			}
		}
	}
}
