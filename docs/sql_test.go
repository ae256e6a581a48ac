//go:build duckdb

package docs_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/evq-project/evq/io/table"
	"github.com/evq-project/evq/sql"
)

// sqlPlace is where the page has its functions, and its questions.
var sqlPlace = map[string]*regexp.Regexp{
	"functions": regexp.MustCompile(`(?s)<!-- functions -->\n.*?<!-- end of functions -->`),
	"questions": regexp.MustCompile(`(?s)<!-- questions -->\n.*?<!-- end of questions -->`),
}

// sqlQuestions are answered by docs/sql.md.
var sqlQuestions = []struct{ question, query string }{
	{"What is in a recording?", "SELECT * FROM 'drive.raw' LIMIT 3"},
	{"How many events are there, from when to when?", "SELECT count(*) AS events, min(t) AS first, max(t) AS last FROM 'drive.raw'"},
	{"How many of them are OFF and ON?", "SELECT p, count(*) AS events FROM 'drive.raw' GROUP BY p ORDER BY p"},
	{"How many events come in a second?", "SELECT round(rate(t)) AS rate, polarity_counts(p) AS polarity FROM 'drive.raw'"},
	{"How many events are there in each half second?", "SELECT t // 500000 AS w, count(*) AS events FROM 'drive.raw' GROUP BY w ORDER BY w"},
	{"Which are all windows, also those without events?", "SELECT \"window\", window_start, window_end, window_events FROM windows('lab.raw', '50ms', time := '0s..300ms')"},
	{"Which pixels fire most?", "SELECT x, y, count(*) AS events FROM 'drive.raw' GROUP BY x, y ORDER BY events DESC, y, x LIMIT 3"},
	{"What happens in a rectangle, for a while?", "SELECT count(*) AS events FROM events('drive.raw', time := '500ms..1s', roi := '16,12,47,35')"},
	{"How many events has each tile of 16 by 16 pixels?", "SELECT y // 16 AS tile_y, x // 16 AS tile_x, count(*) AS events FROM 'drive.raw' GROUP BY ALL ORDER BY ALL LIMIT 4"},
	{"What is left without hot pixels?", "SELECT count(*) AS events FROM hot_pixel_filter('drive.raw')"},
	{"And of a pixel that rests after each event?", "SELECT count(*) AS events FROM refractory_filter('lab.raw', period := '2ms')"},
	{"What do stacked histograms of a group hold?", "SELECT t // 500000 AS w, tensor_sum(stacked_histogram(t, x, y, p, 10, 48, 64, 10)) AS sum FROM 'drive.raw' GROUP BY w ORDER BY w"},
	{"And the same for each window, one after the other, in bounded memory?", "SELECT window_start, tensor_sum(data) AS sum FROM stacked_histogram('drive.raw', '500ms', bins := 10)"},
	{"What shape do blocks have?", "SELECT tensor_shape('voxel_grid:bins=5', 48, 64) AS shape, tensor_type('voxel_grid') AS type"},
	{"What does a voxel grid sum up to?", "SELECT round(tensor_sum(voxel_grid(t, x, y, p, 5, 48, 64), 'float32'), 2) AS sum FROM 'lab.raw'"},
	{"What stands in one element of a block?", "SELECT tensor_at(event_count(t, x, y, p, 48, 64), [48, 64], [12, 20], 'uint32') AS events FROM 'lab.raw'"},
	{"How long does a pixel wait for its next event?", "SELECT median(dt) AS median_us FROM (SELECT t - lag(t) OVER (PARTITION BY x, y ORDER BY t) AS dt FROM 'lab.raw')"},
	{"Where do ON and OFF differ most?", "SELECT x, y, sum(2 * p - 1) AS balance FROM 'lab.raw' GROUP BY x, y ORDER BY abs(balance) DESC, y, x LIMIT 3"},
	{"When did the triggers come?", "SELECT t, channel, rising FROM triggers('lab.raw') ORDER BY t LIMIT 3"},
	{"How many events follow each rising edge within 20 ms?", "SELECT e.t AS trigger, count(*) AS events FROM triggers('lab.raw') e JOIN 'lab.raw' r ON r.t >= e.t AND r.t < e.t + 20000 WHERE e.rising GROUP BY e.t ORDER BY e.t"},
	{"What do the labels say?", "SELECT t, x, y, w, h, class_id FROM labels('labels.npy') ORDER BY t, x LIMIT 3"},
	{"How many events lie in each labelled box, in the 50 ms before it?", "SELECT l.t, l.x, l.y, count(r.t) AS events FROM labels('labels.npy') l LEFT JOIN 'lab.raw' r ON r.t BETWEEN l.t - 50000 AND l.t AND r.x >= l.x AND r.x < l.x + l.w AND r.y >= l.y AND r.y < l.y + l.h GROUP BY ALL ORDER BY ALL LIMIT 4"},
	{"Which recordings are in a folder?", "SELECT path, format, width, height FROM recordings('*.raw') ORDER BY path"},
	{"How many events have several recordings together?", "SELECT count(*) AS events FROM events(['cam0.raw', 'cam1.raw'])"},
	{"How does DuckDB copy a recording to Parquet?", "COPY (FROM 'drive.raw') TO 'copy.parquet'; SELECT count(*) AS events FROM 'copy.parquet' WHERE t < 1000000"},
	{"What is the number of a window below time 0?", "SELECT -1 // 50000 AS towards_zero, floor_div(-1, 50000) AS down"},
}

