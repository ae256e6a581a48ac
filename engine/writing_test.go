package engine_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evq-project/evq/engine"
)

// The source's own encoding is kept, through a store as well, whether its type tells it or only its events.
func TestPolaritySource(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	convert := func(from, to string, opts ...engine.Option) {
		t.Helper()
		rec, err := engine.Open(path(from))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = rec.Close() }()
		if _, err := engine.Convert(t.Context(), rec, path(to), append(opts, engine.Force())...); err != nil {
			t.Fatal(err)
		}
	}
	for off, want := range map[string]string{"0": "5,1,2,0\n", "-1": "5,1,2,-1\n"} {
		if err := os.WriteFile(path("a.csv"), []byte("t,x,y,p\n5,1,2,"+off+"\n6,3,4,1\n7,3,4,"+off+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		convert("a.csv", "a.npz", engine.PolarityOut(engine.PolaritySource))
		convert("a.npz", "a.parquet")
		convert("a.csv", "b.parquet")
		for _, from := range []string{"a.csv", "a.npz", "a.parquet", "b.parquet"} {
			convert(from, "out.csv", engine.PolarityOut(engine.PolaritySource))
			if b, _ := os.ReadFile(path("out.csv")); !strings.Contains(string(b), want) {
				t.Errorf("OFF is %s: from %s comes %q", off, from, b)
			}
		}
	}
}
