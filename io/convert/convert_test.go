package convert_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/evq-project/evq/io/convert"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/parquet"
)

var sensor = event.Geometry{Width: 640, Height: 480}

// A sink keeps what it is given.
type sink struct {
	events   *event.Buffer
	triggers []event.Trigger
	fail     error // of Write
	info     event.Info
	facts    []event.Field
	report   *event.Report
	closed   bool
	aborted  bool
}

func (s *sink) Write(_ context.Context, b event.Batch) error {
	s.events.AppendBatch(b)
	return s.fail
}

func (s *sink) WriteTriggers(tr []event.Trigger) error {
	s.triggers = append(s.triggers, tr...)
	return nil
}

func (s *sink) Close() error { s.closed = true; return nil }
func (s *sink) Abort() error { s.aborted = true; return nil }
func (s *sink) Describe(info event.Info, facts []event.Field, rep *event.Report) {
	s.info, s.facts, s.report = info, facts, rep
}

// A source is a recording with faults.
type source struct {
	event.Source
	restarts int   // scans that end with ErrRestart
	fail     error // after the first batch
	scans    int
	off      int64 // events off the sensor
}

func (s *source) Scan(ctx context.Context, want event.Request) (event.Stream, error) {
	s.scans++
	st, err := s.Source.Scan(ctx, want)
	return &stream{Stream: st, source: s, want: want}, err
}

type stream struct {
	event.Stream
	source *source
	want   event.Request
	n      int64
}

func (s *stream) Next(ctx context.Context) (event.Batch, error) {
	s.n++
	if s.n == 2 {
		if s.source.scans <= s.source.restarts {
			if !s.want.Restartable {
				return event.Batch{}, errors.New("the request is not restartable")
			}
			return event.Batch{}, event.ErrRestart
		}
		if s.source.fail != nil {
			return event.Batch{}, s.source.fail
		}
		if s.source.off > 0 {
			s.Report().Lose(event.OffSensor, s.source.off, 0)
		}
	}
	reused := []event.Trigger{{T: s.n, Channel: 1}}
	if err := s.want.Triggers(reused); err != nil {
		return event.Batch{}, err
	}
	defer func() { reused[0].T = -1 }()
	return s.Stream.Next(ctx)
}

func recording(n int) event.Source {
	return eventtest.Source(eventtest.Recording(1, n, sensor), sensor, 100)
}

// run converts src into a sink and returns the last one made.
func run(t *testing.T, src event.Source, fail error, o convert.Options) (made []*sink, rep *event.Report, err error) {
	t.Helper()
	rep, err = convert.Run(t.Context(), src, func() (event.Sink, error) {
		s := &sink{events: event.NewBuffer(0), fail: fail}
		made = append(made, s)
		return s, nil
	}, o)
	return made, rep, err
}

func TestRun(t *testing.T) {
	src := &source{Source: recording(1000)}
	var told []int64
	made, rep, err := run(t, src, nil, convert.Options{
		Facts: []event.Field{{Key: "on_unsorted", Value: "sort"}}, Progress: func(n int64) { told = append(told, n) }})
	if err != nil {
		t.Fatal(err)
	}
	s := made[0]
	if d := eventtest.Diff(s.events.Batch(), eventtest.Recording(1, 1000, sensor)); d != "" {
		t.Error(d)
	}
	if len(s.triggers) != 11 || s.triggers[10].T != 11 {
		t.Errorf("triggers %v", s.triggers)
	}
	if rep.Events != 1000 || s.report != rep || s.info.Format != "memory" || len(s.facts) != 1 {
		t.Errorf("report %v, info %+v, facts %v", rep, s.info, s.facts)
	}
	if !s.closed || s.aborted || len(told) != 10 || told[9] != 1000 {
		t.Errorf("closed %v, aborted %v, progress %v", s.closed, s.aborted, told)
	}
}

