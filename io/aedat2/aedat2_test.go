package aedat2

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/formattest"
	"github.com/evq-project/evq/io/rawheader"
)

const (
	head      = "#!AER-DAT2.0\r\n# Timestamps tick is 1 us\r\n"
	headDavis = head + "# AEChip: eu.seebetter.ini.chips.davis.DAVIS240C\r\n"
	headDVS   = head + "# AEChip: ch.unizh.ini.jaer.chip.retina.DVS128\r\n"
	head1     = "#!AER-DAT1.0\r\n# a comment\r\n"
	end       = "#End Of ASCII Header\r\n"
)

type (
	ev     = formattest.Event
	counts = map[event.Counter]int64
)

// dv makes the address of an event in the layout davis, dd in the layout dvs128.
func dv(x, y, p uint32) uint32 { return y<<22 | x<<12 | p<<11 }
func dd(x, y, p uint32) uint32 { return y<<8 | x<<1 | p }

// rec makes a recording of version 2: a header, then addresses and times in turn.
func rec(header string, words ...uint32) []byte {
	out := []byte(header)
	for _, w := range words {
		out = binary.BigEndian.AppendUint32(out, w)
	}
	return out
}

// rec1 is rec with the addresses of version 1.
func rec1(header string, words ...uint32) []byte {
	out := []byte(header)
	for i := 0; i < len(words); i += 2 {
		out = binary.BigEndian.AppendUint16(out, uint16(words[i]))
		out = binary.BigEndian.AppendUint32(out, words[i+1])
	}
	return out
}

const (
	reset    = 1 << 31
	signal   = 1<<31 | 1<<10
	reserved = 1<<31 | 2<<10
	imu      = 1<<31 | 3<<10
	external = 1 << 10
)

