package formattest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/format"
)

// An Event is one expected event: x, y, p, t.
type Event [4]int64

// A Case is one recording and what decoding it yields.
type Case struct {
	Name     string
	Data     []byte
	Policy   format.Policy
	Want     []Event
	Triggers []event.Trigger
	// Counters are those that are not zero, but for unknown, which Unknown lists by type.
	Counters map[event.Counter]int64
	Unknown  map[string]int64
	// Forced says that the bytes alone do not prove the format: it is opened by name and not sniffed.
	Forced bool
	// OnDisk puts the recording into a file, for formats whose libraries open files themselves.
	OnDisk bool
	// NoPrefix says that a cut recording need not yield the first events of the whole one, as where an index ends
	// the file.
	NoPrefix bool
}

// budget is how long one decode of a damaged case may take: far longer than any needs, so that only a loop without
// end fails.
const budget = 10 * time.Second

// damaged bounds how many cuts and how many flipped bits of a case are tried.
const damaged = 2000

// Run holds a format to what every format must do, over each case: its bytes are recognised and no others are; it
// decodes to what is expected, whatever the size of reads, again and at the same time; cut or with any bit flipped
// it never panics or hangs; a cancelled scan ends. What a format can write, it reads back.
func Run(t *testing.T, f format.Format, cases ...Case) {
	t.Helper()
	t.Run("sniff/foreign", func(t *testing.T) { foreign(t, f) })
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			t.Run("sniff", func(t *testing.T) { c.sniff(t, f) })
			t.Run("decode", func(t *testing.T) { c.decode(t, f) })
			t.Run("readsize", func(t *testing.T) { c.readSizes(t, f) })
			t.Run("rescan", func(t *testing.T) { c.rescan(t, f) })
			t.Run("cancel", func(t *testing.T) { c.cancel(t, f) })
			t.Run("cut", func(t *testing.T) { c.cuts(t, f) })
			t.Run("shrunk", func(t *testing.T) { c.shrunk(t, f) })
			t.Run("flip", func(t *testing.T) { c.flips(t, f) })
		})
	}
	if f.Create != nil {
		t.Run("roundtrip", func(t *testing.T) { roundTrip(t, f, cases) })
	}
}

// file makes data readable as the format wants it.
func (c Case) file(t testing.TB, data []byte) (format.File, func()) {
	t.Helper()
	if !c.OnDisk {
		return format.File{ReaderAt: bytes.NewReader(data), Size: int64(len(data)), Path: c.Name}, func() {}
	}
	path := filepath.Join(t.TempDir(), "recording")
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return format.File{ReaderAt: f, Size: int64(len(data)), Path: path}, func() { _ = f.Close() }
}

func (c Case) open(t testing.TB, f format.Format, p format.Policy) event.Source {
	t.Helper()
	file, done := c.file(t, c.Data)
	t.Cleanup(done)
	src, err := f.Open(t.Context(), file, p)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeSource(src) })
	return src
}

func closeSource(src event.Source) {
	if c, ok := src.(interface{ Close() error }); ok {
		_ = c.Close()
	}
}

func (c Case) sniff(t *testing.T, f format.Format) {
	if c.Forced {
		return
	}
	file, done := c.file(t, c.Data)
	defer done()
	p := f.Sniff(file)
	if p.Confidence <= 0.5 || p.Confidence > 1 {
		t.Errorf("confidence %v in a recording of its own (why: %s)", p.Confidence, p.Why)
	}
	if p.Why == "" {
		t.Error("a claim without a reason")
	}
}

// foreign offers what belongs to others: nothing, noise, and the first bytes of other formats.
func foreign(t *testing.T, f format.Format) {
	noise := make([]byte, 1<<20)
	for i, r := 0, rand.New(rand.NewPCG(7, 7)); i < len(noise); i++ {
		noise[i] = byte(r.Uint32())
	}
	samples := map[string][]byte{
		"":        nil,
		"noise":   noise,
		"zeros":   make([]byte, 4096),
		"ones":    bytes.Repeat([]byte{0xFF}, 4096),
		"prose":   bytes.Repeat([]byte("It was a bright cold day in April. 13 clocks, 4 of them late.\n"), 50),
		"png":     append([]byte("\x89PNG\r\n\x1a\n"), noise[:4096]...),
		"zip":     append([]byte("PK\x03\x04"), noise[:4096]...),
		"hdf5":    append([]byte("\x89HDF\r\n\x1a\n"), noise[:4096]...),
		"parquet": slices.Concat([]byte("PAR1"), noise[:4096], []byte("PAR1")),
		"evt2":    append([]byte("% evt 2.0\n% format EVT2;height=480;width=640\n% end\n"), noise[:4096]...),
		"evt21":   append([]byte("% evt 2.1\n% format EVT21;endianness=legacy;height=480;width=640\n% end\n"), noise[:4096]...),
		"evt3":    append([]byte("% evt 3.0\n% format EVT3;height=480;width=640\n% end\n"), noise[:4096]...),
		"dat":     append([]byte("% Data file containing CD events.\n% Version 2\n% Height 480\n% Width 640\n\x0c\x08"), noise[:4096]...),
		"aedat2":  append([]byte("#!AER-DAT2.0\r\n# a comment\r\n"), noise[:4096]...),
		"aedat4":  append([]byte("#!AER-DAT4.0\r\n"), noise[:4096]...),
		"es":      append([]byte("Event Stream\x02\x00\x00\x01"), noise[:4096]...),
	}
	for name, data := range samples {
		if name == f.Name {
			continue
		}
		c := Case{Name: name, OnDisk: true} // on disk, so that every format can look at it
		file, done := c.file(t, data)
		if p := f.Sniff(file); p.Confidence > 0.5 {
			t.Errorf("claims %q with confidence %v: %s", name, p.Confidence, p.Why)
		}
		done()
	}
}

