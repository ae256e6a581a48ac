package formats

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/formattest"
)

func TestListIsSound(t *testing.T) {
	names, extensions := map[string]bool{}, map[string]string{}
	for _, f := range All {
		if f.Name == "" || f.Doc == "" || f.Sniff == nil || f.Open == nil {
			t.Errorf("%+v lacks a name, a doc, Sniff or Open", f)
		}
		if names[f.Name] {
			t.Errorf("two formats are called %s", f.Name)
		}
		names[f.Name] = true
		for _, e := range f.Extensions {
			if other, taken := extensions[e]; taken && f.Create != nil { // those that are only read may share one
				t.Errorf("%s and %s both write %s", f.Name, other, e)
			}
			if f.Create != nil {
				extensions[e] = f.Name
			}
			if !strings.HasPrefix(e, ".") {
				t.Errorf("%s: extension %q has no dot", f.Name, e)
			}
		}
	}
}

func TestDetect(t *testing.T) {
	raw := "% evt 2.0\n% format EVT3;height=480;width=640\n% end\n"
	m, err := Detect(strings.NewReader(raw), int64(len(raw)))
	if err != nil {
		t.Fatal(err)
	}
	if m.Format != "evt3" || m.Version != "3.0" || m.Confidence < 0.9 || !strings.Contains(m.Why, "EVT3") {
		t.Errorf("format wins over evt: got %+v", m)
	}
	if len(m.Properties) == 0 || m.Properties[0] != (event.Field{Key: "geometry", Value: "640x480"}) {
		t.Errorf("properties %v lack the geometry", m.Properties)
	}
}

func TestDetectUnknown(t *testing.T) {
	noise := make([]byte, 1<<20)
	r := rand.New(rand.NewPCG(1, 1))
	for i := range noise {
		noise[i] = byte(r.Uint32())
	}
	_, err := Detect(bytes.NewReader(noise), int64(len(noise)))
	var unknown *UnknownError
	if !errors.Is(err, format.ErrUnknown) || !errors.As(err, &unknown) || len(unknown.Tried) != len(All) {
		t.Fatalf("random bytes: error %v, want one that lists every format", err)
	}
	for _, f := range All {
		if !strings.Contains(err.Error(), f.Name) {
			t.Errorf("the error does not name %s: %v", f.Name, err)
		}
	}
}

func TestDetectSurvivesAPanic(t *testing.T) {
	saved := All
	defer func() { All = saved }()
	bad := format.Format{Name: "bad", Sniff: func(format.File) format.Proof { panic("oops") }}
	All = append([]format.Format{bad}, saved...)
	if m, err := Detect(strings.NewReader("% evt 3.0\n"), 10); err != nil || m.Format != "evt3" {
		t.Errorf("got %+v, %v, want evt3", m, err)
	}
}

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	write := func(name, data string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(data), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	words := "\x01\x80\x02\x60\x03\x00\x04\x20"
	empty, bare := write("empty.raw", ""), write("bare.raw", words)
	evt3 := write("any.dat", "% evt 3.0\n% end\n"+words) // the name says nothing
	for _, c := range []struct {
		path, name string
		events     int
		want       string // of the error
	}{
		{evt3, "", 1, ""},
		{bare, "evt3", 1, ""},
		{bare, "", 0, "--format NAME"},
		{empty, "", 0, "--format NAME makes an empty store"},
		{empty, "evt3", 0, ""},
		{evt3, "evt33", 0, "did you mean evt3?"},
		{evt3, "evt2", 0, "evt field says 3.0"},
		{filepath.Join(dir, "absent.raw"), "", 0, "absent.raw"},
		{dir, "", 0, "it is a folder"},
		{dir, "evt3", 0, "it is a folder"},
	} {
		src, err := Open(t.Context(), c.path, c.name, format.Policy{})
		if c.want != "" {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s as %q: error %v, want one with %q", c.path, c.name, err, c.want)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s as %q: %v", c.path, c.name, err)
			continue
		}
		if b := eventtest.Drain(t, src, event.All); b.Len() != c.events {
			t.Errorf("%s as %q: %d events, want %d", c.path, c.name, b.Len(), c.events)
		}
		if err := src.(io.Closer).Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestOpenClosesTheFile looks for open files where the system lists them.
func TestOpenClosesTheFile(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("open files are counted in /proc, which only Linux has")
	}
	path := filepath.Join(t.TempDir(), "x.raw")
	if err := os.WriteFile(path, []byte("% evt 3.0\n% end\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	count := func() int {
		n, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skip(err)
		}
		return len(n)
	}
	before := count()
	for range 10 {
		src, err := Open(t.Context(), path, "", format.Policy{})
		if err != nil {
			t.Fatal(err)
		}
		_ = src.(io.Closer).Close()
		if _, err := Open(t.Context(), path, "evt2", format.Policy{}); err == nil {
			t.Fatal("an EVT3 recording opens as EVT2")
		}
	}
	if after := count(); after > before+5 {
		t.Errorf("%d files are open, %d before", after, before)
	}
}

func TestByExtension(t *testing.T) {
	for path, want := range map[string]string{"a.raw": "evt3", "a.RAW": "evt3", "b/c.evt2": "evt2"} {
		if f, err := ByExtension(path); err != nil || f.Name != want {
			t.Errorf("%s: %s, %v, want %s", path, f.Name, err, want)
		}
	}
	if _, err := ByExtension("a.xyz"); err == nil || !strings.Contains(err.Error(), ".raw") {
		t.Errorf("a.xyz: error %v, want one that lists the extensions", err)
	}
}

func TestNearest(t *testing.T) {
	of := []string{"evt2", "evt21", "evt3", "hdf5", "parquet", "rosbag"}
	for word, want := range map[string]string{"evt33": "evt3", "EVT3": "evt3", "parqet": "parquet", "h5": "", "hdf": "hdf5", "rosbag3": "rosbag", "": "", "zebra": ""} {
		if got := Nearest(word, of); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", word, got, want)
		}
	}
}

func TestRecordings(t *testing.T) {
	data := eventtest.Data(t)
	for name, want := range map[string]string{
		"evt2/faery_evt2.raw": "evt2", "evt_wrap_derived/evt2_timehigh_wrap34.raw": "evt2",
		"evt3/expelliarmus_evt3_sample.raw": "evt3", "evt3_from_ros/evt3_trigger_1280x720.raw": "evt3", "evt_wrap_derived/evt3_timehigh_wrap24.raw": "evt3",
	} {
		src, err := Open(t.Context(), filepath.Join(data, name), "", format.Policy{})
		if err != nil {
			t.Error(err)
			continue
		}
		if got := src.Info().Format; got != want {
			t.Errorf("%s is recognised as %s, want %s", name, got, want)
		}
		formattest.CheckReference(t, data, name, src)
		_ = src.(io.Closer).Close()
	}
}
