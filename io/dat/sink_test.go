package dat

import (
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evq-project/evq/io/atomicfile"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/formattest"
	"github.com/evq-project/evq/io/rawheader"
)

func batch(events ...ev) event.Batch {
	b := event.NewBuffer(len(events))
	for _, e := range events {
		b.Append(e[3], uint16(e[0]), uint16(e[1]), int8(e[2]))
	}
	return b.Batch()
}

// TestWrittenBytes pins the bytes, for other programs read them too.
func TestWrittenBytes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.dat")
	h := format.Header{
		Geometry: event.Geometry{Width: 640, Height: 480},
		Fields: []event.Field{
			{Key: "evt", Value: "3.0"}, {Key: "geometry", Value: "1280x720"}, {Key: "Version", Value: "9"}, {Key: "end"},
			{Key: "Date", Value: "2020-09-25\n07:48:31"},
		},
	}
	sink, err := Format.Create(path, h, format.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(sink.Write(t.Context(), batch(ev{3, 5, 1, 1 << 31}, ev{16383, 16383, 0, 1<<32 - 1}, ev{0, 0, 0, 1<<32 + 5})), sink.Close()); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := "% Data file containing CD events\n% Version 2\n% Height 480\n% Width 640\n% Date 2020-09-25 07:48:31\n\x0c\x08" +
		"\x00\x00\x00\x80\x03\x40\x01\x10" + "\xff\xff\xff\xff\xff\xff\xff\x0f" + "\x05\x00\x00\x00\x00\x00\x00\x00"
	if !bytes.Equal(got, []byte(want)) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// TestRoundTrip reads back what was written: a scene, a recording with bursts, ties and gaps, and times that run over.
func TestRoundTrip(t *testing.T) {
	g := event.Geometry{Width: 346, Height: 260}
	hard := event.NewBuffer(0)
	hard.AppendBatch(eventtest.Recording(5, 200_000, g))
	for first, i := hard.T[0], 0; i < hard.Len(); i++ {
		hard.T[i] += 1<<32 - 1000 - first
	}
	for name, b := range map[string]event.Batch{"scene": eventtest.Scene(5, 20_000, g), "recording": hard.Batch(), "empty": {}} {
		path := filepath.Join(t.TempDir(), "x.dat")
		sink, err := Format.Create(path, format.Header{Geometry: g}, format.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for i, n := 0, 1; i < b.Len(); i, n = i+n, n*3%10007+1 {
			n = min(n, b.Len()-i)
			if err := sink.Write(t.Context(), b.Slice(i, i+n)); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s: the recording has its name before it is complete", name)
		}
		if err := errors.Join(sink.WriteTriggers([]event.Trigger{{T: 5}}), sink.Close()); err != nil {
			t.Fatal(err)
		}
		src := formattest.OpenPath(t, Format, path, format.Policy{Strict: true})
		got, _, rep := formattest.Collect(t, src)
		if d := eventtest.Diff(got.Batch(), b); d != "" || rep.Lost() || src.Geometry() != g {
			t.Errorf("%s: %s (%s, %v)", name, d, rep, src.Geometry())
		}
	}
}

func TestSinkRefuses(t *testing.T) {
	for what, c := range map[string]struct {
		events []ev
		want   string
	}{
		"unsorted":            {[]ev{{1, 1, 0, 5}, {1, 1, 0, 3}}, "event 1 at 3 µs lies before"},
		"a time of no clock":  {[]ev{{1, 1, 0, math.MaxInt64}}, "--zero"},
		"a step over the end": {[]ev{{1, 1, 0, 9}, {1, 1, 0, 1<<32 + 8}}, "event 1"},
		"a step too long":     {[]ev{{1, 1, 0, 9}, {1, 1, 0, 1<<32 - 1}}, "event 1"},
		"x":                   {[]ev{{16384, 1, 0, 1}}, "(16384, 1)"},
		"y":                   {[]ev{{1, 16384, 0, 1}}, "(1, 16384)"},
		"polarity":            {[]ev{{1, 1, -1, 1}}, "polarity -1"},
	} {
		dir := t.TempDir()
		sink, err := Format.Create(filepath.Join(dir, "x.dat"), format.Header{}, format.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if err := sink.Write(t.Context(), batch(c.events...)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", what, err, c.want)
		}
		if sink.Close() == nil {
			t.Errorf("%s: a failed recording closes without an error", what)
		}
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Errorf("%s: left behind: %v", what, left)
		}
	}
}

// A recording that starts where 32 bits do not reach keeps an offset in its header, and reads back as it was.
func TestSinkOffset(t *testing.T) {
	for _, first := range []int64{-5, 1 << 32, 1_700_000_000_000_001} {
		b := batch(ev{1, 2, 0, first}, ev{3, 4, 1, first + 7}, ev{5, 6, 0, first + 4_000_000_000}, ev{7, 8, 1, first + 5_000_000_000})
		path := filepath.Join(t.TempDir(), "x.dat")
		sink, err := Format.Create(path, format.Header{Fields: []event.Field{{Key: rawheader.OffsetField, Value: "77"}}}, format.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(sink.Write(t.Context(), b), sink.Close()); err != nil {
			t.Fatal(err)
		}
		got, _, _ := formattest.Collect(t, formattest.OpenPath(t, Format, path, format.Policy{Strict: true}))
		if d := eventtest.Diff(got.Batch(), b); d != "" {
			t.Errorf("from %d: %s", first, d)
		}
	}
}

func TestSinkStates(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.dat")
	sink, err := Format.Create(path, format.Header{}, format.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := sink.Close(); err != nil {
		t.Fatal(err)
	}
	if sink.Write(t.Context(), batch(ev{1, 1, 0, 1})) == nil {
		t.Error("a closed recording takes events")
	}
	if err := sink.Abort(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Errorf("dropping a closed recording: %v", err)
	}
	if _, err := Format.Create(path, format.Header{}, format.CreateOptions{}); !errors.Is(err, atomicfile.ErrExists) {
		t.Errorf("a name that is taken: error %v, want %v", err, atomicfile.ErrExists)
	}
	long := format.Header{Fields: []event.Field{{Key: "note", Value: strings.Repeat("x", 70_000)}}}
	if _, err := Format.Create(path+"2", long, format.CreateOptions{}); err == nil || !strings.Contains(err.Error(), "leave fields out") {
		t.Errorf("a header that is too long: %v", err)
	}
}
