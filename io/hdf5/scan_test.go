//go:build hdf5 && cgo

package hdf5

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"testing"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/format"
)

func TestColumnsLeftOut(t *testing.T) {
	events := eventtest.Recording(3, 70_000, vga)
	s, err := openTest(t, written(t, events, ""), format.Policy{OnOffSensor: format.Keep})
	if err != nil {
		t.Fatal(err)
	}
	want := event.All
	want.Columns = event.ColP
	got := eventtest.Drain(t, s, want)
	if !slices.Equal(got.T(), events.T()) || !slices.Equal(got.P(), events.P()) {
		t.Error("t or p differ")
	}
}

func TestConcurrentScansAndEarlyEnds(t *testing.T) {
	events := eventtest.Recording(5, 300_000, vga)
	s, err := openTest(t, written(t, events, "blosc-lz4"), format.Policy{Threads: 3})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			if i%2 == 0 {
				if b, _, err := format.Drain(context.Background(), s); err != nil || eventtest.Diff(b, events) != "" {
					t.Errorf("scan %d differs: %v", i, err)
				}
				return
			}
			ctx, cancel := context.WithCancel(context.Background())
			st, err := s.Scan(ctx, event.All)
			if err == nil {
				_, err = st.Next(ctx)
			}
			if err != nil {
				t.Error(err)
			}
			cancel()
			for err == nil {
				_, err = st.Next(ctx)
			}
			if !errors.Is(err, context.Canceled) && !errors.Is(err, io.EOF) {
				t.Errorf("a cancelled scan ends with %v", err)
			}
			if err := st.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

// A scan whose context ends is never taken for the end of the recording.
func TestCancelledDecode(t *testing.T) {
	f, err := openFile(written(t, eventtest.Recording(5, 10*chunkRows, vga), "none"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	want := event.All
	want.Threads = 1
	d, err := newDecoder(ctx, f, want, format.Policy{}.WithDefaults(), polarityAuto, &event.Report{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Next(context.Background()); err != nil {
		t.Fatal(err)
	}
	cancel()
	for err == nil {
		_, err = d.Next(context.Background())
	}
	if !errors.Is(err, context.Canceled) {
		t.Errorf("ends with %v", err)
	}
	if err := errors.Join(d.Close(), d.Close()); err != nil {
		t.Error(err)
	}
}

func TestBounded(t *testing.T) {
	f := &file{rows: 1 << 30}
	for i := range f.columns {
		f.columns[i] = dataset{chunk: 4 << 20, elem: elem{size: 4}}
	}
	all := wanted(0)
	if got := bounded(64, f, all, taskSpan(f, all), 256<<20); got != 2 {
		t.Errorf("%d goroutines hold chunks of 128 MiB each in 256 MiB", got)
	}
	if got := bounded(64, f, all, taskSpan(f, all), 1); got != 1 {
		t.Errorf("%d goroutines", got)
	}
}
