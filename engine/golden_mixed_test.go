package engine_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/evq-project/evq/engine"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/hdf5"
	"github.com/evq-project/evq/udf/mixeddensity"
)

// TestMixedDensityGoldens holds the mixed density stack to RVT's, from the HDF5 and through the store.
func TestMixedDensityGoldens(t *testing.T) {
	data := eventtest.Data(t)
	b, err := os.ReadFile(filepath.Join(data, "rvt_golden", "GOLDEN.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all struct{ Representations []golden }
	if err := json.Unmarshal(b, &all); err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, g := range all.Representations {
		if g.Representation != "mixed_density" {
			continue
		}
		seen++
		t.Run(g.Name, func(t *testing.T) { checkMixedDensity(t, data, g) })
	}
	if seen < 2 {
		t.Errorf("%d mixed density stacks among the goldens", seen)
	}
}

func checkMixedDensity(t *testing.T, data string, g golden) {
	span, err := time.ParseDuration(strings.ReplaceAll(g.Window, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	stack := mixeddensity.Stack{Bins: g.NBins, Downsample: g.Downsample}
	if g.Cutoff != nil {
		stack.Cutoff = *g.Cutoff
	}
	grid := goldenGrid(t, filepath.Join(data, "rvt_golden", g.Name+".npz"))
	read := []engine.Option{engine.Size(g.Width, g.Height), engine.OnUnsorted(format.Clamp), engine.OnOffSensor(format.Keep)}
	input := filepath.Join(data, "h5_derived", g.Input)
	if _, err := engine.Open(input, read...); errors.Is(err, hdf5.ErrNotBuilt) {
		t.Skip(err)
	}
	for _, path := range []string{input, store(t, input, read)} {
		rec, err := engine.Open(path, read...)
		if err != nil {
			t.Fatal(err)
		}
		defer rec.Close() //nolint:errcheck // only read
		q := rec.Frame().Window(engine.Ends(grid, span)).Represent(stack)
		for _, threads := range []int{1, 3} {
			if got := checksum(t, q, engine.Threads(threads)); got != g.SHA256 {
				t.Errorf("%s, %d threads: sha256 %s, want %s", filepath.Ext(path), threads, got, g.SHA256)
			}
		}
	}
}
