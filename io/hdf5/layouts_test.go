//go:build hdf5 && cgo

package hdf5

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/formattest"
	"github.com/evq-project/evq/io/hdf5/chunk"
	"gonum.org/v1/hdf5"
)

// The same three events in every layout.
var three = event.New([]int64{249, 1833, 3917}, []uint16{1, 2, 345}, []uint16{4, 5, 259}, []int8{0, 1, 1})

// floats are little-endian float64.
func floats(v ...float64) (b []byte) {
	for _, f := range v {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(f))
	}
	return b
}

// words are little-endian uint32.
func words(v ...uint32) (b []byte) {
	for _, w := range v {
		b = binary.LittleEndian.AppendUint32(b, w)
	}
	return b
}

// integerGroup writes the three events as columns of some names in a group.
func integerGroup(t testing.TB, h *hdf5.File, group, ts, x, y, p string) error {
	t.Helper()
	err := makeGroups(h, group)
	for name, v := range map[string][]int64{ts: three.T(), x: {1, 2, 345}, y: {4, 5, 259}, p: {0, 1, 1}} {
		e := elem{size: 4}
		err = errors.Join(err, writeRaw(h, group+"/"+name, types[e], len(v), stored(e, v)))
	}
	return err
}

// matrix writes rows of four.
func matrix(h *hdf5.File, name string, typ *hdf5.Datatype, raw []byte) error {
	sp, err := hdf5.CreateSimpleDataspace([]uint{3, 4}, nil)
	if err != nil {
		return err
	}
	defer sp.Close()
	d, err := h.CreateDataset(name, typ, sp)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Write(&raw)
}

var (
	mvsec = floats(1, 4, 0.000249, -1, 2, 5, 0.001833, 1, 345, 259, 0.003917, 1)
	v2e   = words(249, 1, 4, math.MaxUint32, 1833, 2, 5, 1, 3917, 345, 259, 1)
)

