//go:build duckdb

package sql

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evq-project/evq/io/event/eventtest"
)

func TestListings(t *testing.T) {
	dir, raw, store, b := files(t, 3000)
	s := opened(t, Options{})
	got, err := table(s, "SELECT path, format, events, width, height, first_t, last_t, error FROM recordings('"+dir+"', full := true) ORDER BY path")
	first, last := b.T()[0], b.T()[b.Len()-1]
	want := fmt.Sprint([][]any{
		{store, "parquet", b.Len(), sensor.Width, sensor.Height, first, last, nil},
		{raw, "evt3", b.Len(), sensor.Width, sensor.Height, first, last, nil},
	})
	if err != nil || fmt.Sprint(got) != want {
		t.Errorf("%v, %v\nwant %s", got, err, want)
	}
	if err := os.Symlink(filepath.Join(dir, "nothing"), filepath.Join(dir, "lost.raw")); err == nil {
		if got := one(t, s, "SELECT count(*) FROM recordings('"+dir+"/*') WHERE error LIKE '%no such file%'"); got != "1" {
			t.Errorf("a link that leads nowhere is %s rows", got)
		}
	}
	fails(t, s, "FROM recordings('"+filepath.Join(dir, "nothing.raw")+"')", "nothing.raw")
	if got := one(t, s, "SELECT events IS NULL FROM recordings('"+raw+"')"); got != "true" {
		t.Error("the header of a raw recording tells how many events there are")
	}
	if got := one(t, s, "SELECT sum(window_events)::BIGINT FROM windows('"+raw+"', '1ms')"); got != fmt.Sprint(b.Len()) {
		t.Errorf("the windows hold %s events", got)
	}
	if got := one(t, s, "SELECT count(*) FROM windows('"+raw+"', count := 1000)"); got != "3" {
		t.Errorf("%s windows of 1000 events", got)
	}
	for _, f := range []string{"refractory_filter('%s', '1ms')", "refractory_filter('%s', period := '1ms', against := 'seen')", "hot_pixel_filter('%s')", "background_activity_filter('%s', 'window=2ms')", "drop_filter('%s', 0.5)"} {
		if got := one(t, s, fmt.Sprintf("SELECT count(*) BETWEEN 1 AND %d FROM "+f, b.Len(), raw)); got != "true" {
			t.Errorf("%s: %s", f, got)
		}
	}
}

// A table of DuckDB's own stays one, though its values could be events.
func TestCSV(t *testing.T) {
	dir := t.TempDir()
	s := opened(t, Options{})
	for name, want := range map[string]string{"t,x,y,p\n7,2,3,1\n": "BIGINT INTEGER 7", "1,2,3,1\n4,5,6,0\n": "BIGINT BIGINT 1", "a,b,c,d\n9,2,3,1\n": "BIGINT BIGINT 9"} {
		path := filepath.Join(dir, fmt.Sprintf("%d.csv", len(name)+int(name[0])))
		if err := os.WriteFile(path, []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := table(s, "SELECT typeof(#1), typeof(#2), #1 FROM '"+path+"' LIMIT 1")
		if err != nil || strings.Trim(fmt.Sprint(got), "[]") != want {
			t.Errorf("%q: %v, %v; want %s", name, got, err, want)
		}
	}
}

func TestData(t *testing.T) {
	data := eventtest.Data(t)
	s := opened(t, Options{})
	raw := filepath.Join(data, "evt3_from_ros", "evt3_trigger_1280x720.raw")
	for query, want := range map[string]string{
		"SELECT count(*) FROM '" + raw + "'":                                                       "82469",
		"SELECT sum(x)::BIGINT FROM '" + raw + "'":                                                 "42078718",
		"SELECT count(*) + 1000 FROM triggers('" + raw + "')":                                      "1002",
		"SELECT octet_length(stacked_histogram(t, x, y, p, 10, 720, 1280, 10)) FROM '" + raw + "'": "18432000",
	} {
		if got := one(t, s, query); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	labels, err := filepath.Glob(filepath.Join(data, "rvt_golden", "labels", "*_bbox.npy"))
	if err != nil || len(labels) == 0 {
		t.Skip("no labels")
	}
	if got := one(t, s, "SELECT count(*) > 0 AND min(w) > 0 FROM labels('"+labels[0]+"')"); got != "true" {
		t.Error(got)
	}
}
