package formats

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/format"
)

// recorded returns the bytes of a recording.
func recorded(t *testing.T, name string, g event.Geometry, events event.Batch) []byte {
	t.Helper()
	f, err := ByName(name)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "a")
	sink, err := f.Create(path, format.Header{Geometry: g}, format.CreateOptions{})
	if err == nil {
		err = errors.Join(sink.Write(t.Context(), events), sink.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// start returns where the records of a recording begin.
func start(t *testing.T, name string, b []byte) int64 {
	t.Helper()
	f, err := ByName(name)
	if err != nil {
		t.Fatal(err)
	}
	part, err := f.Part(format.File{ReaderAt: bytes.NewReader(b), Size: int64(len(b))}, format.Policy{})
	if err != nil {
		t.Fatal(err)
	}
	return part.Start
}

// split cuts a recording into parts behind the bytes at, each with the header or, where bare is set, without.
func split(t *testing.T, b []byte, header int64, bare bool, at ...int64) []string {
	t.Helper()
	dir := t.TempDir()
	var paths []string
	from := int64(0)
	for i, to := range append(at, int64(len(b))) {
		part := b[from:to]
		if i > 0 && !bare {
			part = append(bytes.Clone(b[:header]), part...)
		}
		path := filepath.Join(dir, fmt.Sprintf("rec_%03d.raw", i))
		if err := os.WriteFile(path, part, 0o666); err != nil {
			t.Fatal(err)
		}
		paths, from = append(paths, path), to
	}
	return paths
}

func joinAll(t *testing.T, name string, p format.Policy, paths ...string) (event.Source, error) {
	t.Helper()
	src, err := Open(t.Context(), paths[0], name, p, paths[1:]...)
	if err == nil {
		t.Cleanup(func() { _ = src.(io.Closer).Close() })
	}
	return src, err
}

// Parts are read as one recording: the state of words, the wraps of the clock, and records that are cut at a border go
// on. The scene lasts 40 s, in which the clock of EVT3 starts anew twice.
func TestJoinedParts(t *testing.T) {
	g := event.Geometry{Width: 320, Height: 240}
	scene := event.NewBuffer(0)
	r := rand.New(rand.NewPCG(5, 6))
	for i := range 4000 {
		scene.Append(int64(i)*10_007, uint16(r.IntN(320)), uint16(r.IntN(240)), int8(r.IntN(2)))
	}
	want := scene.Batch()
	for _, name := range []string{"evt2", "evt21", "evt3", "dat"} {
		b := recorded(t, name, g, want)
		header := start(t, name, b)
		for _, bare := range []bool{false, true} {
			for _, at := range [][]int64{{int64(len(b)) / 2}, {header, header + 1, int64(len(b)) - 3}, {int64(len(b))}} {
				paths := split(t, b, header, bare, at...)
				src, err := joinAll(t, "", format.Policy{ReadSize: 1000}, paths...)
				if err != nil {
					t.Errorf("%s, bare %v, cut at %v: %v", name, bare, at, err)
					continue
				}
				if d := eventtest.Diff(want, eventtest.Drain(t, src, event.All)); d != "" {
					t.Errorf("%s, bare %v, cut at %v: %s", name, bare, at, d)
				}
				if src.Geometry() != g || src.Info().Name != "rec_000.raw" {
					t.Errorf("%s: %v, %s", name, src.Geometry(), src.Info().Name)
				}
			}
		}
	}
}

// A part may be compressed, and the files are closed with the recording.
func TestJoinPacked(t *testing.T) {
	want := eventtest.Recording(3, 2000, event.Geometry{Width: 64, Height: 48})
	b := recorded(t, "evt3", event.Geometry{Width: 64, Height: 48}, want)
	paths := split(t, b, start(t, "evt3", b), false, 2001)
	plain, err := os.ReadFile(paths[1])
	if err != nil {
		t.Fatal(err)
	}
	var gz bytes.Buffer
	g := gzip.NewWriter(&gz)
	_, err = g.Write(plain)
	if err = errors.Join(err, g.Close(), os.WriteFile(paths[1], gz.Bytes(), 0o666)); err != nil {
		t.Fatal(err)
	}
	temp := t.TempDir()
	src, err := Open(t.Context(), paths[0], "", format.Policy{TempDir: temp}, paths[1])
	if err != nil {
		t.Fatal(err)
	}
	if d := eventtest.Diff(want, eventtest.Drain(t, src, event.All)); d != "" {
		t.Error(d)
	}
	if size := src.(interface{ Size() int64 }).Size(); size != int64(len(b)) {
		t.Errorf("%d bytes, want %d", size, len(b))
	}
	if err := src.(io.Closer).Close(); err != nil {
		t.Error(err)
	}
	if left := eventtest.Names(t, temp); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestJoinRefuses(t *testing.T) {
	g, other := event.Geometry{Width: 320, Height: 240}, event.Geometry{Width: 640, Height: 480}
	events := eventtest.Recording(3, 2000, g)
	dir := t.TempDir()
	file := func(name string, b []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, b, 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	evt3 := file("evt3.raw", recorded(t, "evt3", g, events))
	legacy := "% evt 2.1\n% format EVT21;endianness=legacy\n% end\n"
	csv := file("a.csv", recorded(t, "csv", g, events))
	for _, c := range []struct {
		first, second, format string
		is                    error
		want                  string
	}{
		{evt3, file("evt2.raw", recorded(t, "evt2", g, events)), "", ErrOtherPart, "it is evt2"},
		{evt3, file("large.raw", recorded(t, "evt3", other, events)), "", ErrOtherPart, "640x480"},
		{evt3, csv, "evt3", ErrOtherPart, "it is csv"},
		{evt3, file("bare.csv", []byte("7,3,5,0\n70,30,50,1\n700,4,6,1\n")), "", ErrOtherPart, "it is csv"}, // nothing names its columns
		{csv, csv, "", ErrNotJoined, "csv: parts of this format cannot be joined"},
		{file("little.raw", recorded(t, "evt21", g, events)), file("legacy.raw", []byte(legacy)), "", ErrOtherPart, "it has legacy word order, the first part little word order"},
		{evt3, filepath.Join(dir, "absent.raw"), "", os.ErrNotExist, "absent.raw"},
		{evt3, dir, "", ErrFolder, "folder"},
	} {
		if _, err := joinAll(t, c.format, format.Policy{}, c.first, c.second); !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s and %s: %v, want %q", c.first, c.second, err, c.want)
		}
	}
	// A given size settles which of two is right.
	if _, err := joinAll(t, "", format.Policy{Size: other}, evt3, filepath.Join(dir, "large.raw")); err != nil {
		t.Error(err)
	}
}

// Errors name the part and where in it the byte stands, its own header counted.
func TestJoinedErrors(t *testing.T) {
	head := "% evt 3.0\n% format EVT3;height=48;width=64\n% end\n"
	paths := split(t, []byte(head+"\x01\x80\x02\x60\x03\x00\x04\x20\x05\x20\x99\x99"), int64(len(head)), false, int64(len(head))+8)
	src, err := joinAll(t, "", format.Policy{OnUnknown: format.Error}, paths...)
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = format.Drain(t.Context(), src)
	var e *format.SyntaxError
	if !errors.As(err, &e) || e.Part != paths[1] || e.Offset != int64(len(head))+2 || !strings.Contains(err.Error(), "rec_001.raw: evt3: offset") {
		t.Errorf("%v", err)
	}
	if path, at := src.(*recording).Place(int64(len(head)) + 9); path != paths[1] || at != int64(len(head))+1 {
		t.Errorf("%s, %d", path, at)
	}
}
