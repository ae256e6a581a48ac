package engine_test

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/evq-project/evq/engine"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/hdf5"
	"github.com/evq-project/evq/io/npy"
	"github.com/evq-project/evq/io/tensor"
	"github.com/evq-project/evq/plan/optimize"
	"github.com/evq-project/evq/udf/stackedhist"
)

// A golden is a stacked histogram that RVT's own code made.
type golden struct {
	Name, Input, Representation, Window, SHA256 string
	Height, Width, NBins, Downsample            int
	Cutoff                                      *int
	Fastmode                                    *bool
	Shape                                       []int
}

func (g golden) options() []stackedhist.Option {
	opts := []stackedhist.Option{stackedhist.Bins(g.NBins), stackedhist.Downsample(g.Downsample), stackedhist.NoCutoff(), stackedhist.Wrap()}
	if g.Cutoff != nil {
		opts = append(opts, stackedhist.Cutoff(*g.Cutoff))
	}
	if g.Fastmode != nil && !*g.Fastmode {
		opts = append(opts, stackedhist.Saturate())
	}
	return opts
}

// TestRVTGoldens holds evq to RVT: from the HDF5 directly and through the store, by the scatter operator, by
// the hash group, and with each rule off.
func TestRVTGoldens(t *testing.T) {
	data := eventtest.Data(t)
	if _, err := engine.Open(filepath.Join(data, "rvt_golden", "edges.h5")); errors.Is(err, hdf5.ErrNotBuilt) {
		t.Skip(err)
	}
	for _, g := range goldens(t, data) {
		t.Run(g.Name, func(t *testing.T) {
			grid := goldenGrid(t, filepath.Join(data, "rvt_golden", g.Name+".npz"))
			span, err := time.ParseDuration(strings.ReplaceAll(g.Window, " ", ""))
			if err != nil {
				t.Fatal(err)
			}
			read := []engine.Option{engine.Size(g.Width, g.Height), engine.OnUnsorted(format.Clamp), engine.OnOffSensor(format.Keep)}
			input := filepath.Join(data, "rvt_golden", g.Input)
			if _, err := os.Stat(input); err != nil {
				input = filepath.Join(data, "h5_derived", g.Input)
			}
			for _, path := range []string{input, store(t, input, read)} {
				rec, err := engine.Open(path, read...)
				if err != nil {
					t.Fatal(err)
				}
				defer rec.Close() //nolint:errcheck // only read
				q := rec.Frame().Window(engine.Ends(grid, span)).StackedHistogram(g.options()...)
				check := func(how string, opts ...engine.Option) {
					t.Helper()
					if got := checksum(t, q, opts...); got != g.SHA256 {
						t.Errorf("%s, %s: sha256 %s, want %s", filepath.Ext(path), how, got, g.SHA256)
					}
				}
				check("all rules")
				check("as written", engine.Rules())
				for _, r := range optimize.Default {
					check("without "+r.Name, engine.WithoutRule(r.Name))
				}
			}
		})
	}
}

func goldens(t *testing.T, data string) []golden {
	b, err := os.ReadFile(filepath.Join(data, "rvt_golden", "GOLDEN.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all struct{ Representations []golden }
	if err := json.Unmarshal(b, &all); err != nil {
		t.Fatal(err)
	}
	var out []golden
	for _, g := range all.Representations {
		if g.Representation == "stacked_histogram" && !strings.HasPrefix(g.Window, "count") {
			out = append(out, g)
		}
	}
	if len(out) < 9 {
		t.Fatalf("%d stacked histograms among the goldens", len(out))
	}
	return out
}

// goldenGrid takes the window ends out of a golden's archive.
func goldenGrid(t *testing.T, path string) []int64 {
	z, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close() //nolint:errcheck // only read
	member, err := z.Open("grid.npy")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "grid.npy")
	b, err := io.ReadAll(member)
	if err = errors.Join(err, os.WriteFile(file, b, 0o666)); err != nil {
		t.Fatal(err)
	}
	grid, err := npy.ReadInts(file)
	if err != nil {
		t.Fatal(err)
	}
	return grid
}

// store converts a recording as RVT studies need it.
func store(t *testing.T, input string, read []engine.Option) string {
	rec, err := engine.Open(input, read...)
	if err != nil {
		t.Fatal(err)
	}
	defer rec.Close() //nolint:errcheck // only read
	path := filepath.Join(t.TempDir(), "store.parquet")
	toStore(t, rec, path)
	return path
}

// checksum runs q and sums its blocks as one array in C order.
func checksum(t *testing.T, q engine.Tensors, opts ...engine.Option) string {
	t.Helper()
	h := sha256.New()
	err := q.Each(context.Background(), func(b tensor.Block) error {
		_, err := h.Write(b.Data)
		return err
	}, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(h.Sum(nil))
}
