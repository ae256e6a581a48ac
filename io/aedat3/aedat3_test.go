package aedat3

import (
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/formattest"
)

type (
	ev     = formattest.Event
	counts = map[event.Counter]int64
	unseen = map[string]int64
)

const (
	text31 = "#!AER-DAT3.1\r\n#Format: RAW\r\n#Source 1: DVS128\r\n#Start-Time: 2024-01-01 00:00:00 (TZ+0000)\r\n#!END-HEADER\r\n"
	text30 = "#!AER-DAT3.0\r\n#Format: RAW\r\n#Source 1: DAVIS240C\r\n"
)

var le = binary.LittleEndian

// pack makes a packet: the head's eight fields, then the body.
func pack(kind uint16, source int16, size, timeAt, overflow, capacity, number, valid int32, body []byte) []byte {
	b := le.AppendUint16(nil, kind)
	b = le.AppendUint16(b, uint16(source))
	for _, v := range []int32{size, timeAt, overflow, capacity, number, valid} {
		b = le.AppendUint32(b, uint32(v))
	}
	return append(b, body...)
}

// pol makes a packet of polarity events (x, y, p, t) of a source; a p of 2 or 3 makes one that is not valid. The
// capacity is larger than the number.
func pol(source int16, overflow int32, events ...ev) []byte {
	var body []byte
	for _, e := range events {
		body = le.AppendUint32(body, uint32(e[0])<<17|uint32(e[1])<<2|uint32(e[2]&1)<<1|uint32(1-e[2]>>1))
		body = le.AppendUint32(body, uint32(int32(e[3])))
	}
	n := int32(len(events))
	return pack(polarity, source, 8, 4, overflow, n+5, n, n, body)
}

// spec makes a packet of special events (kind, t).
func spec(overflow int32, events ...[2]int64) []byte {
	var body []byte
	for _, e := range events {
		body = le.AppendUint32(body, uint32(e[0])<<1|1)
		body = le.AppendUint32(body, uint32(e[1]))
	}
	n := int32(len(events))
	return pack(special, 1, 8, 4, overflow, n, n, n, body)
}

// imu makes a packet of n IMU samples.
func imu(n int32) []byte { return pack(3, 1, 36, 4, 0, n, n, n, make([]byte, 36*n)) }

func file(text string, packets ...[]byte) []byte {
	return append([]byte(text), slices.Concat(packets...)...)
}

var (
	first  = []ev{{3, 5, 0, 7}, {127, 126, 1, 9}}
	second = []ev{{8, 1, 1, 20}}
)

// old is a polarity event of version 3.0.
func old(x, y, p, t uint32) []byte {
	return pack(polarity, 1, 8, 4, 0, 1, 1, 1, le.AppendUint32(le.AppendUint32(nil, x<<18|y<<4|p<<1|1), t))
}

