//go:build duckdb

package sql

import (
	"context"
	"fmt"
	"testing"

	"github.com/evq-project/evq/engine"
	"github.com/evq-project/evq/udf/builtins"
)

// Every filter keeps the events that it keeps in a lazy frame, as a function of its own and by name.
func TestFiltersAreTheEngines(t *testing.T) {
	_, raw, store, _ := files(t, 20_000)
	s := opened(t, Options{Threads: 2})
	for _, e := range builtins.Filters {
		for _, path := range []string{raw, store} {
			rec, err := engine.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			by, err := engine.Filter(e.Name)
			if err != nil {
				t.Fatal(err)
			}
			b, err := rec.Frame().Apply(by).Collect(context.Background())
			if err != nil {
				t.Fatalf("%s: %v", e.Name, err)
			}
			for _, from := range []string{filterName(e) + "(" + literal(path) + ")", "events(" + literal(path) + ", filter := " + literal(e.Name) + ")"} {
				got, err := table(s, "SELECT t, x, y, p FROM "+from)
				if err != nil || len(got) != b.Len() {
					t.Errorf("%s: %d events, want %d: %v", from, len(got), b.Len(), err)
					continue
				}
				for i, row := range got {
					if want := fmt.Sprint([]any{b.T()[i], b.X()[i], b.Y()[i], b.P()[i]}); fmt.Sprint(row) != want {
						t.Errorf("%s: event %d is %v, want %s", from, i, row, want)
						break
					}
				}
			}
			if err := rec.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}
