package parquet

import (
	"context"
	"errors"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evq-project/evq/io/atomicfile"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/formattest"
)

func TestRoundTrip(t *testing.T) {
	for _, n := range []int{0, 1, 2, 1000, pieceLen, groupLen - 1, groupLen, 2*groupLen + 77} {
		rec := eventtest.Recording(uint64(n), n, sensor)
		for i, c := range codecs {
			if n > groupLen && i > 0 {
				continue
			}
			path := write(t, rec, 10_007, format.CreateOptions{Compression: c.name, Threads: 2})
			for _, threads := range []int{1, 3} {
				want := event.All
				want.Threads = threads
				if d := eventtest.Diff(eventtest.Drain(t, mustOpen(t, path), want), rec); d != "" {
					t.Errorf("%d events, %s, %d threads: %s", n, c.name, threads, d)
				}
			}
		}
	}
}

func TestExtremes(t *testing.T) {
	b := event.NewBuffer(4)
	b.Append(-1<<63, 0, 65535, 0)
	b.Append(-5, 65535, 0, 1)
	b.Append(-5, 65535, 0, 1)
	b.Append(1<<63-1, 1, 2, 1)
	s := mustOpen(t, write(t, b.Batch(), 3, format.CreateOptions{}))
	if d := eventtest.Diff(eventtest.Drain(t, s, event.All), b.Batch()); d != "" {
		t.Error(d)
	}
}

func TestEmptyStore(t *testing.T) {
	s := mustOpen(t, write(t, event.Batch{}, 1, format.CreateOptions{}))
	info := s.Info()
	if info.Events != 0 || info.Stats || !info.Sorted || info.Geometry != sensor {
		t.Errorf("info of an empty store: %+v", info)
	}
	if n := eventtest.Drain(t, s, event.All).Len(); n != 0 {
		t.Errorf("an empty store yields %d events", n)
	}
}

func TestSmallBatchesFillRowGroups(t *testing.T) {
	rec := eventtest.Recording(3, 1_000_000, sensor)
	s := mustOpen(t, write(t, rec, 1000, format.CreateOptions{}))
	if len(s.groups) != 4 {
		t.Errorf("1000 batches of 1000 events made %d row groups, want 4", len(s.groups))
	}
	for _, g := range s.groups[:3] {
		if g.rows != groupLen || !g.sorted || !g.stats {
			t.Errorf("row group %+v", g)
		}
	}
}

