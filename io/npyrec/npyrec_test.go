package npyrec

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/formattest"
	"github.com/evq-project/evq/io/npy"
)

type (
	ev     = formattest.Event
	counts = map[event.Counter]int64
)

// array makes a .npy; values follow one another in little-endian order, or big-endian ones where they are bigEnd.
func array(descr, shape string, fortran bool, values ...any) []byte {
	order := "False"
	if fortran {
		order = "True"
	}
	if !strings.HasPrefix(descr, "[") {
		descr = "'" + descr + "'"
	}
	text := fmt.Sprintf("{'descr': %s, 'fortran_order': %s, 'shape': %s, }\n", descr, order, shape)
	out := binary.LittleEndian.AppendUint16([]byte("\x93NUMPY\x01\x00"), uint16(len(text)))
	out = append(out, text...)
	for _, v := range values {
		if big, ok := v.(bigEnd); ok {
			out, _ = binary.Append(out, binary.BigEndian, big.v)
			continue
		}
		out, _ = binary.Append(out, binary.LittleEndian, v)
	}
	return out
}

type bigEnd struct{ v any }

type member struct {
	name string
	data []byte
}

func archive(method uint16, members ...member) []byte {
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, m := range members {
		w, err := z.CreateHeader(&zip.FileHeader{Name: m.name + ".npy", Method: method})
		if err == nil {
			_, err = w.Write(m.data)
		}
		if err != nil {
			panic(err)
		}
	}
	if err := z.Close(); err != nil {
		panic(err)
	}
	return out.Bytes()
}

var three = []ev{{3, 5, 0, 7}, {30, 50, 1, 70}, {4, 6, 1, 700}}

// record is one event with padding, as the structured type of recordDescr.
type record struct {
	X, Y uint16
	Pad  [3]byte
	P    int8
	T    int64
}

const recordDescr = "[('x', '<u2'), ('y', '<u2'), ('', '|V3'), ('p', '|i1'), ('t', '<i8')]"

var structured = array(recordDescr, "(3,)", false, []record{{3, 5, [3]byte{}, 0, 7}, {30, 50, [3]byte{9}, 1, 70}, {4, 6, [3]byte{}, 1, 700}})

var npyCases = []formattest.Case{
	{Name: "structured", Data: structured, Want: three},
	{Name: "big-endian, other names, another field", Data: array("[('Timestamp', '>u4'), ('n', '|u1'), ('x', '>i2'), ('y', '>f4'), ('polarity', '|b1')]", "(2,)", true,
		bigEnd{uint32(7)}, uint8(9), bigEnd{int16(3)}, bigEnd{float32(5)}, uint8(0), bigEnd{uint32(70)}, uint8(9), bigEnd{int16(30)}, bigEnd{float32(50)}, uint8(1)), Want: three[:2]},
	{Name: "cut", Data: structured[:len(structured)-5], Want: three[:2], Counters: counts{event.TrailingBytes: 5}},
	{Name: "bytes behind", Data: append(structured[:len(structured):len(structured)], 1, 2), Want: three, Counters: counts{event.TrailingBytes: 2}, NoPrefix: true},
	{Name: "rows", Data: array("<i4", "(3, 5)", false, []int32{3, 5, 7, 0, 9, 30, 50, 70, 1, 9, 4, 6, 700, 1, 9}), Forced: true,
		Policy: format.Policy{Columns: []string{"x", "y", "t", "p"}}, Want: three},
	{Name: "rows in Fortran order, seconds", Data: array(">f8", "(3, 4)", true, bigEnd{[]float64{7e-6, 70e-6, 0.0007, 3, 30, 4, 5, 50, 6, -1, 1, 1}}), Forced: true,
		Policy: format.Policy{Columns: []string{"t", "x", "y", "p"}, TimeUnit: "s"}, Want: three, Counters: counts{event.RemappedPolarity: 1}},
	{Name: "datetime", Data: array("[('t', '<M8[ns]'), ('x', '|u1'), ('y', '|i1'), ('p', '|u1')]", "(3,)", false,
		int64(6500), uint8(3), int8(5), uint8(1), int64(7500), uint8(4), int8(-1), uint8(255), int64(-500), uint8(4), int8(6), uint8(1)),
		Want: []ev{{4, 6, 1, 0}, {3, 5, 1, 6}, {4, 65535, 0, 8}}, Counters: counts{event.Unsorted: 1, event.RemappedPolarity: 1}, NoPrefix: true},
	{Name: "no events", Data: array(recordDescr, "(0,)", false)},
	{Name: "empty", Forced: true},
}