func TestRestart(t *testing.T) {
	made, rep, err := run(t, &source{Source: recording(1000), restarts: 2}, nil, convert.Options{})
	if err != nil || rep.Events != 1000 || len(made) != 3 {
		t.Fatalf("%v, report %v, %d sinks", err, rep, len(made))
	}
	if !made[0].aborted || made[0].closed || made[2].events.Len() != 1000 {
		t.Errorf("first %+v, last holds %d events", made[0], made[2].events.Len())
	}
	if _, _, err := run(t, &source{Source: recording(1000), restarts: 99}, nil, convert.Options{}); !errors.Is(err, event.ErrRestart) {
		t.Errorf("endless restarts end with %v", err)
	}
}

func TestFailures(t *testing.T) {
	broken, full := errors.New("broken"), errors.New("full")
	for name, c := range map[string]struct{ read, write error }{"read": {read: broken}, "write": {write: full}} {
		made, _, err := run(t, &source{Source: recording(100_000), fail: c.read}, c.write, convert.Options{})
		if want := errors.Join(c.read, c.write); err == nil || err.Error() != want.Error() {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
		if !made[0].aborted || made[0].closed {
			t.Errorf("%s: %+v", name, made[0])
		}
	}
	if _, err := convert.Run(t.Context(), recording(1), func() (event.Sink, error) { return nil, full }, convert.Options{}); !errors.Is(err, full) {
		t.Errorf("create fails with %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := convert.Run(ctx, recording(1000), func() (event.Sink, error) { return &sink{events: event.NewBuffer(0)}, nil },
		convert.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestOffSensor(t *testing.T) {
	made, _, err := run(t, &source{Source: recording(1000), off: 100}, nil, convert.Options{})
	if err == nil || !strings.Contains(err.Error(), "--size") || !made[0].aborted {
		t.Errorf("10 %% off the sensor: %v", err)
	}
	for _, o := range []convert.Options{{OffSensorGiven: true}, {}} {
		off := int64(100)
		if !o.OffSensorGiven {
			off = 1
		}
		if _, _, err := run(t, &source{Source: recording(1000), off: off}, nil, o); err != nil {
			t.Errorf("%d off, given %v: %v", off, o.OffSensorGiven, err)
		}
	}
}

// Into a store and back, and from a store into a store.
func TestStore(t *testing.T) {
	dir := t.TempDir()
	first, second := filepath.Join(dir, "a.parquet"), filepath.Join(dir, "b.parquet")
	toStore := func(src event.Source, path string) {
		t.Helper()
		_, err := convert.Run(t.Context(), src, func() (event.Sink, error) {
			return parquet.Create(path, format.Header{Geometry: src.Geometry()}, format.CreateOptions{})
		}, convert.Options{Facts: []event.Field{{Key: "on_unsorted", Value: "sort"}}})
		if err != nil {
			t.Fatal(err)
		}
	}
	toStore(&source{Source: recording(300_000)}, first)
	toStore(open(t, first), second)
	src := open(t, second)
	if d := eventtest.Diff(eventtest.Drain(t, src, event.All), eventtest.Recording(1, 300_000, sensor)); d != "" {
		t.Error(d)
	}
	info := src.Info()
	if info.Field("evq.source") != "memory" || info.Field("evq.on_unsorted") != "sort" || info.Report.Events != 300_000 || info.Geometry != sensor {
		t.Errorf("info %+v", info)
	}
	names := eventtest.Names(t, dir)
	if !slices.Equal(names, []string{"a.parquet", "a.triggers.parquet", "b.parquet", "b.triggers.parquet"}) {
		t.Errorf("files %v", names)
	}
}

func open(t *testing.T, path string) event.Source {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		t.Fatal(err)
	}
	src, err := parquet.Open(t.Context(), format.File{ReaderAt: f, Size: size, Path: path}, format.Policy{})
	if err != nil {
		t.Fatal(err)
	}
	return src
}
