package engine_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/evq-project/evq/engine"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/formattest"
	"github.com/evq-project/evq/io/hdf5"
)

// TestStoreHoldsReferences holds every recording that evq reads to what independent decoders say of it: as it is, and
// after it went through a store, with its triggers beside it.
func TestStoreHoldsReferences(t *testing.T) {
	data := eventtest.Data(t)
	names := formattest.References(t, data, "evt2", "evt3", "evt3_from_ros", "evt_wrap_derived", "h5_derived")
	if len(names) < 8 {
		t.Fatalf("only %d recordings: %q", len(names), names)
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			rec, err := engine.Open(filepath.Join(data, name))
			if errors.Is(err, hdf5.ErrNotBuilt) {
				t.Skip(err)
			}
			if err != nil {
				t.Fatal(err)
			}
			defer rec.Close() //nolint:errcheck // only read
			formattest.CheckReference(t, data, name, rec)
			path := filepath.Join(t.TempDir(), "store.parquet")
			if _, err := engine.Convert(t.Context(), rec, path); err != nil {
				t.Fatal(err)
			}
			store, err := engine.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer store.Close() //nolint:errcheck // only read
			formattest.CheckReference(t, data, name, store)
		})
	}
}