var npzMembers = []member{
	{"note", array("|O", "(1,)", false, []byte("\x80\x04K\x01."))},
	{"p", array("|b1", "(3,)", false, []uint8{0, 1, 1})},
	{"t", array("<i8", "(3,)", false, []int64{7, 70, 700})},
	{"y", array(">u4", "(3,)", false, bigEnd{[]uint32{5, 50, 6}})},
	{"x", array("<f4", "(3,)", false, []float32{3, 30, 4})},
}

var npzCases = []formattest.Case{
	{Name: "deflated", Data: archive(zip.Deflate, npzMembers...), Want: three},
	{Name: "stored", Data: archive(zip.Store, npzMembers...), Want: three},
	{Name: "structured", Data: archive(zip.Deflate, member{"a", npzMembers[2].data}, member{"events", structured}), Want: three},
	{Name: "mapped", Data: archive(zip.Deflate, member{"late/x", npzMembers[4].data}, member{"e", structured}), Forced: true,
		Policy: format.Policy{DatasetMap: map[string]string{"t": "e/t", "x": "/late/x.npy", "y": "e/y", "p": "e/p"}}, Want: three},
	{Name: "empty", Forced: true},
}

func TestNPY(t *testing.T) { formattest.Run(t, NPY, npyCases...) }
func TestNPZ(t *testing.T) { formattest.Run(t, NPZ, npzCases...) }

func TestInfo(t *testing.T) {
	src, err := NPZ.Open(t.Context(), formattest.File(npzCases[0].Data), format.Policy{})
	if err != nil {
		t.Fatal(err)
	}
	info := src.Info()
	if info.Events != 3 || info.Unit != "us" || info.Polarity != "bool" || len(info.Streams) != 1 || info.Streams[0] != (event.Field{Key: "note", Value: "left out"}) {
		t.Errorf("%+v", info)
	}
}

// events is a .npy whose four fields have one value each.
func one(descr string, t any, x, y, p any) []byte {
	return array(descr, "(1,)", false, t, x, y, p)
}

