package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
)

// written are the names that recordings are written under, one for each format that needs no library.
var written = []string{"a.evt2", "a.evt21", "a.evt3", "a.dat", "a.txt", "a.csv", "a.npy", "a.npz", "a.arrow", "a.arrows", "a.parquet"}

// Every format gives back what went into it, with distinct values in each column.
func TestWrittenFormats(t *testing.T) {
	b := event.NewBuffer(0)
	for i := range 3000 {
		b.Append(int64(1000+37*i), uint16((7*i)%640), uint16((11*i)%480), int8(i%3/2))
	}
	in := write(t, "a.raw", vga, nil, b.Batch())
	names := written
	if hdf5Built {
		names = append(names[:len(names):len(names)], "a.h5")
	}
	for _, name := range names {
		dir := t.TempDir()
		out := filepath.Join(dir, name)
		must(t, 0, "convert", in, "-o", out)
		if csv(t, in) != csv(t, out) {
			t.Errorf("%s holds other events", name)
		}
		if got := eventtest.Names(t, dir); len(got) != 1 {
			t.Errorf("%s: the folder holds %v", name, got)
		}
	}
}

// --polarity-out pm1 stands in the file and reads back as 0 and 1; source keeps what the recording had. Formats that cannot
// hold it say which can.
func TestPolarityOut(t *testing.T) {
	in := write(t, "a.raw", vga, nil, one(5, 1, 2, 0), one(6, 3, 4, 1))
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	must(t, 0, "convert", in, "--polarity-out", "pm1", "-o", path("a.csv"))
	if b, _ := os.ReadFile(path("a.csv")); !strings.HasSuffix(string(b), "t,x,y,p\n5,1,2,-1\n6,3,4,1\n") {
		t.Errorf("the file is %q", b)
	}
	for _, name := range []string{"a.txt", "a.npy", "a.npz", "a.arrow"} {
		must(t, 0, "convert", in, "--polarity-out", "pm1", "-o", path(name))
		if got := csv(t, path(name), "--polarity-encoding", "pm1"); got != "t,x,y,p\n5,1,2,0\n6,3,4,1\n" {
			t.Errorf("%s holds %s", name, got)
		}
		again := path("again.csv")
		must(t, 0, "convert", path(name), "--polarity-out", "source", "-o", again, "--force")
		if b, _ := os.ReadFile(again); !strings.Contains(string(b), "5,1,2,-1\n") {
			t.Errorf("source of %s gives %q", name, b)
		}
	}
	must(t, 0, "convert", in, "--polarity-out", "source", "-o", path("zero.csv"))
	if b, _ := os.ReadFile(path("zero.csv")); !strings.Contains(string(b), "5,1,2,0\n") {
		t.Errorf("source of 0/1 gives %q", b)
	}
	for _, name := range []string{"b.evt3", "b.dat", "b.parquet"} {
		has(t, must(t, exitUsage, "convert", in, "--polarity-out", "pm1", "-o", path(name)).errOut, "pm1 is for", "npz", "csv")
	}
	has(t, must(t, exitUsage, "convert", in, "--polarity-out", "pm2", "-o", path("b.csv")).errOut, "pm1")
	must(t, exitFailed, "convert", in, "-o", path("a.csv"))
	if _, err := os.Stat(path("b.parquet")); err == nil {
		t.Error("a refused conversion leaves a file")
	}
}

// --time-type and --layout-out are for the formats that have them.
func TestTimeTypeAndLayout(t *testing.T) {
	in := write(t, "a.raw", vga, nil, one(5, 1, 2, 0), one(6, 3, 4, 1))
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"a.parquet", "a.arrow"} {
		must(t, 0, "convert", in, "--time-type", "duration", "-o", path(name))
		if csv(t, in) != csv(t, path(name)) {
			t.Errorf("%s holds other events", name)
		}
	}
	has(t, must(t, exitUsage, "convert", in, "--time-type", "duration", "-o", path("b.csv")).errOut, "duration is for parquet, arrow")
	has(t, must(t, exitUsage, "convert", in, "--layout-out", "dsec", "-o", path("b.csv")).errOut, "dsec is for hdf5")
	has(t, must(t, exitUsage, "convert", in, "--only", "triggers", "--time-type", "duration", "-o", path("b.csv")).errOut, "--only triggers")
	if got := eventtest.Names(t, dir); len(got) != 2 {
		t.Errorf("the folder holds %v", got)
	}
	if hdf5Built {
		must(t, 0, "convert", in, "--layout-out", "dsec", "-o", path("a.h5"))
		has(t, must(t, 0, "info", path("a.h5")).out, "DSEC")
		if csv(t, in) != csv(t, path("a.h5")) {
			t.Error("DSEC's layout holds other events")
		}
	}
}

// Triggers that the output has no place for are left out by name, and not counted as written.
func TestTriggersLeftOut(t *testing.T) {
	in := write(t, "a.raw", vga, []event.Trigger{{T: 5, Channel: 1}, {T: 6, Channel: 1}}, grid(5, 1, 10, 640, 480))
	dir := t.TempDir()
	r := must(t, 0, "convert", in, "-o", filepath.Join(dir, "a.csv"))
	has(t, r.errOut, "2 external triggers are left out", "--only triggers")
	if strings.Contains(r.errOut, ", 2 triggers") {
		t.Errorf("they are counted as written: %s", r.errOut)
	}
	for _, name := range []string{"a.evt2", "a.parquet"} {
		has(t, must(t, 0, "convert", in, "-o", filepath.Join(dir, name)).errOut, ", 2 triggers")
	}
}

// What a format cannot hold is an error that says what to do, and leaves no file.
func TestUnwritable(t *testing.T) {
	far := write(t, "far.parquet", event.Geometry{}, nil, one(5, 3000, 2, 0))
	wide := write(t, "wide.parquet", event.Geometry{}, nil, one(5, 20000, 2, 0))
	for _, c := range []struct{ in, out, want string }{
		{far, "a.evt3", "pixel (3000, 2)"}, {far, "a.evt2", "pixel (3000, 2)"}, {far, "a.evt21", "pixel (3000, 2)"}, {wide, "a.dat", "pixel (20000, 2)"},
	} {
		dir := t.TempDir()
		has(t, must(t, exitFailed, "convert", c.in, "-o", filepath.Join(dir, c.out)).errOut, c.want, "another format")
		if got := eventtest.Names(t, dir); len(got) != 0 {
			t.Errorf("%s: left behind %v", c.out, got)
		}
	}
}