var cases = []formattest.Case{
	{Name: "davis", Data: rec(headDavis, dv(3, 5, 0), 7, dv(239, 179, 1), 9, dv(1, 2, 1), 9),
		Want: []ev{{3, 5, 0, 7}, {239, 179, 1, 9}, {1, 2, 1, 9}}},
	{Name: "dvs128", Data: rec(headDVS, dd(3, 5, 0), 7, dd(127, 126, 1), 9), Want: []ev{{3, 5, 0, 7}, {127, 126, 1, 9}}},
	{Name: "only events are events", Data: rec(headDavis, signal|dv(9, 9, 0), 1, dv(3, 5, 0), 7, reset|dv(1, 1, 0), 7, imu, 8, imu|7<<28, 8, reserved, 9),
		Want: []ev{{3, 5, 0, 7}}, Unknown: map[string]int64{"aps_signal": 1, "aps_reset": 1, "imu": 2, "reserved": 1}},
	{Name: "external inputs of a davis", Data: rec(headDavis, external|2, 5, external|3, 6, external|4, 7, external, 8, dv(1, 2, 1), 9), Want: []ev{{1, 2, 1, 9}},
		Triggers: []event.Trigger{{T: 5}, {T: 6, Rising: true}, {T: 7, Rising: true}, {T: 8, Rising: true}}, Counters: counts{event.Triggers: 4}},
	{Name: "external inputs of a dvs128", Data: rec(headDVS, 0x8000, 5, 0xFFFF8000, 6, dd(1, 2, 1), 9, 0x10000, 10), Want: []ev{{1, 2, 1, 9}},
		Triggers: []event.Trigger{{T: 5, Rising: true}, {T: 6, Rising: true}}, Counters: counts{event.Triggers: 2}, Unknown: map[string]int64{"reserved": 1}},
	{Name: "wrap", Data: rec(headDavis, dv(1, 1, 0), 0x7FFFFFFF, dv(2, 1, 0), 0x80000001, dv(3, 1, 0), 0xFFFFFFFF, dv(4, 1, 0), 0, dv(5, 1, 0), 0x7FFFFFFE, dv(6, 1, 0), 0x80000000),
		Want:     []ev{{1, 1, 0, 1<<31 - 1}, {2, 1, 0, 1<<31 + 1}, {3, 1, 0, 1<<32 - 1}, {4, 1, 0, 1 << 32}, {5, 1, 0, 3<<31 - 2}, {6, 1, 0, 3 << 31}},
		Counters: counts{event.Wraps: 2, event.Gaps: 2}},
	{Name: "wrap among samples of frames", Data: rec(headDavis, dv(1, 1, 0), 0x7FFFFFFF, signal, 0x80000000, dv(2, 1, 0), 0x80000001),
		Want: []ev{{1, 1, 0, 1<<31 - 1}, {2, 1, 0, 1<<31 + 1}}, Counters: counts{event.Wraps: 1}, Unknown: map[string]int64{"aps_signal": 1}},
	{Name: "negative times", Data: rec(headDavis, dv(1, 1, 0), 0xFFFFFFFB, dv(2, 1, 0), 3), Want: []ev{{1, 1, 0, -5}, {2, 1, 0, 3}}},
	{Name: "a reset clock, sorted", Data: rec(headDavis, dv(1, 1, 0), 1000, dv(2, 1, 0), 3), Want: []ev{{2, 1, 0, 3}, {1, 1, 0, 1000}},
		Counters: counts{event.Glitches: 1, event.Unsorted: 1}},
	{Name: "gaps", Data: rec(headDavis, dv(1, 1, 0), 0, dv(2, 1, 0), 1000000, dv(3, 1, 0), 2000001),
		Want: []ev{{1, 1, 0, 0}, {2, 1, 0, 1000000}, {3, 1, 0, 2000001}}, Counters: counts{event.Gaps: 1}},
	{Name: "off the sensor", Data: rec(headDavis, dv(345, 306, 0), 1, dv(2, 1, 0), 3), Want: []ev{{2, 1, 0, 3}}, Counters: counts{event.OffSensor: 1}},
	{Name: "guessed davis", Data: rec(head, dv(3, 5, 0), 7, dv(4, 6, 1), 8, dv(0, 0, 1), 9), Want: []ev{{3, 5, 0, 7}, {4, 6, 1, 8}, {0, 0, 1, 9}}},
	{Name: "guessed dvs128", Data: rec(head, dd(3, 5, 0), 7, dv(3, 5, 0), 8), Want: []ev{{3, 5, 0, 7}}, Unknown: map[string]int64{"reserved": 1}},
	{Name: "given davis", Data: rec(headDVS, dv(3, 5, 0), 7, dv(300, 200, 0), 8), Policy: format.Policy{Layout: "davis"}, Want: []ev{{3, 5, 0, 7}, {300, 200, 0, 8}}},
	{Name: "given dvs128", Data: rec(headDavis, dd(3, 5, 0), 7), Policy: format.Policy{Layout: "dvs128"}, Want: []ev{{3, 5, 0, 7}}},
	{Name: "a record that begins with a number sign", Data: rec(headDavis, dv(3, 0x23<<2, 0), 7), Want: []ev{{3, 140, 0, 7}}},
	{Name: "a header that says where it ends", Data: rec(headDavis+end, 0x23414243, 0x44454647, 0x23414243, 0x4445460A),
		Want: []ev{{20, 141, 0, 0x44454647}}, Counters: counts{event.Glitches: 1, event.Unsorted: 1}, Policy: format.Policy{OnUnsorted: format.Drop}},
	{Name: "a record that begins with a number sign and ends like a line", Data: rec(headDavis, 0x23C08020, 0x207F410A), Want: []ev{{8, 143, 0, 0x207F410A}}},
	{Name: "preferences and line feeds", Data: rec("#!AER-DAT2.0\n# AEChip: Davis346red\n#Start of Preferences\n#<entry key=\"\xfcber\"/> AEChip: DVS128\n#End of Preferences\n", dv(345, 259, 1), 7), Want: []ev{{345, 259, 1, 7}}},
	{Name: "cut record", Data: append(rec(headDavis, dv(3, 5, 0), 7), 1, 2, 3), Want: []ev{{3, 5, 0, 7}}, Counters: counts{event.TrailingBytes: 3}},
	{Name: "header only", Data: []byte(headDavis)},
	{Name: "empty", Forced: true},
	{Name: "no header", Data: rec("", dv(3, 5, 0), 7), Want: []ev{{3, 5, 0, 7}}, Forced: true},
}

