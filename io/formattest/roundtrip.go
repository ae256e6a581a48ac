package formattest

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/format"
)

// roundTrip writes what cases decode to, and seeded recordings, and reads it back.
func roundTrip(t *testing.T, f format.Format, cases []Case) {
	g := event.Geometry{Width: 346, Height: 260}
	hard := eventtest.Recording(5, 20_000, g)
	t.Run("recording", func(t *testing.T) { writeAndRead(t, f, g, hard, triggersFor(hard)) })
	t.Run("scene", func(t *testing.T) { writeAndRead(t, f, g, eventtest.Scene(5, 20_000, g), nil) })
	t.Run("empty", func(t *testing.T) { writeAndRead(t, f, g, event.Batch{}, nil) })
	for _, c := range cases {
		if len(c.Want) == 0 || !slices.IsSortedFunc(c.Want, func(a, b Event) int { return cmp.Compare(a[3], b[3]) }) {
			continue
		}
		b := event.NewBuffer(len(c.Want))
		for _, e := range c.Want {
			b.Append(e[3], uint16(e[0]), uint16(e[1]), int8(e[2]))
		}
		t.Run(c.Name, func(t *testing.T) { writeAndRead(t, f, event.Geometry{}, b.Batch(), c.Triggers) })
	}
}

// triggersFor makes triggers before, between, with and after the events.
func triggersFor(b event.Batch) (out []event.Trigger) {
	t := b.T()
	for i := 0; i < len(t); i += 1 + len(t)/50 {
		out = append(out, event.Trigger{T: t[i], Channel: int16(i % 8), Rising: i%3 == 0})
	}
	return append(out, event.Trigger{T: t[len(t)-1] + 1, Channel: 1})
}

// writeAndRead writes b in uneven batches. Formats that have no place for triggers do not give them back; those that
// have give back all.
func writeAndRead(t *testing.T, f format.Format, g event.Geometry, b event.Batch, triggers []event.Trigger) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "written"+f.Extensions[0])
	sink, err := f.Create(path, format.Header{Geometry: g, Fields: []event.Field{{Key: "serial_number", Value: "00000307"}}}, format.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := sink.WriteTriggers(triggers); err != nil {
		t.Fatal(err)
	}
	for i, n := 0, 1; i < b.Len(); i, n = i+n, n*3%1009+1 {
		n = min(n, b.Len()-i)
		if err := sink.Write(t.Context(), b.Slice(i, i+n)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("the recording has its name before it is complete")
	}
	if err := sink.Close(); err != nil {
		t.Fatal(err)
	}
	src := OpenPath(t, f, path, format.Policy{Strict: true})
	if f.Writing.NoSize {
		g = event.Geometry{}
	}
	if src.Geometry() != g {
		t.Errorf("the geometry is %v, want %v", src.Geometry(), g)
	}
	got, gotTriggers, rep := Collect(t, src)
	if d := eventtest.Diff(got.Batch(), b); d != "" {
		t.Error(d)
	}
	if len(gotTriggers) > 0 && !slices.Equal(gotTriggers, triggers) {
		t.Errorf("triggers are %v, want %v", gotTriggers, triggers)
	}
	if rep.Lost() {
		t.Errorf("reading what was written loses %v", rep.Losses())
	}
}

// OpenPath opens the recording at path for the time of a test, once the format has recognised it.
func OpenPath(t testing.TB, f format.Format, path string, p format.Policy) event.Source {
	t.Helper()
	in := Open(t, path)
	if p := f.Sniff(in); p.Confidence <= 0.5 {
		t.Errorf("%s does not recognise %s: %s", f.Name, path, p.Why)
	}
	src, err := f.Open(t.Context(), in, p)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeSource(src) })
	return src
}

// Open opens a file for the time of a test, as the list of formats does.
func Open(t testing.TB, path string) format.File {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	st, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	return format.File{ReaderAt: f, Size: st.Size(), Path: path}
}