func TestLayouts(t *testing.T) {
	group := func(names ...string) func(h *hdf5.File) error {
		return func(h *hdf5.File) error { return integerGroup(t, h, names[0], names[1], names[2], names[3], names[4]) }
	}
	records := func(h *hdf5.File) error {
		typ := recordType(t, 24, []field{{"polarity", 0, hdf5.T_STD_I8LE}, {"y", 2, hdf5.T_STD_U16BE}, {"timestamp", 4, hdf5.T_IEEE_F64LE}, {"x", 16, hdf5.T_STD_I32LE}})
		var raw []byte
		for i, at := range three.T() {
			r := make([]byte, 24)
			r[0] = byte(2*three.P()[i] - 1)
			binary.BigEndian.PutUint16(r[2:], three.Y()[i])
			copy(r[4:], floats(float64(at)/1e6))
			binary.LittleEndian.PutUint32(r[16:], uint32(three.X()[i]))
			raw = append(raw, r...)
		}
		return chunked(h, "recording", typ.ID(), 3, []int{8}, []chunk.Filter{{ID: chunk.Shuffle, Values: []uint32{24}}, {ID: chunk.Deflate, Values: []uint32{1}}},
			deflated(shuffled(padded(raw, 8*24), 24)))
	}
	floatGroup := func(h *hdf5.File) error {
		i4, i1 := elem{size: 4, signed: true}, elem{size: 1, signed: true}
		return errors.Join(makeGroups(h, "raw_events"), writeRaw(h, "raw_events/t", hdf5.T_IEEE_F64LE, 3, floats(0.000249, 0.001833, 0.003917)),
			writeRaw(h, "raw_events/x", types[i4], 3, stored(i4, []int64{1, 2, 345})),
			writeRaw(h, "raw_events/y", hdf5.T_IEEE_F64LE, 3, floats(4, 5, 259)),
			writeRaw(h, "raw_events/p", types[i1], 3, stored(i1, []int64{-1, 1, 1})))
	}
	for name, c := range map[string]struct {
		fill                 func(h *hdf5.File) error
		policy               format.Policy
		layout, unit, stored string
	}{
		"events":  {group("events", "t", "x", "y", "p"), format.Policy{}, "/events/{t,x,y,p}", "us", "0/1"},
		"m3ed":    {group("prophesee/left", "t", "x", "y", "p"), format.Policy{}, "/prophesee/left/{t,x,y,p}", "us", "0/1"},
		"aliases": {group("data/cam", "ts", "xs", "ys", "on"), format.Policy{}, "/data/cam/{ts,xs,ys,on}", "us", "0/1"},
		"root":    {group("/", "timestamps", "x", "y", "polarities"), format.Policy{}, "/{timestamps,x,y,polarities}", "us", "0/1"},
		"seconds": {floatGroup, format.Policy{}, "/raw_events/{t,x,y,p}", "s", "0/1 or -1/1"},
		"records": {records, format.Policy{}, "/recording with fields {timestamp,x,y,polarity}", "s", "0/1 or -1/1"},
		"mvsec": {func(h *hdf5.File) error {
			return errors.Join(makeGroups(h, "davis/left"), matrix(h, "davis/left/events", hdf5.T_IEEE_F64LE, mvsec))
		}, format.Policy{}, "/davis/left/events with columns x,y,t,p", "s", "0/1 or -1/1"},
		"v2e": {func(h *hdf5.File) error { return matrix(h, "events", hdf5.T_STD_U32LE, v2e) }, format.Policy{}, "/events with columns t,x,y,p", "us", "0/1"},
		"the order": {func(h *hdf5.File) error {
			return matrix(h, "events", hdf5.T_STD_U32LE, words(4, 1, 0, 249, 5, 2, 1, 1833, 259, 345, 1, 3917))
		}, format.Policy{Columns: []string{"y", "x", "p", "t"}}, "/events with columns y,x,p,t", "us", "0/1"},
		"mapped": {group("odd", "a", "b", "c", "d"), format.Policy{DatasetMap: map[string]string{"t": "odd/a", "x": "/odd/b", "y": "odd/c", "p": "odd/d"}},
			"the given datasets {/odd/a,/odd/b,/odd/c,/odd/d}", "us", "0/1"},
		"mapped in part":   {group("odd", "a", "x", "y", "pol"), format.Policy{DatasetMap: map[string]string{"t": "odd/a"}}, "the given datasets {/odd/a,/odd/x,/odd/y,/odd/pol}", "us", "0/1"},
		"mapped to fields": {records, format.Policy{DatasetMap: map[string]string{"t": "recording/timestamp", "p": "recording/polarity"}}, "the given datasets {timestamp,x,y,polarity}", "s", "0/1 or -1/1"},
	} {
		t.Run(name, func(t *testing.T) {
			path := newFile(t, c.fill)
			s, err := openTest(t, path, c.policy)
			if err != nil {
				t.Fatal(err)
			}
			b, _, err := format.Drain(t.Context(), s)
			if d := eventtest.Diff(b, three); err != nil || d != "" {
				t.Errorf("%s: %v", d, err)
			}
			if i := s.Info(); i.Field("layout") != c.layout || i.Unit != c.unit || i.Polarity != c.stored || !strings.HasPrefix(i.Field("time"), c.unit+", stored as ") {
				t.Errorf("info %+v", i)
			}
			if p := Format.Sniff(formattest.Open(t, path)); len(c.policy.DatasetMap) == 0 && p.Confidence != 1 {
				t.Errorf("sniffed as %+v", p)
			}
		})
	}
}

// shuffled is what the filter shuffle stores.
func shuffled(b []byte, size int) []byte {
	out := make([]byte, 0, len(b))
	for k := range size {
		for i := k; i < len(b); i += size {
			out = append(out, b[i])
		}
	}
	return out
}