var cases1 = []formattest.Case{
	{Name: "events", Data: rec1(head1, dd(3, 5, 0), 7, dd(127, 126, 1), 9), Want: []ev{{3, 5, 0, 7}, {127, 126, 1, 9}}},
	{Name: "wrap", Data: rec1(head1, dd(3, 5, 0), 0x7FFFFFFF, dd(1, 2, 1), 0x80000001), Want: []ev{{3, 5, 0, 1<<31 - 1}, {1, 2, 1, 1<<31 + 1}}, Counters: counts{event.Wraps: 1}},
	{Name: "external input", Data: rec1(head1, 0x8000, 5, dd(1, 2, 1), 9), Want: []ev{{1, 2, 1, 9}}, Triggers: []event.Trigger{{T: 5, Rising: true}}, Counters: counts{event.Triggers: 1}},
	{Name: "cut record", Data: append(rec1(head1, dd(3, 5, 0), 7), 1, 2, 3, 4, 5), Want: []ev{{3, 5, 0, 7}}, Counters: counts{event.TrailingBytes: 5}},
	{Name: "no header", Data: rec1("", dd(3, 5, 0), 7, dd(4, 0x23, 1), 8), Want: []ev{{3, 5, 0, 7}, {4, 35, 1, 8}}, Forced: true},
	{Name: "no header, begins with a number sign", Data: rec1("", dd(4, 0x23, 1), 8), Want: []ev{{4, 35, 1, 8}}, Forced: true},
	{Name: "header only", Data: []byte(head1)},
	{Name: "empty", Forced: true},
}

func TestConformance(t *testing.T)  { formattest.Run(t, Format, cases...) }
func TestConformance1(t *testing.T) { formattest.Run(t, Format1, cases1...) }

func TestStrict(t *testing.T) {
	formattest.CheckDamages(t, Format, []formattest.Damage{
		{Name: "reserved kind", Data: rec(headDavis, dv(1, 1, 0), 1, reserved, 2), Policy: format.Policy{Strict: true}, Offset: int64(len(headDavis)) + 8},
		{Name: "wide address", Data: rec(headDVS, 0x10000, 2), Policy: format.Policy{OnUnknown: format.Error}, Offset: int64(len(headDVS))},
		{Name: "cut record", Data: append(rec(headDavis, dv(1, 1, 0), 1), 7), Policy: format.Policy{Strict: true}, Offset: int64(len(headDavis)) + 8},
		{Name: "words that are known but no events", Data: rec(headDavis, reset, 1, signal, 2, imu, 3, external, 4), Policy: format.Policy{Strict: true}, Offset: -1},
	}...)
}

func TestOtherVersions(t *testing.T) {
	for name, f := range map[string]format.Format{"#!AER-DAT1.0\r\n": Format, "#!AER-DAT2.0\r\n": Format1, "#!AER-DAT3.1\r\n": Format, "#!AER-DAT4.0\r\n": Format1} {
		file := formattest.File(rec(name, dv(1, 1, 1), 1))
		if p := f.Sniff(file); p.Confidence != 0 || p.Why == "" {
			t.Errorf("%s claims %q: %+v", f.Name, name, p)
		}
		if _, err := f.Open(t.Context(), file, format.Policy{}); err == nil || !strings.Contains(err.Error(), name[9:12]) {
			t.Errorf("%s opens %q: %v", f.Name, name, err)
		}
	}
}

func TestLayout(t *testing.T) {
	mostly := func(davis int) []byte {
		var words []uint32
		for i := range 3000 {
			addr := dd(1, 1, 1)
			if i < davis || i >= sampled { // what comes after the first 1,000 has no say
				addr = dv(1, 1, 1)
			}
			words = append(words, addr, uint32(i))
		}
		return rec(head, words...)
	}
	for _, c := range []struct {
		name, given, want, why string
		data                   []byte
		geometry               event.Geometry
	}{
		{"chip", "", "davis", "DAVIS240C", []byte(headDavis), event.Geometry{Width: 240, Height: 180}},
		{"chip of the other layout", "dvs128", "dvs128", "given", []byte(headDavis), event.Geometry{Width: 128, Height: 128}},
		{"given", "davis", "davis", "given", []byte(headDVS), event.Geometry{}},
		{"unknown chip", "", "davis", "1 of the first 1", rec(head+"# AEChip: x.SEEBetter30\n", dv(1, 1, 1), 1), event.Geometry{}},
		{"half", "", "dvs128", "500 of the first 1000", mostly(500), event.Geometry{Width: 128, Height: 128}},
		{"more than half", "", "davis", "501 of the first 1000", mostly(501), event.Geometry{}},
	} {
		src, err := Format.Open(t.Context(), formattest.File(c.data), format.Policy{Layout: c.given})
		if err != nil {
			t.Fatal(err)
		}
		i := src.Info()
		if i.Field("layout") != c.want || !strings.Contains(i.Field("layout_why"), c.why) || i.Geometry != c.geometry {
			t.Errorf("%s: %s because %s, %v", c.name, i.Field("layout"), i.Field("layout_why"), i.Geometry)
		}
	}
	if _, err := Format.Open(t.Context(), formattest.File(nil), format.Policy{Layout: "davis346"}); err == nil || !strings.Contains(err.Error(), "--layout") {
		t.Errorf("an unknown layout: %v", err)
	}
	if _, err := Format1.Open(t.Context(), formattest.File(nil), format.Policy{Layout: "davis"}); err == nil || !strings.Contains(err.Error(), "--layout") {
		t.Errorf("davis in 16 bits: %v", err)
	}
}