var cases = []formattest.Case{
	{Name: "mixed", Data: file(text31, spec(0, [2]int64{2, 1}), pol(1, 0, first...), imu(3), spec(0, [2]int64{7, 10}, [2]int64{16, 11}), pack(2, 1, 40, 20, 0, 2, 1, 1, make([]byte, 40)), pol(1, 0, second...), pol(1, 0), spec(0, [2]int64{5, 30})),
		Want: append(slices.Clone(first), second...), Triggers: []event.Trigger{{T: 1, Rising: true}, {T: 10, Channel: 1}, {T: 11, Channel: channelExposure, Rising: true}},
		Counters: counts{event.Triggers: 3}, Unknown: unseen{"imu6": 3, "frame": 1, "row without event": 1}},
	{Name: "invalid events", Data: file(text31, pol(1, 0, ev{1, 1, 2, 5}, first[0], ev{1, 1, 3, 8}, first[1])), Want: first, Unknown: unseen{"invalid": 2}},
	{Name: "overflow", Data: file(text31, pol(1, 0, ev{1, 2, 1, 1<<31 - 1}), spec(0, [2]int64{0, 1<<31 - 1}), pol(1, 1, ev{3, 4, 0, 5}), spec(1, [2]int64{3, 6}), pol(1, 1, ev{5, 6, 1, 7})),
		Want: []ev{{1, 2, 1, 1<<31 - 1}, {3, 4, 0, 2147483653}, {5, 6, 1, 2147483655}}, Triggers: []event.Trigger{{T: 2147483654}},
		Counters: counts{event.Wraps: 1, event.Triggers: 1}, Unknown: unseen{"timestamp wrap": 1}},
	{Name: "starts after an overflow", Data: file(text31, pol(1, 3, ev{1, 2, 1, 5})), Want: []ev{{1, 2, 1, 3<<31 + 5}}},
	{Name: "reset", Data: file(text31, pol(1, 1, ev{1, 2, 1, 5}), spec(1, [2]int64{1, 1<<31 - 1}), pol(1, 0, ev{3, 4, 0, 2})), Policy: format.Policy{OnUnsorted: format.Sort},
		Want: []ev{{3, 4, 0, 2}, {1, 2, 1, 1<<31 + 5}}, Counters: counts{event.Unsorted: 1}, Unknown: unseen{"timestamp reset": 1}},
	{Name: "version 3.0", Data: file(text30, old(239, 179, 1, 5), old(240, 0, 0, 6)), Want: []ev{{239, 179, 1, 5}}, Counters: counts{event.OffSensor: 1}},
	{Name: "bare newlines, no source", Data: file("#!AER-DAT3.1\n#Format: RAW\n#!END-HEADER\n", pol(0, 0, ev{300, 200, 1, 5})), Want: []ev{{300, 200, 1, 5}}},
	{Name: "two sources", Data: file(text31, pol(2, 0, second...), pol(1, 0, first...)), Want: second, Unknown: unseen{"polarity of source 1": 2}},
	{Name: "the other source", Data: file(text31, pol(2, 0, second...), pol(1, 0, first...)), Policy: format.Policy{Stream: 1, StreamGiven: true}, Want: first, Unknown: unseen{"polarity of source 2": 1}},
	{Name: "unknown types", Data: file(text31, pack(100, 1, 5, 0, 0, 2, 2, 2, make([]byte, 10)), pol(1, 0, first...), pack(2|compressed, 1, 40, 20, 0, 11, 1, 1, make([]byte, 11)), pol(1, 0, second...), spec(0, [2]int64{99, 1})),
		Want: append(slices.Clone(first), second...), Unknown: unseen{"type 100": 2, "frame": 1, "special 99": 1}},
	{Name: "header only", Data: file(text31)},
}

func TestConformance(t *testing.T) { formattest.Run(t, Format, cases...) }