// Chunks of whole rows are decoded here, chunks of parts of rows by the library.
func TestMatrixChunks(t *testing.T) {
	write := func(f []chunk.Filter, chunks ...[]byte) string {
		return newFile(t, func(h *hdf5.File) error {
			d, err := createDatasetOf(h.ID(), "events", hdf5.T_STD_U32LE.ID(), []int{2, 4}, f)
			err = errors.Join(err, extend(d, 3))
			for i, c := range chunks {
				err = errors.Join(err, writeChunk(d, int64(2*i), c))
			}
			return errors.Join(err, closeDataset(d))
		})
	}
	gzip := []chunk.Filter{{ID: chunk.Deflate, Values: []uint32{1}}}
	for name, path := range map[string]string{
		"plain": write(nil, v2e[:32], padded(v2e[32:], 32)),
		"gzip":  write(gzip, deflated(v2e[:32]), deflated(padded(v2e[32:], 32))),
		"parts": newFile(t, matrixInParts),
	} {
		b, _, err := drain(t, path, format.Policy{})
		if d := eventtest.Diff(b, three); err != nil || d != "" {
			t.Errorf("%s: %s: %v", name, d, err)
		}
	}
}

// matrixInParts writes rows of four in chunks of two rows and two columns.
func matrixInParts(h *hdf5.File) error {
	sp, err := hdf5.CreateSimpleDataspace([]uint{3, 4}, nil)
	if err != nil {
		return err
	}
	defer sp.Close()
	pl, err := hdf5.NewPropList(hdf5.P_DATASET_CREATE)
	if err != nil {
		return err
	}
	defer pl.Close()
	if err := errors.Join(pl.SetChunk([]uint{2, 2}), pl.SetDeflate(1)); err != nil {
		return err
	}
	d, err := h.CreateDatasetWith("events", hdf5.T_STD_U32LE, sp, pl)
	if err != nil {
		return err
	}
	defer d.Close()
	raw := slices.Clone(v2e)
	return d.Write(&raw)
}

// Where several streams are, one is read, and the others are named with what becomes of them.
func TestSeveralStreams(t *testing.T) {
	path := newFile(t, func(h *hdf5.File) error {
		return errors.Join(integerGroup(t, h, "prophesee/right", "t", "x", "y", "p"), makeGroups(h, "prophesee/left"),
			writeRaw(h, "prophesee/left/t", hdf5.T_STD_U32LE, 1, words(7)), writeRaw(h, "prophesee/left/x", hdf5.T_STD_U32LE, 1, words(1)),
			writeRaw(h, "prophesee/left/y", hdf5.T_STD_U32LE, 1, words(2)), writeRaw(h, "prophesee/left/p", hdf5.T_STD_U32LE, 1, words(1)),
			writeRaw(h, "prophesee/left/ms_map_idx", hdf5.T_STD_U32LE, 1, words(0)), makeGroups(h, "ovc"), writeRaw(h, "ovc/image", hdf5.T_STD_U32LE, 1, words(0)))
	})
	b, _, err := drain(t, path, format.Policy{})
	if err != nil || !slices.Equal(b.T(), []int64{7}) {
		t.Errorf("%v: %v", b.T(), err)
	}
	s, err := openTest(t, path, format.Policy{})
	if err != nil {
		t.Fatal(err)
	}
	want := []event.Field{{Key: "/prophesee/right", Value: "events; left out, --stream 1 reads them instead"}, {Key: "/ovc/image", Value: "left out"}}
	if got := s.Info().Streams; !slices.Equal(got, want) {
		t.Errorf("streams %v", got)
	}
	if b, _, err = drain(t, path, format.Policy{Stream: 1, StreamGiven: true}); err != nil || eventtest.Diff(b, three) != "" {
		t.Errorf("stream 1: %v", err)
	}
	if _, _, err = drain(t, path, format.Policy{Stream: 2, StreamGiven: true}); err == nil || !strings.Contains(err.Error(), "1 = /prophesee/right") {
		t.Errorf("stream 2: %v", err)
	}
}