func TestMetadata(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rec.parquet")
	sink, err := Create(path, format.Header{Geometry: sensor, Fields: []event.Field{{Key: "serial", Value: "00\xff42"}}}, format.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	rec := eventtest.Recording(1, 5000, sensor)
	if err := sink.Write(t.Context(), rec); err != nil {
		t.Fatal(err)
	}
	rep := &event.Report{Events: 5000, Shift: 17, MaxX: 639}
	rep.Lose(event.OffSensor, 3, 99)
	rep.CountUnknown("0xB", 2, 7)
	rep.Note("a note.")
	sink.(*Writer).Describe(event.Info{Name: "a.raw", Format: "evt3", Version: "3.0", Unit: "us", Polarity: "0/1",
		Streams: []event.Field{{Key: "imu", Value: "left out"}}},
		[]event.Field{{Key: "on_unsorted", Value: "clamp"}, {Key: "on_offsensor", Value: "keep"}}, rep)
	if err := sink.Close(); err != nil {
		t.Fatal(err)
	}
	info := mustOpen(t, path).Info()
	want := event.Info{Name: "rec.parquet", Format: "parquet", Version: "1", Geometry: sensor, Unit: "us", Polarity: "0/1",
		Sorted: true, Events: 5000, Stats: true, Report: rep, Extent: info.Extent,
		Streams: []event.Field{{Key: "imu", Value: "left out"}},
		Fields: []event.Field{{Key: "evq.source", Value: "a.raw"}, {Key: "evq.source_format", Value: "evt3"},
			{Key: "evq.source_version", Value: "3.0"}, {Key: "evq.unit", Value: "us"}, {Key: "evq.polarity", Value: "0/1"},
			{Key: "evq.on_unsorted", Value: "clamp"}, {Key: "evq.on_offsensor", Value: "keep"},
			{Key: "evq.shift", Value: "17"}, {Key: "serial", Value: "00\ufffd42"}}}
	if d := cmp.Diff(want, info, cmp.Comparer(func(a, b *event.Report) bool {
		return a.String() == b.String() && a.Shift == b.Shift && a.MaxX == b.MaxX && a.Get(event.OffSensor) == b.Get(event.OffSensor) && slices.Equal(a.Notes, b.Notes)
	})); d != "" {
		t.Error(d)
	}
	if got := info.Extent; got.T0 != rec.T()[0] || got.T1 != rec.T()[4999] || got.X1 != slices.Max(rec.X()) || got.P1 != 1 {
		t.Errorf("extent %v", got)
	}
	if p := sniff(formattest.Open(t, path)); p.Confidence != 1 || p.Version != "1" {
		t.Errorf("sniff: %+v", p)
	}
}

// A store made from a store remembers the recording, not the store between.
func TestHistory(t *testing.T) {
	f := newFacts(format.Header{})
	f.describe(event.Info{Name: "a.parquet", Format: "parquet", Unit: "us", Fields: []event.Field{
		{Key: "evq.source", Value: "a.raw"}, {Key: "evq.on_unsorted", Value: "clamp"}, {Key: "serial", Value: "7"}}},
		[]event.Field{{Key: "on_unsorted", Value: "sort"}}, nil)
	known := event.Info{Fields: f.history}
	if known.Field(keySource) != "a.raw" || known.Field("evq.on_unsorted") != "clamp" || len(f.fields) != 1 {
		t.Errorf("%+v", f)
	}
}

func TestRefusals(t *testing.T) {
	rec := eventtest.Recording(1, 100, sensor)
	back := event.New([]int64{5, 4}, []uint16{0, 0}, []uint16{0, 0}, []int8{0, 0})
	odd := event.New([]int64{5}, []uint16{0}, []uint16{0}, []int8{2})
	for name, c := range map[string]struct {
		batches []event.Batch
		want    string
	}{
		"backwards":       {[]event.Batch{back}, "event 1 lies 1 us before"},
		"between batches": {[]event.Batch{rec, rec}, "event 100 lies"},
		"columns":         {[]event.Batch{event.New([]int64{1}, nil, nil, nil)}, "lacks columns"},
		"polarity":        {[]event.Batch{odd}, "polarity 2"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			w, err := Create(filepath.Join(dir, "a.parquet"), format.Header{}, format.CreateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			for _, b := range c.batches {
				err = errors.Join(err, w.Write(t.Context(), b))
			}
			if err == nil {
				err = w.Close()
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
			if err := w.Abort(); err != nil {
				t.Error(err)
			}
			if left := eventtest.Names(t, dir); len(left) != 0 {
				t.Errorf("left behind: %v", left)
			}
			if err := w.Write(t.Context(), rec); err == nil {
				t.Error("a closed writer takes events")
			}
		})
	}
	if _, err := Create(filepath.Join(t.TempDir(), "a.parquet"), format.Header{}, format.CreateOptions{Compression: "rar"}); err == nil {
		t.Error("compression rar is accepted")
	}
}

func TestExistingOutput(t *testing.T) {
	path := write(t, eventtest.Recording(1, 100, sensor), 100, format.CreateOptions{})
	if _, err := Create(path, format.Header{}, format.CreateOptions{}); !errors.Is(err, atomicfile.ErrExists) {
		t.Errorf("error %v, want %v", err, atomicfile.ErrExists)
	}
	w, err := Create(path, format.Header{}, format.CreateOptions{Force: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Abort(); err != nil {
		t.Error(err)
	}
	if n := mustOpen(t, path).Info().Events; n != 100 {
		t.Errorf("an aborted overwrite left %d events, want the old 100", n)
	}
}

func TestTriggers(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.parquet")
	rec := eventtest.Recording(1, 100, sensor)
	tr := make([]event.Trigger, triggerLen+5)
	for i := range tr {
		tr[i] = event.Trigger{T: int64(i) - 3, Channel: int16(i % 7), Rising: i%3 == 0}
	}
	create := func(tr []event.Trigger) {
		w, err := Create(path, format.Header{}, format.CreateOptions{Force: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(w.WriteTriggers(tr), w.Write(t.Context(), rec), w.Close()); err != nil {
			t.Fatal(err)
		}
	}
	create(tr)
	want := event.All
	var got []event.Trigger
	want.Triggers = func(tr []event.Trigger) error { got = append(got, tr...); return nil }
	s := mustOpen(t, path)
	eventtest.Drain(t, s, want)
	if !slices.Equal(got, tr) {
		t.Errorf("%d triggers come back as %d others", len(tr), len(got))
	}
	if v := (event.Info{Fields: s.Info().Streams}).Field("triggers"); v != "65541 in a.triggers.parquet" {
		t.Errorf("streams: %q", v)
	}
	create(nil)
	if left := eventtest.Names(t, dir); !slices.Equal(left, []string{"a.parquet"}) {
		t.Errorf("a rerun without triggers left %v", left)
	}
	got = nil
	if eventtest.Drain(t, mustOpen(t, path), want); got != nil {
		t.Errorf("%d triggers of an earlier run", len(got))
	}
}

func TestWriteCancelled(t *testing.T) {
	dir := t.TempDir()
	w, err := Create(filepath.Join(dir, "a.parquet"), format.Header{}, format.CreateOptions{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	rec := eventtest.Recording(1, 8*groupLen, sensor)
	for i := 0; err == nil && i < rec.Len(); i += groupLen {
		err = w.Write(ctx, rec.Slice(i, i+groupLen))
	}
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
	if err := w.Abort(); err != nil || len(eventtest.Names(t, dir)) != 0 {
		t.Errorf("abort: %v, left %v", err, eventtest.Names(t, dir))
	}
}

// The heap must hold a few row groups, not the recording: it does not grow from 1 to 5 million events.
func TestWriterMemory(t *testing.T) {
	rec := eventtest.Scene(1, 50_000, sensor)
	w, err := Create(filepath.Join(t.TempDir(), "a.parquet"), format.Header{}, format.CreateOptions{Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Abort() }()
	shift, times := rec.T()[rec.Len()-1], make([]int64, rec.Len())
	var heap [5]uint64
	for i := range 100 {
		for k, v := range rec.T() {
			times[k] = v + shift*int64(i)
		}
		if err := w.Write(t.Context(), event.New(times, rec.X(), rec.Y(), rec.P())); err != nil {
			t.Fatal(err)
		}
		if i%20 == 19 {
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			heap[i/20] = m.HeapAlloc
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	// Four million events more would take 52 MB if they were kept; what is on its way varies by some row groups.
	if heap[4] > heap[0]+40<<20 || heap[4] > 112<<20 {
		t.Errorf("the heap holds %d bytes after each further million events", heap)
	}
}
