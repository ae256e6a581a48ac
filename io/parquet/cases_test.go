package parquet

import (
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/format"
)

// Deltas of 32-bit columns may need 33 bits, which readers differ about: such columns are never stored as deltas, in the
// store nor in the table of triggers beside it.
func TestNoDeltasOf32Bits(t *testing.T) {
	path := write(t, eventtest.Recording(3, groupLen+100, sensor), 50_000, format.CreateOptions{})
	withTriggers, err := Create(path, format.Header{Geometry: sensor}, format.CreateOptions{Force: true})
	if err != nil {
		t.Fatal(err)
	}
	wide := []event.Trigger{{T: 1, Channel: -1 << 15}, {T: 2, Channel: 1<<15 - 1, Rising: true}, {T: 3, Channel: -1 << 15}}
	if err := withTriggers.WriteTriggers(wide); err != nil {
		t.Fatal(err)
	}
	if err := withTriggers.Write(t.Context(), event.New([]int64{1, 2, 3}, []uint16{0, 65535, 0}, []uint16{65535, 0, 65535}, []int8{1, 0, 1})); err != nil {
		t.Fatal(err)
	}
	if err := withTriggers.Close(); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{path, TriggerPath(path)} {
		r, err := file.OpenParquetFile(p, false)
		if err != nil {
			t.Fatal(err)
		}
		m := r.MetaData()
		for g := range m.NumRowGroups() {
			for c := range m.Schema.NumColumns() {
				col, err := m.RowGroup(g).ColumnChunk(c)
				if err != nil {
					t.Fatal(err)
				}
				if m.Schema.Column(c).PhysicalType() == parquet.Types.Int32 && slices.Contains(col.Encodings(), parquet.Encodings.DeltaBinaryPacked) {
					t.Errorf("%s: column %s is stored as deltas of 32 bits", p, m.Schema.Column(c).Name())
				}
			}
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	var got []event.Trigger
	want := event.All
	want.Triggers = func(tr []event.Trigger) error { got = append(got, tr...); return nil }
	if _, err := event.Each(t.Context(), mustOpen(t, path), want, func(event.Batch) error { return nil }); err != nil || !slices.Equal(got, wide) {
		t.Errorf("triggers %v: %v", got, err)
	}
}