func TestRefuses(t *testing.T) {
	const floats = "[('t', '<f8'), ('x', '<f8'), ('y', '<f8'), ('p', '<f8')]"
	us := format.Policy{TimeUnit: "us"}
	damaged := bytes.Clone(npzCases[1].Data)
	damaged[bytes.Index(damaged, npzMembers[2].data)+len(npzMembers[2].data)-1] ^= 1
	for _, c := range []struct {
		name string
		f    format.Format
		data []byte
		p    format.Policy
		is   error
		want string
	}{
		{"float times", NPY, one(floats, 1.0, 1.0, 1.0, 1.0), format.Policy{}, nil, "--time-unit"},
		{"fraction of a pixel", NPY, one(floats, 1.0, 0.5, 65535.0, 1.0), us, nil, "x[0]: 0.5 is not a whole number; scale"},
		{"fraction of a microsecond", NPY, one(floats, 1.5, 1.0, 1.0, 1.0), us, nil, "--time-unit s"},
		{"huge time", NPY, one(floats, 1e300, 1.0, 1.0, 1.0), us, nil, "--time-unit"},
		{"polarity", NPY, one(floats, 1.0, 1.0, 1.0, 2.0), us, nil, "nonzero"},
		{"large x", NPY, one("[('t', '<i8'), ('x', '<i4'), ('y', '|u1'), ('p', '|u1')]", int64(1), int32(65536), uint8(1), uint8(1)), us, nil, "65535"},
		{"seconds beyond", NPY, one("[('t', '<i8'), ('x', '|u1'), ('y', '|u1'), ('p', '|u1')]", int64(1)<<60, uint8(1), uint8(1), uint8(1)), format.Policy{TimeUnit: "s"}, nil, "64 bits"},
		{"half floats", NPY, one("[('t', '<f2'), ('x', '|u1'), ('y', '|u1'), ('p', '|u1')]", uint16(1), uint8(1), uint8(1), uint8(1)), us, ErrLayout, "<f2"},
		{"pickle", NPY, array("|O", "(1,)", false, []byte("\x80\x04K\x01.")), format.Policy{}, ErrLayout, "pickled"},
		{"pickled t", NPZ, archive(zip.Store, append([]member{{"t", npzMembers[0].data}}, npzMembers[1], npzMembers[3], npzMembers[4])...), format.Policy{}, npy.ErrObjects, "t:"},
		{"labels", NPY, array("[('t', '<i8'), ('x', '<f4'), ('y', '<f4'), ('w', '<f4')]", "(0,)", false), format.Policy{}, ErrLayout, "t, x, y, w"},
		{"rows without names", NPY, array("<i8", "(0, 4)", false), format.Policy{}, ErrLayout, "--columns"},
		{"lengths", NPZ, archive(zip.Store, append([]member{{"t", array("<i8", "(1,)", false, int64(1))}}, npzMembers[1], npzMembers[3], npzMembers[4])...), format.Policy{}, ErrLayout, "has 1"},
		{"cut Fortran", NPY, array("<i8", "(1, 4)", true, []int64{1, 2, 3}), format.Policy{Columns: []string{"t", "x", "y", "p"}}, nil, "nothing can be kept"},
		{"declares more", NPY, array(recordDescr, "(9223372036854775807,)", false), format.Policy{Strict: true}, nil, ""},
		{"checksum", NPZ, damaged, format.Policy{}, zip.ErrChecksum, "damaged"},
		{"map", NPZ, npzCases[0].Data, format.Policy{DatasetMap: map[string]string{"t": "q"}}, ErrLayout, `"q"`},
		{"cut, strict", NPY, npyCases[2].Data, format.Policy{Strict: true}, nil, "5 bytes are missing"},
	} {
		src, err := c.f.Open(t.Context(), formattest.File(c.data), c.p)
		if err == nil {
			_, _, err = format.Drain(t.Context(), src)
		}
		if err == nil || c.is != nil && !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %q", c.name, err, c.want)
		}
	}
}

// TestGolden reads the inputs of the reference results, whose digests their maker published beside them.
func TestGolden(t *testing.T) {
	dir := filepath.Join(eventtest.Data(t), "repr_golden")
	raw, err := os.ReadFile(filepath.Join(dir, "GOLDEN.json"))
	if err != nil {
		t.Fatal(err)
	}
	var golden struct {
		Inputs []struct {
			File   string `json:"file"`
			Digest string `json:"sha256_file_order"`
		} `json:"inputs"`
	}
	if err := json.Unmarshal(raw, &golden); err != nil || len(golden.Inputs) == 0 {
		t.Fatalf("%d inputs, %v", len(golden.Inputs), err)
	}
	for _, in := range golden.Inputs {
		b, _, _ := formattest.Collect(t, formattest.OpenPath(t, NPZ, filepath.Join(dir, in.File), format.Policy{}))
		if digest, _ := eventtest.Digest(b.Batch()); digest != in.Digest {
			t.Errorf("%s: the digest is %s, want %s", in.File, digest, in.Digest)
		}
	}
	for _, name := range []string{"labels_derived/old_ts_confidence_bbox.npy", "labels_derived/new_t_itemsize40_bbox.npy"} {
		if p := NPY.Sniff(formattest.Open(t, filepath.Join(dir, "..", name))); p.Confidence > 0 {
			t.Errorf("%s is taken for a recording: %v", name, p)
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	const n = 1 << 20
	data := array(recordDescr, fmt.Sprintf("(%d,)", n), false, make([]record, n))
	for b.Loop() {
		src, err := NPY.Open(b.Context(), formattest.File(data), format.Policy{OnUnsorted: format.Clamp})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := event.Each(b.Context(), src, event.All, func(event.Batch) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mev/s")
}
