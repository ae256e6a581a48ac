package rawheader_test

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/evt2"
	"github.com/evq-project/evq/io/evt21"
	"github.com/evq-project/evq/io/evt3"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/formattest"
	"github.com/evq-project/evq/io/rawheader"
)

// Every RAW format gives back the times of any clock, over the ends of its ranges, and those of triggers. A field that
// the source's own header had does not count twice.
func TestTimesOfAnyClock(t *testing.T) {
	for _, f := range []format.Format{evt2.Format, evt21.Format, evt3.Format} {
		for _, first := range []int64{3, 1<<24 - 2, 1<<34 - 5, 1 << 40, -1, 1_700_000_000_000_001} {
			b := event.NewBuffer(4)
			for i, step := range []int64{0, 4, 20_000_000, 47_000_001} {
				b.Append(first+step, uint16(3+i), uint16(30+i), int8(i%2))
			}
			triggers := []event.Trigger{{T: first, Channel: 1, Rising: true}, {T: first + 9_000_000}}
			path := filepath.Join(t.TempDir(), "x.raw")
			sink, err := f.Create(path, format.Header{Fields: []event.Field{{Key: rawheader.OffsetField, Value: "5"}}}, format.CreateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(sink.WriteTriggers(triggers), sink.Write(t.Context(), b.Batch()), sink.Close()); err != nil {
				t.Fatalf("%s from %d: %v", f.Name, first, err)
			}
			got, edges, rep := formattest.Collect(t, formattest.OpenPath(t, f, path, format.Policy{Strict: true}))
			if d := eventtest.Diff(got.Batch(), b.Batch()); d != "" {
				t.Errorf("%s from %d: %s (%s)", f.Name, first, d, rep)
			}
			if !slices.Equal(edges, triggers) {
				t.Errorf("%s from %d: triggers %v, want %v", f.Name, first, edges, triggers)
			}
		}
	}
}