func TestStreams(t *testing.T) {
	src, err := Format.Open(t.Context(), formattest.File(rec(headDavis, signal, 1, imu, 2, external, 3)), format.Policy{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range src.Info().Streams {
		names = append(names, s.Key)
	}
	if !slices.Equal(names, []string{"aps", "imu", "external"}) {
		t.Errorf("streams %v", names)
	}
}

// Only where the direction of an edge is not said does the report say so.
func TestEdgeNote(t *testing.T) {
	for _, c := range []struct {
		header string
		addr   uint32
		notes  int
	}{{headDavis, external | 2, 0}, {headDavis, external | 3, 0}, {headDavis, external | 4, 0}, {headDavis, external, 1}, {headDVS, 0x8000, 1}} {
		src, err := Format.Open(t.Context(), formattest.File(rec(c.header, c.addr, 1, c.addr, 2)), format.Policy{})
		if err != nil {
			t.Fatal(err)
		}
		if _, tr, rep := formattest.Collect(t, src); len(tr) != 2 || len(rep.Notes) != c.notes {
			t.Errorf("address %08x: %d triggers, notes %q", c.addr, len(tr), rep.Notes)
		}
	}
}

func TestHostileHeaders(t *testing.T) {
	long := "#!AER-DAT2.0\n#" + strings.Repeat("x", maxLine)
	endless := "#!AER-DAT2.0\n" + strings.Repeat("#"+strings.Repeat("y", 1000)+"\n", maxHeader/1000)
	for _, data := range []string{long, endless} {
		file := formattest.File([]byte(data))
		if p := Format.Sniff(file); p.Confidence != 0 {
			t.Errorf("claims a header of %d bytes", len(data))
		}
		if _, err := Format.Open(t.Context(), file, format.Policy{}); err == nil {
			t.Errorf("opens a header of %d bytes", len(data))
		}
	}
	h, err := readHeader(formattest.File([]byte("#!AER-DAT2.0\n"+strings.Repeat("#a: b\n", 5000))), 1<<20)
	if err != nil || len(h.fields) > maxFields {
		t.Errorf("%d fields, %v", len(h.fields), err)
	}
}

// FuzzDecode compares with the rule of one record, over buffers and reads of odd sizes.
func FuzzDecode(f *testing.F) {
	for _, c := range cases {
		f.Add(c.Data, true)
		f.Add(c.Data, false)
	}
	f.Fuzz(compare)
}

func TestRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		var payload []byte
		now := r.Uint32()
		for range r.IntN(300) {
			now += uint32(r.IntN(1 << r.IntN(32)))
			payload = binary.BigEndian.AppendUint32(payload, r.Uint32()&^(uint32(r.IntN(2))<<31))
			payload = binary.BigEndian.AppendUint32(payload, now)
		}
		compare(t, payload, true)
		compare(t, payload, false)
	}
}