// The unit is by type and option, never by magnitude.
func TestTimeUnits(t *testing.T) {
	file := func(typ *hdf5.Datatype, raw []byte) string {
		c := plainColumns()
		delete(c, "events/t")
		return testFile(t, c, func(h *hdf5.File) {
			if err := writeRaw(h, "events/t", typ, 3, raw); err != nil {
				t.Error(err)
			}
		})
	}
	whole, decimal := file(hdf5.T_STD_U32LE, words(1, 2, 3)), file(hdf5.T_IEEE_F64LE, floats(1.0000005, 1.0000015, 3))
	for _, tt := range []struct {
		path, unit, shown string
		want              []int64
	}{
		{whole, "", "us", []int64{1, 2, 3}}, {whole, "ms", "ms", []int64{1000, 2000, 3000}}, {whole, "s", "s", []int64{1e6, 2e6, 3e6}}, {whole, "ns", "ns", []int64{0, 0, 0}},
		{decimal, "auto", "s", []int64{1_000_000, 1_000_002, 3_000_000}}, {decimal, "ms", "ms", []int64{1000, 1000, 3000}}, {decimal, "us", "us", []int64{1, 1, 3}},
	} {
		s, err := openTest(t, tt.path, format.Policy{TimeUnit: tt.unit})
		if err != nil {
			t.Fatal(err)
		}
		b, _, err := format.Drain(t.Context(), s)
		if err != nil || !slices.Equal(b.T(), tt.want) || s.Info().Unit != tt.shown {
			t.Errorf("%q: %v in %s, want %v: %v", tt.unit, b.T(), s.Info().Unit, tt.want, err)
		}
	}
	if _, err := openTest(t, whole, format.Policy{TimeUnit: "h"}); err == nil {
		t.Error("hours are accepted")
	}
}

// A t_offset is in the unit of the times.
func TestOffsetInSeconds(t *testing.T) {
	c := plainColumns()
	delete(c, "events/t")
	path := testFile(t, c, func(h *hdf5.File) {
		err := errors.Join(writeRaw(h, "events/t", hdf5.T_IEEE_F64LE, 3, floats(0.5, 1, 2)), writeInt64s(h.ID(), "t_offset", []int64{100}, true))
		if err != nil {
			t.Error(err)
		}
	})
	if b, _, err := drain(t, path, format.Policy{}); err != nil || !slices.Equal(b.T(), []int64{100_500_000, 101_000_000, 102_000_000}) {
		t.Errorf("%v: %v", b.T(), err)
	}
}

// Errors say what was seen, and what to do.
func TestLayoutErrors(t *testing.T) {
	odd := newFile(t, func(h *hdf5.File) error { return integerGroup(t, h, "odd", "a", "b", "c", "d") })
	half := newFile(t, func(h *hdf5.File) error {
		return errors.Join(makeGroups(h, "g"), writeRaw(h, "g/t", hdf5.T_STD_U32LE, 1, words(7)), writeRaw(h, "g/x", hdf5.T_IEEE_F64LE, 1, floats(0.5)),
			writeRaw(h, "g/y", hdf5.T_STD_U32LE, 1, words(7)), writeRaw(h, "g/p", hdf5.T_STD_U32LE, 1, words(1)))
	})
	for name, c := range map[string]struct {
		path   string
		policy format.Policy
		want   []string
	}{
		"nothing":  {odd, format.Policy{}, []string{"/odd/a", "/odd/d", "--h5-map"}},
		"no such":  {odd, format.Policy{DatasetMap: map[string]string{"t": "odd/z"}}, []string{"t=odd/z", "/odd/a"}},
		"too few":  {odd, format.Policy{DatasetMap: map[string]string{"t": "odd/a"}}, []string{"no x beside /odd/a", "--h5-map x=", "/odd/b"}},
		"no key":   {odd, format.Policy{DatasetMap: map[string]string{"q": "odd/a"}}, []string{"q=odd/a"}},
		"fraction": {half, format.Policy{}, []string{"/g/x[0] = 0.5", "scale and round"}},
	} {
		_, _, err := drain(t, c.path, c.policy)
		for _, w := range c.want {
			if err == nil || !strings.Contains(err.Error(), w) {
				t.Errorf("%s: the error %v does not say %q", name, err, w)
			}
		}
	}
}