// The page's functions are those of a session, and its questions have the answers that it says.
func TestSQLPage(t *testing.T) {
	evq := buildCommand(t)
	page := string(read(t, "docs/sql.md"))
	dir := t.TempDir()
	for _, name := range copied {
		if err := os.WriteFile(filepath.Join(dir, name), read(t, "docs/testdata/"+name), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	runShell(t, evq, dir, setup)
	s, err := sql.Open(t.Context(), sql.Options{Threads: 1, Memory: 512 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	want := map[string]string{"functions": sqlFunctions(s), "questions": ""}
	for _, q := range sqlQuestions {
		want["questions"] += fmt.Sprintf("\n### %s\n\n```sql\n%s\n```\n\n```text\n%s```\n", q.question, q.query, sqlAnswer(t, s, dir, q.query))
	}
	for name, place := range sqlPlace {
		if len(place.FindAllString(page, -1)) != 1 {
			t.Fatalf("docs/sql.md has no place for its %s", name)
		}
		page = place.ReplaceAllLiteralString(page, "<!-- "+name+" -->\n"+want[name]+"\n<!-- end of "+name+" -->")
	}
	checkPage(t, "sql.md", page)
}

// sqlFunctions are the functions as a table.
func sqlFunctions(s *sql.Session) string {
	cell := strings.NewReplacer("|", `\|`)
	text := "\n| function | kind | yields |\n| --- | --- | --- |\n"
	for _, f := range s.Functions() {
		text += fmt.Sprintf("| `%s` | %s | %s |\n", cell.Replace(f.Call), f.Kind, cell.Replace(f.Doc))
	}
	return text
}

// sqlAnswer is what a query prints, both by the engine where it can run it and by DuckDB.
func sqlAnswer(t *testing.T, s *sql.Session, dir, query string) string {
	t.Helper()
	back, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chdir(dir); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.Chdir(back) }()
	ctx := context.Background()
	r, err := s.Runner(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	all, _ := sql.Statements(query)
	last := len(all) - 1
	var answers [2]string
	for i, way := range []string{"SET evq_route = 'on'", "SET evq_route = 'off'"} {
		for _, one := range append([]string{way}, all[:last]...) {
			if err := r.Exec(ctx, one); err != nil {
				t.Fatalf("%s: %v", one, err)
			}
		}
		res, err := r.Run(ctx, all[last])
		if err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		var b strings.Builder
		out, err := table.New(&b, "pretty", res.Schema())
		if err == nil {
			err = res.Each(ctx, out.Write)
		}
		if err == nil {
			err = out.Close()
		}
		if e := res.Close(); err != nil || e != nil {
			t.Fatalf("%s: %v %v", query, err, e)
		}
		answers[i] = b.String()
	}
	if answers[0] != answers[1] {
		t.Errorf("%s\nby the engine\n%s\nby DuckDB\n%s", query, answers[0], answers[1])
	}
	return answers[0]
}