func compare(t *testing.T, payload []byte, isDavis bool) {
	if bytes.Contains(payload, make([]byte, rawheader.BlankSize)) {
		t.Skip("zeros are judged before words are decoded")
	}
	l := &dvs128
	if isDavis {
		l = &davis
	}
	want, wantRep := event.NewBuffer(0), &event.Report{}
	c := rawheader.Clock{Unit: 1, Bits: 32}
	slow := newDecoder(version2, l, rawheader.Scan{Report: wantRep, Triggers: &rawheader.Triggers{}})
	for at := 0; at+8 <= len(payload); at += 8 {
		addr, now := binary.BigEndian.Uint32(payload[at:]), binary.BigEndian.Uint32(payload[at+4:])
		tt := c.Set(now+1<<31, wantRep, int64(at)) - 1<<31
		switch {
		case l.kindOf(addr) != isEvent:
			if err := slow.other(addr, int64(at)); err != nil {
				t.Fatal(err)
			}
		case isDavis:
			want.Append(tt, uint16(addr>>12&1023), uint16(addr>>22&511), int8(addr>>11&1))
		default:
			want.Append(tt, uint16(addr>>1&127), uint16(addr>>8&127), int8(addr&1))
		}
	}
	_ = slow.End(int64(len(payload)&^7), int64(len(payload)&7))
	formattest.CheckDecoder(t, want, wantRep, []int{0, 5, 100}, func(size int, rep *event.Report) format.Decoder {
		file := formattest.File(payload)
		tr := &rawheader.Triggers{}
		s := rawheader.Scan{Policy: format.Policy{}.WithDefaults(), Report: rep, Triggers: tr}
		return rawheader.NewDecoder(rawheader.NewPayload(file, 0, file.Size, 8, size), newDecoder(version2, l, s), event.NewPool(7+size), tr)
	})
}

func TestRecordings(t *testing.T) {
	formattest.CheckRecordings(t, Format, event.Geometry{Width: 240, Height: 180}, "aedat2/pyaedattools_IMU_translBoxes.aedat")
	formattest.CheckRecordings(t, Format, event.Geometry{}, // made without a camera's name
		"aedat2/pyaedattools_synth_TranslatingBarX.aedat", "aedat2/pyaedattools_synth_TranslatingBarY.aedat", "aedat2/pyaedattools_synth_TranslatingSquare.aedat")
	formattest.CheckRecordings(t, Format1, event.Geometry{Width: 128, Height: 128}, "aedat1_derived/aedat10_dvs128.aedat")
}

// The inertial samples of a real recording are left out, and all of them are counted.
func TestCountsOfRecording(t *testing.T) {
	path := filepath.Join(eventtest.Data(t), "aedat2", "pyaedattools_IMU_translBoxes.aedat")
	_, _, rep := formattest.Collect(t, formattest.OpenPath(t, Format, path, format.Policy{}))
	if n := rep.UnknownKinds()["imu"]; n != 33837 || rep.Events+n != 196608 {
		t.Errorf("%v", rep)
	}
}

func TestHeaderless(t *testing.T) {
	data := eventtest.Data(t)
	file := formattest.Open(t, filepath.Join(data, "aedat1_derived", "aedat_headerless_dvs128.dat"))
	if p := Format1.Sniff(file); p.Confidence != 0 {
		t.Errorf("claims a file without a header: %+v", p)
	}
	src, err := Format1.Open(t.Context(), file, format.Policy{})
	if err != nil {
		t.Fatal(err)
	}
	formattest.CheckReference(t, data, "aedat1_derived/aedat_headerless_dvs128.dat", src)
}

func TestHeaderOnly(t *testing.T) {
	path := filepath.Join(eventtest.Data(t), "aedat2", "tonic_sample_aedat_header.aedat")
	src := formattest.OpenPath(t, Format, path, format.Policy{Strict: true})
	events, _, rep := formattest.Collect(t, src)
	i := src.Info()
	if events.Len() != 0 || rep.Lost() || i.Geometry != (event.Geometry{Width: 346, Height: 260}) || i.Field("Creation time") != "System.currentTimeMillis() 1695355587880" {
		t.Errorf("%v, %v, %v", rep, i.Geometry, i.Fields)
	}
}

func BenchmarkDecode(b *testing.B) {
	scene := eventtest.Scene(1, 1<<20, event.Geometry{Width: 240, Height: 180})
	words := make([]uint32, 0, 2*scene.Len())
	for i, t := range scene.T() {
		words = append(words, dv(uint32(scene.X()[i]), uint32(scene.Y()[i]), uint32(scene.P()[i])), uint32(t))
	}
	data := rec("", words...)
	file, pool := formattest.File(data), event.NewPool(rawheader.BufferSize)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		tr := &rawheader.Triggers{}
		s := rawheader.Scan{Policy: format.Policy{}.WithDefaults(), Report: &event.Report{}, Triggers: tr}
		d := rawheader.NewDecoder(rawheader.NewPayload(file, 0, file.Size, 8, 0), newDecoder(version2, &davis, s), pool, tr)
		if n := formattest.Count(b, d); n != scene.Len() {
			b.Fatal(n)
		}
	}
}