// An outcome is all that a scan gives.
type outcome struct {
	events   []Event
	triggers []event.Trigger
	report   string
	err      error
}

func list(b *event.Buffer) []Event {
	out := make([]Event, b.Len())
	for i := range out {
		out[i] = Event{int64(b.X[i]), int64(b.Y[i]), int64(b.P[i]), b.T[i]}
	}
	return out
}

func scanAll(ctx context.Context, src event.Source) outcome {
	b, triggers, rep, err := scan(ctx, src)
	out := outcome{triggers: triggers, report: rep.String(), err: err}
	out.events = list(b)
	return out
}

// same names the first difference, "" where there is none.
func (o outcome) same(w outcome) string {
	switch {
	case (o.err == nil) != (w.err == nil):
		return fmt.Sprintf("the error is %v, not %v", o.err, w.err)
	case !slices.Equal(o.triggers, w.triggers):
		return fmt.Sprintf("triggers are %v, not %v", o.triggers, w.triggers)
	case o.report != w.report:
		return fmt.Sprintf("counters are %s, not %s", o.report, w.report)
	}
	return difference(o.events, w.events)
}

func difference(got, want []Event) string {
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			return fmt.Sprintf("event %d is %v, not %v", i, got[i], want[i])
		}
	}
	if len(got) != len(want) {
		return fmt.Sprintf("%d events, not %d", len(got), len(want))
	}
	return ""
}

func (c Case) decode(t *testing.T, f format.Format) {
	events, triggers, rep := Collect(t, c.open(t, f, c.Policy))
	got := list(events)
	if d := difference(got, c.Want); d != "" {
		t.Errorf("%s\ngot  %v\nwant %v", d, firsts(got), firsts(c.Want))
	}
	if !slices.Equal(triggers, c.Triggers) {
		t.Errorf("triggers are %v, want %v", triggers, c.Triggers)
	}
	if rep.Events != int64(len(got)) {
		t.Errorf("the report counts %d events of %d", rep.Events, len(got))
	}
	for i, doc := range event.Counters() {
		k := event.Counter(i)
		if k != event.Unknown && rep.N(k) != c.Counters[k] {
			t.Errorf("%s is %d, want %d", doc.Name, rep.N(k), c.Counters[k])
		}
	}
	if !maps.Equal(rep.UnknownKinds(), c.Unknown) {
		t.Errorf("unknown is %v, want %v", rep.UnknownKinds(), c.Unknown)
	}
}

func firsts(e []Event) []Event { return e[:min(len(e), 12)] }

func (c Case) readSizes(t *testing.T, f format.Format) {
	want := scanAll(t.Context(), c.open(t, f, c.Policy))
	for _, n := range []int{1, 2, 3, 7, 64, 4096} {
		if n < 64 && len(c.Data) > 1<<20 {
			continue // one read for each word of a long case says nothing new
		}
		p := c.Policy
		p.ReadSize = n
		if d := scanAll(t.Context(), c.open(t, f, p)).same(want); d != "" {
			t.Errorf("reading %d bytes at a time: %s", n, d)
		}
	}
}

func (c Case) rescan(t *testing.T, f format.Format) {
	src := c.open(t, f, c.Policy)
	want := scanAll(t.Context(), src)
	if d := scanAll(t.Context(), src).same(want); d != "" {
		t.Errorf("the second scan: %s", d)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if d := scanAll(t.Context(), src).same(want); d != "" {
				t.Errorf("a scan beside others: %s", d)
			}
		})
	}
	wg.Wait()
}

func (c Case) cancel(t *testing.T, f format.Format) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	src := c.open(t, f, c.Policy)
	if got := scanAll(ctx, src); len(c.Want) > 0 && !errors.Is(got.err, context.Canceled) {
		t.Errorf("a cancelled scan ends with %v after %d events, want %v", got.err, len(got.events), context.Canceled)
	}
	if got := scanAll(t.Context(), src); got.err != nil {
		t.Errorf("a scan after a cancelled one: %v", got.err)
	}
}
