package engine_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evq-project/evq/engine"
	"github.com/evq-project/evq/exprs"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/udf/stackedhist"
)

var update = flag.Bool("update", false, "rewrite the golden texts")

// TestExplain pins what explain prints of one query over a store, in two ways of running it.
func TestExplain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "drive.parquet")
	toStore(t, eventtest.Source(eventtest.Recording(3, 5000, event.Geometry{Width: 346, Height: 260}), event.Geometry{Width: 346, Height: 260}, 500), path)
	rec, err := engine.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer rec.Close() //nolint:errcheck // only read
	q := rec.Frame().
		Filter(exprs.X.Lt(200)).Filter(exprs.P.Eq(1)).
		Window(engine.Ends([]int64{50_000, 100_000}, 50*time.Millisecond)).
		StackedHistogram(stackedhist.LikeRVT())
	for _, c := range []struct {
		file, why string
		rules     []engine.Option
	}{
		{"fused_store_query", "the histogram is fused, the filters are one, and the store is told of the box", nil},
		{"without_rules", "without rules the plan runs as it was written: a hash group over every event", []engine.Option{engine.Rules()}},
	} {
		text, err := q.Explain(append(c.rules, engine.Device("cpu"), engine.Threads(2))...)
		if err != nil {
			t.Fatal(err)
		}
		compareGolden(t, c.file, "# "+c.why+"\n\n"+text)
	}
}

// compareGolden compares a text with testdata/NAME.txt, or rewrites that.
func compareGolden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".txt")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s (run with -update if that is meant):\n%s", path, d)
	}
}
