//go:build duckdb

package sql

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evq-project/evq/accel"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/tensor"
	"github.com/evq-project/evq/udf"
)

func TestReadOnly(t *testing.T) {
	dir, _, store, _ := files(t, 2000)
	s := opened(t, Options{ReadOnly: true})
	out := filepath.Join(dir, "out")
	for _, q := range []string{
		"COPY (SELECT 1) TO '" + out + "'", "SELECT 1; COPY (SELECT 1) TO '" + out + "'", "/* x */ copy (SELECT 1) TO '" + out + "'",
		"EXPLAIN ANALYZE COPY (SELECT 1) TO '" + out + "'", "EXPLAIN (ANALYZE) COPY (SELECT 1) TO '" + out + "'", "PREPARE a AS COPY (SELECT 1) TO '" + out + "'",
		"EXPORT DATABASE '" + out + "'", "ATTACH '" + out + "'", "INSTALL httpfs", "LOAD httpfs", "SET threads = 3", "PRAGMA threads = 3",
		"SELECT * FROM enable_logging(storage = 'file', storage_path = '" + out + "')", "CALL enable_logging()", "SET GLOBAL temp_directory = '" + out + "'",
		"SELECT count(*) FROM 'https://localhost:1/a.parquet'", "CREATE SECRET (TYPE s3)", "WITH a AS (SELECT 1) SELECT * FROM \"enable_logging\"()",
	} {
		fails(t, s, q)
	}
	if entries, _ := filepath.Glob(out + "*"); len(entries) > 0 {
		t.Error("a query that only reads wrote", entries)
	}
	for _, q := range []string{
		"SELECT count(*) FROM '" + store + "'", "WITH a AS (SELECT 1) FROM a", "EXPLAIN SELECT 1", "EXPLAIN ANALYZE SELECT 1", "(SELECT 1)", "DESCRIBE SELECT 1",
		"SUMMARIZE SELECT 1", "CREATE TABLE a AS SELECT 1 AS v", "INSERT INTO a VALUES (3)", "CREATE VIEW b AS FROM a", "SHOW TABLES", "VALUES (1)",
	} {
		if _, err := table(s, q); err != nil {
			t.Errorf("%s: %v", q, err)
		}
	}
}

func TestAllow(t *testing.T) {
	dir, raw, store, _ := files(t, 2000)
	other, otherRaw, otherStore, _ := files(t, 2000)
	link := filepath.Join(dir, "link.raw")
	if err := os.Symlink(otherRaw, link); err != nil {
		t.Skip(err)
	}
	s := opened(t, Options{Allow: []string{dir}})
	for _, from := range []string{literal(raw), literal(store), "recordings('" + dir + "/rec*')", "windows('" + raw + "')"} {
		if _, err := table(s, "SELECT count(*) FROM "+from); err != nil {
			t.Errorf("%s: %v", from, err)
		}
	}
	for _, from := range []string{
		literal(otherRaw), literal(otherStore), literal(dir + "/../" + filepath.Base(other) + "/rec.raw"), literal(link), "events('" + otherRaw + "')",
		"read_text('" + otherRaw + "')", "evq_store('" + otherStore + "')", "recordings('" + other + "/*')", "triggers('" + otherRaw + "')",
		"labels('" + other + "/a.npy')", "hot_pixel_filter('" + raw + "', mask := '" + other + "/m.npy')", "events('" + raw + "', filter := 'hot_pixel:mask=" + other + "/m.npy')",
		"windows('" + raw + "', ends := '" + other + "/a.npy', span := '1ms')", "stacked_histogram('" + otherRaw + "', '1ms')",
	} {
		fails(t, s, "SELECT count(*) FROM "+from)
	}
	// Patterns tell nothing of what lies outside, not even whether it is there.
	for _, pattern := range []string{"/*", "/rec.r?w", "/nothing*", "/../" + filepath.Base(dir) + "/*/../../" + filepath.Base(other) + "/*"} {
		_, err := table(s, "SELECT count(*) FROM events('"+other+pattern+"')")
		if err == nil || !strings.Contains(err.Error(), "refused: the files like") {
			t.Errorf("%s: %v", pattern, err)
		}
		if err != nil && strings.Contains(err.Error(), "rec.raw") {
			t.Errorf("%s tells the name of a file: %v", pattern, err)
		}
	}
	if got := one(t, s, "SELECT error LIKE 'refused%' AND format IS NULL FROM recordings('"+dir+"') WHERE path = '"+link+"'"); got != "true" {
		t.Error("a folder's link that leads outside was followed")
	}
	fails(t, s, "COPY (SELECT 1) TO '"+other+"/out.csv'")
	fails(t, s, "SET enable_external_access = true")
	one(t, opened(t, Options{Allow: []string{raw}}), "SELECT count(*) FROM '"+raw+"'")
	fails(t, opened(t, Options{Allow: []string{}}), "SELECT count(*) FROM '"+raw+"'")
}

// A panicky representation is a program's own that fails in the worst way.
type panicky struct{ udf.Representation }

func (panicky) String() string { return "panicky" }
func (panicky) Layout(g event.Geometry) tensor.Layout {
	return tensor.Layout{Name: "panicky", Shape: tensor.Shape{1}}
}
func (panicky) Columns() event.Columns                                 { return event.AllColumns }
func (panicky) Open(event.Geometry, accel.Device) (udf.Encoder, error) { return panickyEncoder{}, nil }

type panickyEncoder struct{}

func (panickyEncoder) Encode(context.Context, event.Windowed, []tensor.Block) error {
	panic("a defect")
}
func (panickyEncoder) OffSensor() int64 { return 0 }
func (panickyEncoder) Close() error     { return nil }

func TestOwnFunctionsAndPanics(t *testing.T) {
	_, raw, store, _ := files(t, 2000)
	own := udf.Entry{Name: "panicky", Doc: "fails", New: func(udf.Args) (udf.Representation, error) { return panicky{}, nil }}
	s := opened(t, Options{Functions: Functions{Representations: []udf.Entry{own}}})
	fails(t, s, "SELECT panicky(t, x, y, p, 48, 64) FROM '"+store+"'", "a defect")
	if got := one(t, s, "SELECT count(*) FROM '"+raw+"'"); got != "2000" {
		t.Error(got)
	}
	if _, err := Open(context.Background(), Options{Functions: Functions{Representations: []udf.Entry{{Name: "events"}}}}); err == nil {
		t.Error("a name that is taken was taken again")
	}
}

func TestRefusalsAreErrors(t *testing.T) {
	s := opened(t, Options{})
	_, err := s.Query(context.Background(), "SELECT sae(t, x, y, p, 4, 4 ORDER BY t) FROM e")
	if !errors.Is(err, ErrRefused) {
		t.Error(err)
	}
	for _, fine := range []string{
		"SELECT 'sae(t order by t)' AS s", "SELECT /* sae(t order by t) */ 1", "SELECT count(*) OVER () FROM range(3) ORDER BY 1",
		"SELECT $$it's$$, E'it\\'s', 1 AS \"sae(\"", "SELECT 1 -- sae(t order by t)",
	} {
		if _, err := table(s, fine); err != nil && !errors.Is(err, ErrRefused) {
			t.Errorf("%s: %v", fine, err)
		}
	}
	if _, err := s.AST(context.Background(), "SELECT 1"); err != nil {
		t.Error(err)
	}
	if _, err := s.AST(context.Background(), "CREATE TABLE a (b INTEGER)"); !errors.Is(err, ErrNoSelect) {
		t.Error(err)
	}
}
