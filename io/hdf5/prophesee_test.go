//go:build hdf5 && cgo

package hdf5

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/formattest"
	"github.com/evq-project/evq/io/hdf5/chunk"
	"github.com/evq-project/evq/io/hdf5/ecf"
	"gonum.org/v1/hdf5"
)

func TestPropheseeReferences(t *testing.T) {
	data := eventtest.Data(t)
	names := formattest.References(t, data, "prophesee_hdf5")
	if len(names) != 3 {
		t.Fatalf("%d recordings", len(names))
	}
	for _, name := range names {
		s, err := openTest(t, filepath.Join(data, name), format.Policy{})
		if err != nil {
			t.Error(err)
			continue
		}
		formattest.CheckReference(t, data, name, s)
		i := s.Info()
		triggers := map[bool]string{true: "2; kept as triggers"}[strings.Contains(name, "trigger")]
		if i.Version != "1.0" || i.Unit != "us" || (event.Info{Fields: i.Streams}).Field(triggersPath) != triggers || !strings.HasPrefix(i.Field("layout"), "/CD/events") {
			t.Errorf("%s: info %+v", name, i)
		}
		if want := map[bool]event.Geometry{true: {Width: 640, Height: 480}, false: {Width: 1280, Height: 720}}[strings.Contains(name, "faery")]; s.Geometry() != want {
			t.Errorf("%s: %v, want %v", name, s.Geometry(), want)
		}
	}
}

// A field is one field of a record of a test file.
type field struct {
	name string
	at   int
	typ  *hdf5.Datatype
}

var (
	cdFields = []field{{"x", 0, hdf5.T_STD_U16LE}, {"y", 2, hdf5.T_STD_U16LE}, {"p", 4, hdf5.T_STD_I16LE}, {"t", 8, hdf5.T_STD_I64LE}}
	// Triggers of Prophesee's files: {p i2, t i8, id i2}, padded to 24 bytes.
	triggerRecord = []field{{"p", 0, hdf5.T_STD_I16LE}, {"t", 8, hdf5.T_STD_I64LE}, {"id", 16, hdf5.T_STD_I16LE}}
)