func opened(t *testing.T, data []byte, p format.Policy) event.Source {
	t.Helper()
	src, err := Format.Open(t.Context(), formattest.File(data), p)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

func TestCut(t *testing.T) {
	at := len(file(text31, pol(1, 0, first...)))
	whole := file(text31, pol(1, 0, first...), pol(1, 0, second...))
	for n := at + 1; n < len(whole); n++ {
		b, rep, err := format.Drain(t.Context(), opened(t, whole[:n], format.Policy{}))
		if err != nil || b.Len() != 2 || rep.Get(event.TrailingBytes) != (event.Tally{N: int64(n - at), First: int64(at), Lost: int64(n - at)}) {
			t.Errorf("%d bytes of the last packet: %d events, %v, %v", n-at, b.Len(), rep, err)
		}
		var syntax *format.SyntaxError
		if _, _, err = format.Drain(t.Context(), opened(t, whole[:n], format.Policy{Strict: true})); !errors.As(err, &syntax) || syntax.Offset != int64(at) {
			t.Errorf("%d bytes, strict: %v", n-at, err)
		}
	}
}

func TestDamage(t *testing.T) {
	at := len(file(text31, pol(1, 0, first...)))
	good := file(text31, pol(1, 0, first...), pol(1, 0, second...), pol(1, 0, ev{1, 1, 1, 40}))
	edit := func(off int, v int32) []byte {
		out := slices.Clone(good)
		le.PutUint32(out[at+off:], uint32(v))
		return out
	}
	for name, data := range map[string][]byte{
		"size": edit(4, 9), "size zero": edit(4, 0), "place of the time": edit(8, 0), "overflow": edit(12, -1),
		"number": edit(20, -1), "number over the end": edit(20, 1<<20), "source": edit(0, -1<<31|polarity),
		"compressed": edit(0, 1<<16|compressed|polarity),
	} {
		formattest.CheckDamages(t, Format, formattest.Damage{Name: name, Data: data, Offset: int64(at)})
		b, rep, err := format.Drain(t.Context(), opened(t, data, format.Policy{Salvage: true}))
		if err != nil || b.Len() != 3 || b.T()[2] != 40 || rep.Get(event.DamagedBytes) != (event.Tally{N: 36, First: int64(at), Lost: 36}) {
			t.Errorf("%s, salvaged: %d events, %v, %v", name, b.Len(), rep, err)
		}
		if !slices.ContainsFunc(rep.Notes, func(s string) bool { return strings.HasPrefix(s, fmt.Sprintf("bytes %#x to %#x", at, at+36)) }) {
			t.Errorf("%s: no note names the range: %q", name, rep.Notes)
		}
	}
	negative := file(text31, pol(1, 0, first...), pol(1, 0, second[0], ev{1, 1, 2, -3}, ev{1, 1, 1, -2}), pol(1, 0, ev{1, 1, 1, 40}))
	formattest.CheckDamages(t, Format, formattest.Damage{Name: "negative time", Data: negative, Offset: int64(at + headSize + 2*eventSize)})
	b, rep, err := format.Drain(t.Context(), opened(t, negative, format.Policy{Salvage: true}))
	if err != nil || !slices.Equal(b.T(), []int64{7, 9, 20, 40}) || rep.Get(event.DamagedBytes).Lost != eventSize {
		t.Errorf("negative time, salvaged: %v, %v, %v", b.T(), rep, err)
	}
}

func TestRefused(t *testing.T) {
	strict, end := format.Policy{Strict: true}, int64(len(text31))
	formattest.CheckDamages(t, Format,
		formattest.Damage{Name: "unknown type", Data: file(text31, pack(100, 1, 5, 0, 0, 2, 2, 2, make([]byte, 10))), Policy: strict, Offset: end},
		formattest.Damage{Name: "unknown special", Data: file(text31, spec(0, [2]int64{2, 1}, [2]int64{99, 1})), Policy: strict, Offset: end + headSize + eventSize},
		formattest.Damage{Name: "compressed events", Data: file(text31, pack(polarity|compressed, 1, 8, 4, 0, 3, 1, 1, make([]byte, 3))), Offset: end},
		formattest.Damage{Name: "other kinds are no unknown words", Data: file(text31, imu(2), spec(0, [2]int64{1, 1}), pol(1, 0, ev{1, 1, 2, 1})), Policy: strict, Offset: -1},
	)
	for _, text := range []string{"", "#!AER-DAT3.2\r\n", "#!AER-DAT2.0\r\n", "#!AER-DAT3.1\r\n#Format", "#!AER-DAT3.1\r\n#" + strings.Repeat("x", maxHeader)} {
		var syntax *format.SyntaxError
		if _, err := Format.Open(t.Context(), formattest.File([]byte(text)), format.Policy{}); !errors.As(err, &syntax) {
			t.Errorf("%.20q: %v", text, err)
		}
	}
	if _, err := Format.Open(t.Context(), formattest.File(file(text31)), format.Policy{Stream: 1 << 15, StreamGiven: true}); err == nil {
		t.Error("source 32768 is taken")
	}
}

func TestInfo(t *testing.T) {
	i := opened(t, cases[0].Data, format.Policy{}).Info()
	if i.Geometry != (event.Geometry{Width: 128, Height: 128}) || i.Version != "3.1" || i.Field("Source 1") != "DVS128" {
		t.Errorf("%+v", i)
	}
	want := []event.Field{{Key: "special", Value: "kept as triggers where it is an edge"}, {Key: "imu6", Value: "left out; its events are counted"}, {Key: "frame", Value: "left out; its events are counted"}}
	if !slices.Equal(i.Streams, want) {
		t.Errorf("streams %q", i.Streams)
	}
	if g := opened(t, file(text30), format.Policy{}).Geometry(); g != (event.Geometry{Width: 240, Height: 180}) {
		t.Errorf("a DAVIS240C has %v", g)
	}
}

func TestRecordings(t *testing.T) {
	data := eventtest.Data(t)
	formattest.CheckRecordings(t, Format, event.Geometry{Width: 128, Height: 128}, formattest.References(t, data, "aedat3_derived")...)
	for name, want := range map[string]string{
		"aedat31_dvs128_mixed.aedat":      "events=59940 triggers=3 unknown[imu6]=9 unknown[invalid]=60",
		"aedat31_dvs128_tsoverflow.aedat": "events=60000 wraps=1",
	} {
		src := formattest.OpenPath(t, Format, filepath.Join(data, "aedat3_derived", name), format.Policy{})
		if _, _, rep := formattest.Collect(t, src); rep.String() != want {
			t.Errorf("%s: %s, want %s", name, rep, want)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, c := range cases {
		f.Add(c.Data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		_ = Format.Sniff(formattest.File(data))
		for _, salvage := range []bool{false, true} {
			if src, err := Format.Open(t.Context(), formattest.File(data), format.Policy{Salvage: salvage}); err == nil {
				_, _, _ = format.Drain(t.Context(), src)
			}
		}
	})
}
