package npyrec

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/evq-project/evq/io/atomicfile"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/formattest"
	"github.com/evq-project/evq/io/npy"
)

// With -1 for OFF, and with each compression, a recording comes back; pm1 refuses a 0, so that none is there.
func TestSinkOptions(t *testing.T) {
	g := event.Geometry{Width: 346, Height: 260}
	want := eventtest.Recording(4, 30_000, g)
	for _, c := range []struct {
		f format.Format
		o format.CreateOptions
	}{
		{NPY, format.CreateOptions{Polarity: "pm1"}}, {NPZ, format.CreateOptions{Polarity: "pm1", Compression: "none"}},
		{NPZ, format.CreateOptions{Polarity: "pm1", Compression: "deflate"}}, {NPZ, format.CreateOptions{Polarity: "pm1", Compression: "9"}},
	} {
		path := filepath.Join(t.TempDir(), "a"+c.f.Extensions[0])
		s, err := c.f.Create(path, format.Header{Geometry: g}, c.o)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(s.Write(t.Context(), want), s.Close()); err != nil {
			t.Fatal(err)
		}
		src := formattest.OpenPath(t, c.f, path, format.Policy{Strict: true, Polarity: "pm1"})
		if d := eventtest.Diff(eventtest.Drain(t, src, event.All), want); d != "" {
			t.Errorf("%s %+v: %s", c.f.Name, c.o, d)
		}
		if info := src.Info(); info.Events != int64(want.Len()) || len(info.Streams) > 0 {
			t.Errorf("%s: %+v", c.f.Name, info)
		}
		if got := eventtest.Names(t, filepath.Dir(path)); len(got) != 1 {
			t.Errorf("%s: the folder holds %v", c.f.Name, got)
		}
	}
}

// The fields of a .npy lie packed in the order t, x, y, p.
func TestRecordBytes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.npy")
	s, err := NPY.Create(path, format.Header{}, format.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	b := event.New([]int64{0x0102030405060708}, []uint16{0x1112}, []uint16{0x2122}, []int8{1})
	if err := errors.Join(s.Write(t.Context(), b), s.Close()); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(raw[len(raw)-13:]); got != "\x08\x07\x06\x05\x04\x03\x02\x01\x12\x11\x22\x21\x01" {
		t.Errorf("the record is %x", got)
	}
	if tab, err := npy.ReadTable(path); err != nil || tab.Len() != 1 || len(raw)%64 != 13 {
		t.Errorf("%v, %d bytes", err, len(raw))
	}
}

func TestSinkRefuses(t *testing.T) {
	for _, f := range []format.Format{NPY, NPZ} {
		dir := t.TempDir()
		path := filepath.Join(dir, "a"+f.Extensions[0])
		if _, err := f.Create(path, format.Header{}, format.CreateOptions{Compression: "zstd"}); err == nil {
			t.Errorf("%s: an unknown compression is taken", f.Name)
		}
		for what, end := range map[string]func(event.Sink) error{
			"failed": func(s event.Sink) error {
				if s.Write(t.Context(), event.New([]int64{1}, nil, nil, nil)) == nil || s.Close() == nil {
					return errors.New("events without pixels are taken")
				}
				return nil
			},
			"dropped": func(s event.Sink) error {
				return errors.Join(s.Write(t.Context(), eventtest.Recording(1, 100, event.Geometry{Width: 9, Height: 9})), s.Abort(), s.Abort())
			},
		} {
			s, err := f.Create(path, format.Header{}, format.CreateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if err := end(s); err != nil {
				t.Errorf("%s, %s: %v", f.Name, what, err)
			}
			if left := eventtest.Names(t, dir); len(left) > 0 {
				t.Errorf("%s, %s: left behind: %v", f.Name, what, left)
			}
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := f.Create(path, format.Header{}, format.CreateOptions{}); !errors.Is(err, atomicfile.ErrExists) {
			t.Errorf("%s: a name that is taken: %v", f.Name, err)
		}
	}
}

// Memory does not grow with a recording.
func TestSinkMemory(t *testing.T) {
	b := eventtest.Recording(2, 50_000, event.Geometry{Width: 640, Height: 480})
	for _, f := range []format.Format{NPY, NPZ} {
		s, err := f.Create(filepath.Join(t.TempDir(), "a"+f.Extensions[0]), format.Header{}, format.CreateOptions{Compression: "none"})
		if err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		for i := range 41 {
			if i == 1 {
				runtime.ReadMemStats(&before)
			}
			if err := s.Write(t.Context(), b); err != nil {
				t.Fatal(err)
			}
		}
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > 4<<20 {
			t.Errorf("%s: writing 2,000,000 events allocates %d bytes", f.Name, n)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
