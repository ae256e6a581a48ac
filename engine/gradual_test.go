package engine_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evq-project/evq/engine"
	"github.com/evq-project/evq/engine/enginetest"
	"github.com/evq-project/evq/exprs"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/udf"
	"github.com/evq-project/evq/udf/builtins"
)

// represent makes representations of calls.
func represent(t testing.TB, calls ...string) (out []udf.Representation) {
	t.Helper()
	for _, call := range calls {
		name, args, err := udf.ParseCall(call)
		if err != nil {
			t.Fatal(err)
		}
		entry, ok := builtins.Lookup(name)
		if !ok {
			t.Fatalf("no %s", name)
		}
		r, err := entry.Make(args)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	return out
}

// A whole recording in parts has the bytes, counts and notes of one that is held, from a store that tells its times and
// from a source that does not, with filters below and several representations at once.
func TestWholeInParts(t *testing.T) {
	all := represent(t, "voxel_grid:bins=3", "voxel_grid:normalize=e2vid,variant=b-1", "event_frame:bins=4", "event_frame:variant=tonic,bins=4096,signed=true,mode=binary",
		"event_count", "time_surface", "sae", "mixed_density")
	for name, rec := range map[string]event.Batch{
		"many": eventtest.Recording(31, 3000, event.Geometry{Width: small.Width + 1, Height: small.Height + 1}),
		"none": eventtest.Recording(32, 0, small), "one": eventtest.Recording(33, 1, small),
	} {
		store := filepath.Join(t.TempDir(), "whole.parquet")
		toStore(t, eventtest.Source(rec, event.Geometry{Width: small.Width + 1, Height: small.Height + 1}, 500), store)
		opened, err := engine.Open(store, engine.Size(small.Width, small.Height), engine.OnOffSensor("keep"))
		if err != nil {
			t.Fatal(err)
		}
		defer opened.Close() //nolint:errcheck // only read
		for from, frame := range map[string]engine.Frame{"memory": engine.Scan(eventtest.Source(rec, small, 77)), "store": opened.Frame()} {
			for filter, f := range map[string]engine.Frame{
				"all": frame, "a box": frame.Filter(exprs.X.Lt(20)), "the second half": frame.Filter(exprs.T.Ge(50_000)),
				"nothing": frame.Filter(exprs.T.Lt(-50_000)), "moved": frame.Map(exprs.Flip{}), "some": frame.Limit(800),
			} {
				t.Run(name+" from "+from+", "+filter, func(t *testing.T) {
					q := f.Window(engine.WholeRecording()).Represent(all...)
					enginetest.Agree(t, q)
					var held, parts engine.Stats
					for to, opts := range map[*engine.Stats][]engine.Option{&parts: nil, &held: {engine.WithoutRule("stream_whole")}} {
						if _, err := q.Collect(context.Background(), append(opts, engine.Collected(to))...); err != nil {
							t.Fatal(err)
						}
					}
					if held.OffSensor != parts.OffSensor || filter != "some" && held.Report.Events != parts.Report.Events || // a scan that is cut short has read some ahead
						held.First != parts.First || held.Last != parts.Last ||
						held.Windows != 1 || parts.Windows != 1 || held.Empty != parts.Empty {
						t.Errorf("held: %+v\nin parts: %+v", held, parts)
					}
				})
			}
		}
	}
}

// Explain says how often the recording is read.
func TestWholeInPartsExplains(t *testing.T) {
	src := eventtest.Source(eventtest.Recording(31, 300, small), small, 77)
	for _, c := range []struct {
		frame engine.Frame
		call  string
		held  bool
		two   bool
	}{
		{engine.Scan(src), "voxel_grid", false, !src.Info().Stats},
		{engine.Scan(src).Filter(exprs.X.Lt(9)), "voxel_grid", false, true},
		{engine.Scan(src).Filter(exprs.X.Lt(9)), "event_count", false, false},
		{engine.Scan(src), "tore", true, false},
	} {
		text, err := c.frame.Window(engine.WholeRecording()).Represent(represent(t, c.call)...).Explain()
		if err != nil || strings.Contains(text, "as events come") == c.held || strings.Contains(text, "in two passes: ") != c.two {
			t.Errorf("%s, held %v, in two passes %v: %v\n%s", c.call, c.held, c.two, err, text)
		}
	}
}

// An endless supply of events fits into little memory, where holding them does not.
func TestWholeInPartsNeedsNoRoom(t *testing.T) {
	src := eventtest.Source(eventtest.Recording(34, 60_000, small), small, 500)
	q := engine.Scan(src).Window(engine.WholeRecording()).Represent(represent(t, "voxel_grid")...)
	little := engine.Memory(256 << 10) // room to hold 5041 events
	if _, err := q.Collect(context.Background(), little); err != nil {
		t.Error(err)
	}
	if _, err := q.Collect(context.Background(), little, engine.WithoutRule("stream_whole")); err == nil || !tooLarge(err) {
		t.Errorf("60,000 held events in 256 KiB: %v", err)
	}
}
