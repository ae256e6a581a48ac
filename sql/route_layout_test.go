//go:build duckdb

package sql

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// A query tells the shape of its blocks by the calls in it, or says that it does not.
func TestLayout(t *testing.T) {
	r := runner(t, opened(t, Options{}))
	_, raw, store, _ := files(t, 1000)
	for call, want := range map[string]string{
		"SELECT t // 9 AS w, stacked_histogram(t, x, y, p, 3, 48, 64, 10) FROM F GROUP BY w": "uint8 (6, 48, 64)",
		"WITH a AS (SELECT voxel_grid(t, x, y, p, 5, 20, 30) AS v FROM F) SELECT v FROM a":   "float32 (5, 20, 30)",
		"SELECT event_count(t, x, y, p, 48, 64) FILTER (p = 1) FROM F":                       "uint32 (48, 64)",
		"SELECT data FROM stacked_histogram(F, '1ms', bins := 2)":                            "uint8 (4, 48, 64)",
		"SELECT data FROM represent(F, 'event_count', '1ms')":                                "uint32 (48, 64)",
		"SELECT 'a'::BLOB": "",
		"SELECT stacked_histogram(t, x, y, p, 3, 48, 64, 10), voxel_grid(t, x, y, p, 5, 48, 64) FROM F":                    "",
		"SELECT stacked_histogram(t, x, y, p, 3, 48, 64, min(x)) FROM F":                                                   "",
		"SELECT data FROM stacked_histogram('no such file', '1ms')":                                                        "",
		"SELECT stacked_histogram(t, x, y, p, 3, 48, 64, 10), stacked_histogram(t, x, y, p, 3, 48, 64, 20) FROM F LIMIT 1": "uint8 (6, 48, 64)",
	} {
		for _, f := range []string{raw, store} {
			text := strings.ReplaceAll(call, "F ", literal(f)+" ")
			text = strings.ReplaceAll(strings.ReplaceAll(text, "(F,", "("+literal(f)+","), "FROM F)", "FROM "+literal(f)+")")
			if strings.HasSuffix(text, "FROM F") {
				text = strings.TrimSuffix(text, "F") + literal(f)
			}
			l, err := r.Layout(t.Context(), text)
			got := fmt.Sprintf("%v %v", l.DType, l.Shape)
			if want == "" && !errors.Is(err, ErrNoLayout) || want != "" && (err != nil || got != want) {
				t.Errorf("%s: %s, %v; want %q", text, got, err, want)
			}
		}
	}
	if _, err := r.Layout(t.Context(), "DROP TABLE a"); !errors.Is(err, ErrNoSelect) {
		t.Errorf("a statement that is no SELECT: %v", err)
	}
}
