//go:build duckdb

package sql

import (
	"context"
	"strings"
	"testing"
)

// DuckDB's own errors point at the reader's text, also in a statement that was prepared or looked at for a route.
func TestErrorsPoint(t *testing.T) {
	_, raw, store, _ := files(t, 1000)
	s := opened(t, Options{})
	r := runner(t, s)
	ones := strings.Repeat("1 + ", 50)
	for _, given := range []string{
		"SELECT zz FROM F", "SELECT t FROM F\nWHERE zz > 3", "SELECT e.t\r\nFROM F e, F f\r\nWHERE e.t = f.t AND zz", "SELECT\t\t'é漢字', zz FROM F",
		"SELECT " + ones + "zz + " + ones + "1 FROM F", "SELECT * FROM events(F, 'polarity=on') a, F b WHERE a.t = b.t AND zz", "SELECT t FROM F WHERE ) zz",
		"SELECT zz(t) FROM F", "FROM zz('x')", "SELECT t // 50 AS w, event_count(t, x, y, zz, 4, 4) FROM F GROUP BY w",
	} {
		for _, path := range []string{raw, store} {
			text := replaceFile(given, path)
			_, one := s.DB().Prepare(text)
			_, two := s.Query(context.Background(), text)
			_, three := r.Run(context.Background(), text)
			for i, err := range []error{one, two, three} {
				if err == nil {
					t.Fatalf("%s: no error", text)
				}
				want := "zz"
				if strings.Contains(given, ")") && strings.Contains(given, ") zz") {
					want = ") zz"
				}
				if !points(err.Error(), want) || strings.Contains(err.Error(), "driver") || strings.Contains(err.Error(), "evq_store") {
					t.Errorf("%s, %d:\n%v", text, i, err)
				}
			}
		}
	}
}

// points reports whether the caret of an error stands below a word.
func points(text, word string) bool {
	lines := strings.Split(text, "\n")
	if len(lines) < 2 || !strings.HasPrefix(lines[len(lines)-2], "LINE ") {
		return false
	}
	caret, column := len(lines[len(lines)-1])-1, 0
	for i, r := range lines[len(lines)-2] {
		if column == caret {
			return strings.HasPrefix(lines[len(lines)-2][i:], word)
		}
		column += runeWidth(r)
	}
	return false
}
