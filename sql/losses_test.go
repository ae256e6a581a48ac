//go:build duckdb

package sql

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/evq-project/evq/io/event"
)

// What reading loses is told, whichever way a query reads, and once.
func TestLossesAreTold(t *testing.T) {
	dir, raw, store, _ := files(t, 5000)
	bytes, err := os.ReadFile(raw)
	if err != nil {
		t.Fatal(err)
	}
	cut := filepath.Join(dir, "cut.raw")
	if err := os.WriteFile(cut, bytes[:len(bytes)-1], 0o600); err != nil {
		t.Fatal(err)
	}
	s := opened(t, Options{})
	r := runner(t, s)
	ctx := context.Background()
	for _, route := range []string{"on", "off"} {
		if err := r.Exec(ctx, "SET evq_route = '"+route+"'"); err != nil {
			t.Fatal(err)
		}
		for _, from := range []string{
			"SELECT count(*) FROM F", "SELECT sum(x) FROM F", "SELECT t // 1000 AS w, event_count(t, x, y, p, 48, 64) FROM F GROUP BY w", "SELECT count(*) FROM events(F, roi := [0, 0, 9, 9])",
			"FROM event_count(F, '1ms')", "FROM windows(F, '1ms')", "FROM triggers(F)", "FROM refractory_filter(F)", "FROM represent(F, 'voxel_grid', '1ms')",
			"SELECT count(*) FROM F a JOIN F b USING (t)",
		} {
			for path, lossy := range map[string]bool{cut: true, raw: false, store: false} {
				text := replaceFile(from, path)
				if err := r.Exec(ctx, text); err != nil {
					t.Fatalf("%s: %v", text, err)
				}
				got := s.Losses()
				if (len(got) > 0) != lossy {
					t.Errorf("%s: %v", text, got)
				}
				if lossy && len(got) > 0 && (len(got) > 1 || got[0].Path != cut || !got[0].Lost() || got[0].Report.Get(event.TrailingBytes).Lost != 1) {
					t.Errorf("%s: %+v", text, got)
				}
			}
		}
	}
	if got := s.Losses(); got != nil {
		t.Errorf("told twice: %v", got)
	}
}

// replaceFile puts a path in the place of the F of a query.
func replaceFile(text, path string) string {
	var edits []edit
	for _, tok := range lex(text) {
		if tok.text == "f" && text[tok.at:tok.to] == "F" {
			edits = append(edits, edit{tok.at, tok.to, literal(path)})
		}
	}
	return edited(text, edits)
}

// Events off the sensor whose size a call gives are told by both ways of running it, and the whole of them.
func TestOffSensorIsTold(t *testing.T) {
	_, raw, _, b := files(t, 5000)
	want := int64(0)
	for i, x := range b.X() {
		if x >= 32 || b.Y()[i] >= 24 {
			want++
		}
	}
	s := opened(t, Options{Threads: 1})
	r := runner(t, s)
	for _, route := range []string{"on", "off"} {
		if err := r.Exec(context.Background(), "SET evq_route = '"+route+"'"); err != nil {
			t.Fatal(err)
		}
		q, err := r.Run(context.Background(), "SELECT t // 1000 AS w, event_count(t, x, y, p, 24, 32) FROM '"+raw+"' GROUP BY w")
		if err != nil {
			t.Fatal(err)
		}
		if q.Route().Native != (route == "on") {
			t.Error(q.Route())
		}
		if err := q.Each(context.Background(), func(arrow.RecordBatch) error { return nil }); err != nil {
			t.Fatal(err)
		}
		if err := q.Close(); err != nil {
			t.Fatal(err)
		}
		if got := s.Losses(); len(got) != 1 || got[0].OffSensor != want || !got[0].Lost() {
			t.Errorf("route %s: %+v, want %d", route, got, want)
		}
	}
}