// recordType makes a structured type.
func recordType(t testing.TB, size int, fields []field) *hdf5.CompoundType {
	t.Helper()
	c, err := hdf5.NewCompoundType(size)
	for _, f := range fields {
		if err == nil {
			err = c.Insert(f.name, f.at, f.typ)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// newFile makes an HDF5 file.
func newFile(t testing.TB, fill func(h *hdf5.File) error) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "test.hdf5")
	err := locked(func() error {
		h, err := hdf5.CreateFile(path, hdf5.F_ACC_TRUNC)
		if err != nil {
			return err
		}
		return errors.Join(fill(h), h.Close())
	})
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// makeGroups makes a group and those above it.
func makeGroups(h *hdf5.File, path string) error {
	made := ""
	for part := range strings.SplitSeq(path, "/") {
		if made += part; part != "" && !h.LinkExists(made) {
			g, err := h.CreateGroup(made)
			if err != nil {
				return err
			}
			_ = g.Close()
		}
		made += "/"
	}
	return nil
}

// chunked writes a dataset that grows, chunk by chunk as they are stored.
func chunked(h *hdf5.File, name string, typ int64, rows int, dims []int, filters []chunk.Filter, chunks ...[]byte) error {
	d, err := createDatasetOf(h.ID(), name, typ, dims, filters)
	if err != nil {
		return err
	}
	err = extend(d, int64(rows))
	for i, b := range chunks {
		if err == nil && b != nil {
			err = writeChunk(d, int64(i*dims[0]), b)
		}
	}
	return errors.Join(err, closeDataset(d))
}

// textAttributes writes strings to the root.
func textAttributes(h *hdf5.File, attributes map[string]string) error {
	root, err := h.OpenGroup("/")
	if err != nil {
		return err
	}
	defer root.Close()
	sp, err := hdf5.CreateDataspace(hdf5.S_SCALAR)
	if err != nil {
		return err
	}
	defer sp.Close()
	for name, v := range attributes {
		a, err := root.CreateAttribute(name, hdf5.T_GO_STRING, sp)
		if err == nil {
			err = errors.Join(a.Write(&v, hdf5.T_GO_STRING), a.Close())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// cdRecords makes the records of events.
func cdRecords(b event.Batch) []byte {
	var out []byte
	for i, t := range b.T() {
		out = binary.LittleEndian.AppendUint16(out, b.X()[i])
		out = binary.LittleEndian.AppendUint16(out, b.Y()[i])
		out = binary.LittleEndian.AppendUint32(out, uint32(b.P()[i]))
		out = binary.LittleEndian.AppendUint64(out, uint64(t))
	}
	return out
}

func triggerRecords(tr []event.Trigger) []byte {
	out := make([]byte, 24*len(tr))
	for i, v := range tr {
		r := out[24*i:]
		if v.Rising {
			r[0] = 1
		}
		binary.LittleEndian.PutUint64(r[8:], uint64(v.T))
		binary.LittleEndian.PutUint16(r[16:], uint16(v.Channel))
	}
	return out
}

const testChunk = 64

// deflated is what the filter gzip stores.
func deflated(b []byte) []byte {
	var out bytes.Buffer
	z := zlib.NewWriter(&out)
	_, _ = z.Write(b)
	_ = z.Close()
	return out.Bytes()
}

// blocks stores records in ECF, testChunk at a time, the last block short.
func blocks(t testing.TB, records []byte) [][]byte {
	t.Helper()
	var out [][]byte
	for part := range slices.Chunk(records, testChunk*ecf.RecordSize) {
		b, err := ecf.Append(nil, part)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, b)
	}
	return out
}

// propheseeFile writes events as Prophesee's writer does, with some way to store the chunks.
func propheseeFile(t testing.TB, b event.Batch, triggers []event.Trigger, filters []chunk.Filter, store func(records []byte) [][]byte) string {
	t.Helper()
	return newFile(t, func(h *hdf5.File) error {
		cd, ext := recordType(t, ecf.RecordSize, cdFields), recordType(t, 24, triggerRecord)
		return errors.Join(makeGroups(h, "CD"), makeGroups(h, "EXT_TRIGGER"),
			chunked(h, "CD/events", cd.ID(), b.Len(), []int{testChunk}, filters, store(cdRecords(b))...),
			chunked(h, triggersPath[1:], ext.ID(), len(triggers), []int{128}, nil, padded(triggerRecords(triggers), 128*24)),
			textAttributes(h, map[string]string{"version": "1.0", "format": "ECF;height=480;width=640", "geometry": "640x480"}))
	})
}

// padded returns b as a whole chunk, nil where it is empty.
func padded(b []byte, n int) []byte {
	if len(b) == 0 {
		return nil
	}
	return append(slices.Clone(b), make([]byte, n-len(b))...)
}

var (
	ecfFilter = []chunk.Filter{{ID: ecf.Filter}}
	someEdges = []event.Trigger{{T: -7, Channel: 3, Rising: true}, {T: 9, Channel: 0}}
)

// fromMinus5 are events that start before 0.
func fromMinus5(n int) event.Batch {
	b := event.NewBuffer(n)
	for i := range n {
		b.Append(int64(i*i/5)-5, uint16(i*37%640), uint16(i/3%480), int8(i/2%2))
	}
	return b.Batch()
}

func TestPropheseeSuite(t *testing.T) {
	if testing.Short() {
		t.Skip("thousands of damaged files take seconds")
	}
	b := fromMinus5(150)
	data, err := os.ReadFile(propheseeFile(t, b, someEdges, ecfFilter, func(r []byte) [][]byte { return blocks(t, r) }))
	if err != nil {
		t.Fatal(err)
	}
	c := formattest.Case{Name: "prophesee", Data: data, OnDisk: true, Triggers: someEdges, Counters: map[event.Counter]int64{event.Triggers: 2}}
	for i := range b.Len() {
		c.Want = append(c.Want, formattest.Event{int64(b.X()[i]), int64(b.Y()[i]), int64(b.P()[i]), b.T()[i]})
	}
	f := Format
	f.Create = nil // it writes another layout, which has a suite of its own
	formattest.Run(t, f, c)
}

// ECF, plain and gzip hold the same events, in a last chunk that is padded or short; ECF that was left out too.
func TestPropheseeStorage(t *testing.T) {
	for _, n := range []int{0, 1, testChunk - 1, testChunk, testChunk + 1, 5*testChunk + 3} {
		want := fromMinus5(n)
		parts := func(whole bool, pack func([]byte) []byte) func([]byte) [][]byte {
			return func(r []byte) (out [][]byte) {
				for part := range slices.Chunk(r, testChunk*ecf.RecordSize) {
					if whole {
						part = padded(part, testChunk*ecf.RecordSize)
					}
					out = append(out, pack(part))
				}
				return out
			}
		}
		for name, s := range map[string]struct {
			filters []chunk.Filter
			store   func([]byte) [][]byte
		}{
			"ecf":        {ecfFilter, func(r []byte) [][]byte { return blocks(t, r) }},
			"plain":      {nil, parts(true, bytes.Clone)},
			"gzip":       {[]chunk.Filter{{ID: chunk.Deflate, Values: []uint32{6}}}, parts(true, deflated)},
			"gzip short": {[]chunk.Filter{{ID: chunk.Deflate, Values: []uint32{6}}}, parts(false, deflated)},
		} {
			path := propheseeFile(t, want, someEdges, s.filters, s.store)
			b, rep, err := drain(t, path, format.Policy{Threads: 2})
			if err != nil || eventtest.Diff(b, want) != "" || rep.N(event.Triggers) != 2 {
				t.Errorf("%d events, %s: %s, %v: %v", n, name, eventtest.Diff(b, want), rep, err)
			}
		}
	}
}

// Columns that are not asked for do not come, from tables either.
func TestPropheseeColumns(t *testing.T) {
	want := fromMinus5(500)
	s, err := openTest(t, propheseeFile(t, want, nil, ecfFilter, func(r []byte) [][]byte { return blocks(t, r) }), format.Policy{OnOffSensor: format.Keep})
	if err != nil {
		t.Fatal(err)
	}
	ask := event.All
	ask.Columns = event.ColY
	got := eventtest.Drain(t, s, ask)
	if !slices.Equal(got.T(), want.T()) || !slices.Equal(got.Y(), want.Y()) || got.X() != nil || got.P() != nil {
		t.Error("columns differ, or others came")
	}
}

func TestPropheseeTriggers(t *testing.T) {
	var want []event.Trigger
	for i := range 100 {
		want = append(want, event.Trigger{T: int64(i) * 1000, Channel: int16(i % 7), Rising: i%2 == 0})
	}
	path := propheseeFile(t, fromMinus5(70), want, ecfFilter, func(r []byte) [][]byte { return blocks(t, r) })
	s, err := openTest(t, path, format.Policy{})
	if err != nil {
		t.Fatal(err)
	}
	if _, got, rep := formattest.Collect(t, s); !slices.Equal(got, want) || rep.N(event.Triggers) != 100 {
		t.Errorf("%d triggers, report %v", len(got), rep)
	}
	stop := errors.New("stop")
	ask := event.All
	ask.Triggers = func([]event.Trigger) error { return stop }
	if _, err := event.Each(t.Context(), s, ask, func(event.Batch) error { return nil }); !errors.Is(err, stop) {
		t.Errorf("an error of the receiver: %v", err)
	}
}

// Triggers of another kind are named among what is left out; the events are read.
func TestPropheseeOddTriggers(t *testing.T) {
	path := newFile(t, func(h *hdf5.File) error {
		cd := recordType(t, ecf.RecordSize, cdFields)
		return errors.Join(makeGroups(h, "CD"), makeGroups(h, "EXT_TRIGGER"), makeGroups(h, "IMU"),
			chunked(h, "CD/events", cd.ID(), 3, []int{testChunk}, ecfFilter, blocks(t, cdRecords(fromMinus5(3)))...),
			writeRaw(h, triggersPath, hdf5.T_STD_I64LE, 2, make([]byte, 16)),
			writeRaw(h, "IMU/accelerations", hdf5.T_IEEE_F64LE, 2, make([]byte, 16)))
	})
	s, err := openTest(t, path, format.Policy{})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, f := range s.Info().Streams {
		got[f.Key], _, _ = strings.Cut(f.Value, ":")
	}
	if want := map[string]string{triggersPath: "left out", "/IMU/accelerations": "left out"}; !maps.Equal(got, want) {
		t.Errorf("streams %v", s.Info().Streams)
	}
	if b, _, err := format.Drain(t.Context(), s); err != nil || b.Len() != 3 {
		t.Errorf("%d events: %v", b.Len(), err)
	}
}

// Blocks that are damaged, too short, or not those of 16-byte records are errors that name the dataset and the chunk.
func TestPropheseeDamage(t *testing.T) {
	records := cdRecords(fromMinus5(3 * testChunk))
	for name, change := range map[string]func(b []byte) []byte{
		"cut":       func(b []byte) []byte { return b[:len(b)/2] },
		"too few":   func([]byte) []byte { return blocks(t, records[:16*(testChunk-1)])[0] },
		"too many":  func(b []byte) []byte { return binary.LittleEndian.AppendUint32(nil, math.MaxUint32) },
		"no header": func([]byte) []byte { return []byte{1} },
	} {
		path := propheseeFile(t, fromMinus5(3*testChunk), nil, ecfFilter, func(r []byte) [][]byte {
			all := blocks(t, r)
			all[1] = change(all[1])
			return all
		})
		_, _, err := drain(t, path, format.Policy{})
		if !errors.Is(err, ecf.ErrDamaged) || !strings.Contains(err.Error(), "/CD/events") || !strings.Contains(err.Error(), "rows 64-127") {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A block of more events than the chunk has rows in use is no damage: writers that fill up chunks make them.
	path := propheseeFile(t, fromMinus5(testChunk/2), nil, ecfFilter, func([]byte) [][]byte { return blocks(t, records)[:1] })
	if b, _, err := drain(t, path, format.Policy{}); err != nil || eventtest.Diff(b, fromMinus5(testChunk/2)) != "" {
		t.Errorf("a block that is filled up: %v", err)
	}
}

func TestPropheseeUnit(t *testing.T) {
	path := propheseeFile(t, fromMinus5(3), nil, ecfFilter, func(r []byte) [][]byte { return blocks(t, r) })
	if _, err := openTest(t, path, format.Policy{TimeUnit: "us"}); err != nil {
		t.Error(err)
	}
	if _, err := openTest(t, path, format.Policy{TimeUnit: "ns"}); err == nil || !strings.Contains(err.Error(), "by definition") {
		t.Errorf("ns: %v", err)
	}
}

// Without the attribute geometry the size stands in format.
func TestSizeIn(t *testing.T) {
	want := event.Geometry{Width: 1280, Height: 720}
	for name, fields := range map[string][]event.Field{
		"geometry": {{Key: "geometry", Value: "1280x720"}},
		"format":   {{Key: "geometry", Value: "large"}, {Key: "format", Value: "ECF;height=720;width=1280"}},
	} {
		if g := sizeIn(fields); g != want {
			t.Errorf("%s: %v", name, g)
		}
	}
	for _, bad := range []string{"", "0x5", "-1x5", "99999999x2", "1280"} {
		if g := sizeIn([]event.Field{{Key: "geometry", Value: bad}}); g.Known() {
			t.Errorf("%q: %v", bad, g)
		}
	}
}

// Chunks of no rows make the library divide by zero; they are refused before it sees them.
func TestChunksOfNoRows(t *testing.T) {
	path := propheseeFile(t, fromMinus5(70), nil, ecfFilter, func(r []byte) [][]byte { return blocks(t, r) })
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(b, []byte{testChunk, 0, 0, 0, ecf.RecordSize, 0, 0, 0})
	if at < 11 || !bytes.HasPrefix(b[at-11:], []byte{3, 2, 2}) { // a layout message: version 3, chunked, two extents
		t.Fatal("no layout message")
	}
	for _, change := range []int{at, at - 9} { // the rows of a chunk, the number of its extents
		old := b[change]
		b[change] = 0
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := drain(t, path, format.Policy{}); err == nil {
			t.Error("chunks of no rows are read")
		}
		if _, err = openTest(t, path, format.Policy{DatasetMap: map[string]string{"t": "CD/events/t"}}); err == nil {
			t.Error("chunks of no rows are opened")
		}
		b[change] = old
	}
	for _, m := range [][]byte{
		{1, 2, 2, 0, 0, 0, 0, 0, 9, 9, 9, 9, 9, 9, 9, 9, 1, 0, 0, 0, 0, 0, 0, 0}, {4, 2, 0, 2, 1, 7, 0}, {3, 2, 1, 9, 9, 9, 9, 9, 9, 9, 9, 0, 0, 0, 0},
	} {
		whole := slices.Clone(m)
		for i := max(len(m)-4, 6); i < len(m); i++ {
			whole[i] |= 1
		}
		n, zero := chunkExtents(m)
		if _, good := chunkExtents(whole); !zero || good || n == 0 {
			t.Errorf("% x: %d extents, %v, % x: %v", m, n, zero, whole, good)
		}
		for n := range m {
			chunkExtents(m[:n])
		}
	}
}
