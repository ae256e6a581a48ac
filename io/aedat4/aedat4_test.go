package aedat4

import (
	"bytes"
	"errors"
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
	kinds  = map[string]int64
)

const epoch = 1589163147368868

var (
	davis = xmlOf("0 EVTS 346x260 DAVIS346_2", "1 FRME 346x260 DAVIS346_2", "2 IMUS - DAVIS346_2", "3 TRIG - DAVIS346_2")
	two   = xmlOf("2 EVTS 346x260 left", "4 EVTS 640x480 right", "5 TRIG - left", "7 TRIG - right")

	first  = []ev{{3, 5, 0, epoch + 7}, {345, 259, 1, epoch + 9}}
	second = []ev{{8, 1, 1, epoch + 20}}
	third  = []ev{{0, 2, 0, epoch + 30}}

	mixed = []packet{
		{3, triggerPacket([2]int64{1, epoch}, [2]int64{0, epoch + 1})}, {0, eventPacket(first...)}, {1, otherPacket(kindFrames)},
		{2, otherPacket(kindIMU)}, {0, eventPacket(second...)}, {3, triggerPacket([2]int64{9, epoch + 21})}, {1, otherPacket(kindFrames)},
		{0, eventPacket()}, {0, eventPacket(third...)}, {3, triggerPacket([2]int64{2, epoch + 40}, [2]int64{77, 1})},
	}
	mixedTriggers = []event.Trigger{{T: epoch, Rising: true}, {T: epoch + 21, Channel: channelExposure}, {T: epoch + 40}}
	mixedUnknown  = kinds{"FRME": 2, "IMUS": 1, "timestamp reset": 1, "trigger of another kind": 1}
)

func mixedCase(name string, data []byte) formattest.Case {
	return formattest.Case{Name: name, Data: data, Want: slices.Concat(first, second, third), Triggers: mixedTriggers,
		Counters: counts{event.Triggers: 3}, Unknown: mixedUnknown}
}

var cases = []formattest.Case{
	mixedCase("none", file(plain, davis, mixed...)),
	mixedCase("lz4", file(lz4Fast, davis, mixed...)),
	mixedCase("lz4 high, table", withTable(lz4High, davis, mixed...)),
	mixedCase("zstd, table", withTable(zstdFast, davis, mixed...)),
	mixedCase("zstd high", file(zstdHigh, davis, mixed...)),
	{Name: "header only", Data: head(lz4Fast, -1, davis)},
	{Name: "no XML", Data: file(plain, "", packet{9, otherPacket("BBOX")}, packet{6, eventPacket(first...)}, packet{5, eventPacket(third...)}),
		Want: first, Unknown: kinds{"BBOX": 1, "EVTS stream 5": 1}},
	{Name: "XML that is wrong", Data: file(lz4Fast, xmlOf("0 EVTS 346x260", "1 FRME"), packet{0, otherPacket(kindFrames)}, packet{1, otherPacket(kindIMU)}, packet{0, eventPacket(first...)}),
		Want: first, Unknown: kinds{"FRME": 1, "IMUS": 1}},
	{Name: "first of two", Data: file(lz4Fast, two, packet{4, eventPacket(second...)}, packet{2, eventPacket(first...)}, packet{7, triggerPacket([2]int64{1, 1})}, packet{5, triggerPacket([2]int64{4, epoch})}),
		Want: first, Triggers: []event.Trigger{{T: epoch, Channel: channelGenerator, Rising: true}},
		Counters: counts{event.Triggers: 1}, Unknown: kinds{"EVTS stream 4": 1, "TRIG stream 7": 1}},
	{Name: "second of two", Data: file(zstdFast, two, packet{4, eventPacket(second...)}, packet{2, eventPacket(first...)}), Policy: format.Policy{Stream: 4, StreamGiven: true},
		Want: second, Unknown: kinds{"EVTS stream 2": 1}},
	{Name: "off the sensor and out of order", Data: file(plain, davis, packet{0, eventPacket(ev{346, 0, 0, epoch + 2}, ev{65535, 1, 0, epoch + 3}, ev{1, 1, 1, epoch + 9})}, packet{0, eventPacket(first[0])}),
		Want: []ev{first[0], {1, 1, 1, epoch + 9}}, Counters: counts{event.OffSensor: 2, event.Unsorted: 1}},
	{Name: "negative time", Data: file(plain, davis, packet{0, eventPacket(ev{1, 1, 1, -5})}), Want: []ev{{1, 1, 1, -5}}},
	{Name: "polarity 7", Data: file(plain, davis, packet{0, eventPacket(ev{1, 1, 7, 5}, ev{1, 1, 0, 6})}), Policy: format.Policy{Polarity: "nonzero"},
		Want: []ev{{1, 1, 1, 5}, {1, 1, 0, 6}}, Counters: counts{event.RemappedPolarity: 1}},
}

func TestConformance(t *testing.T) { formattest.Run(t, Format, cases...) }

// lastPacket makes a recording that ends with a packet of events, and says where that starts.
func lastPacket(c compression) (whole []byte, at int) {
	return file(c, davis, mixed[:9]...), len(file(c, davis, mixed[:8]...))
}

func TestCut(t *testing.T) {
	for c := range compression(len(compressions)) {
		whole, at := lastPacket(c)
		for _, n := range []int{at + 1, at + 8, at + 11, at + 13, len(whole) - 1} {
			open := func(p format.Policy) event.Source {
				src, err := Format.Open(t.Context(), formattest.File(whole[:n]), p)
				if err != nil {
					t.Fatal(err)
				}
				return src
			}
			b, rep, err := format.Drain(t.Context(), open(format.Policy{}))
			if err != nil || b.Len() != 3 || rep.Get(event.TrailingBytes) != (event.Tally{N: int64(n - at), First: int64(at), Lost: int64(n - at)}) {
				t.Errorf("%v, %d bytes of the last packet: %d events, %v, %v", c, n-at, b.Len(), rep, err)
			}
			_, _, err = format.Drain(t.Context(), open(format.Policy{Strict: true, OnUnsorted: format.Error}))
			var syntax *format.SyntaxError
			if !errors.As(err, &syntax) {
				t.Errorf("%v, strict: %v", c, err)
			}
		}
	}
}

// TestCutBeforeTheTable cuts a complete recording between two packets: the header still tells that more followed.
func TestCutBeforeTheTable(t *testing.T) {
	whole := withTable(lz4Fast, davis, mixed...)
	n := len(file(lz4Fast, davis, mixed[:5]...))
	src, err := Format.Open(t.Context(), formattest.File(whole[:n]), format.Policy{})
	if err != nil {
		t.Fatal(err)
	}
	b, rep, err := format.Drain(t.Context(), src)
	if err != nil || b.Len() != 3 || !rep.Lost() {
		t.Errorf("%d events, %v, %v", b.Len(), rep, err)
	}
}

// TestRunsIntoTheTable has a packet that would end beyond the table of packets: no file's end cut it.
func TestRunsIntoTheTable(t *testing.T) {
	data := withTable(lz4Fast, davis, mixed[:5]...)
	at := len(file(lz4Fast, davis, mixed[:4]...))
	last := len(file(lz4Fast, davis, mixed[:5]...)) - at
	le.PutUint32(data[at+4:], uint32(last))
	formattest.CheckDamages(t, Format, formattest.Damage{Name: "runs into the table", Data: data, Offset: int64(at)})
	short := withTable(lz4Fast, davis, mixed[:5]...)
	le.PutUint64(short[len(magic)+4+24+4:], uint64(at+5)) // the table's position, in the head of the last packet
	formattest.CheckDamages(t, Format, formattest.Damage{Name: "a head cut by the table", Data: short, Offset: int64(at)})
}

func TestDamage(t *testing.T) {
	at := len(file(lz4Fast, davis, mixed[:4]...)) // where the second packet of events starts
	good := file(lz4Fast, davis, mixed...)
	edit := func(off int, b ...byte) []byte {
		out := slices.Clone(good)
		copy(out[off:], b)
		return out
	}
	damaged := map[string][]byte{
		"magic of the payload": edit(at+8, 0),
		"size too small":       edit(at+4, 9, 0, 0, 0),
		"size zero":            edit(at+4, 0, 0, 0, 0),
		"size negative":        edit(at+4, 255, 255, 255, 255),
		"size over the end":    edit(at+4, 0, 0, 0, 1),
		"stream":               edit(at, 255, 255, 255, 255),
		"identifier":           slices.Concat(file(lz4Fast, davis, mixed[:4]...), file(lz4Fast, davis, packet{0, bytes.Replace(eventPacket(second...), []byte("EVTS"), []byte("EVTR"), 1)})[len(head(lz4Fast, -1, davis)):], good[len(file(lz4Fast, davis, mixed[:5]...)):]),
		"polarity":             slices.Concat(file(lz4Fast, davis, mixed[:4]...), appendPacket(nil, 0, compress(lz4Fast, eventPacket(ev{1, 1, 9, 5}))), good[len(file(lz4Fast, davis, mixed[:5]...)):]),
		"vector too long":      slices.Concat(file(lz4Fast, davis, mixed[:4]...), appendPacket(nil, 0, compress(lz4Fast, longVector())), good[len(file(lz4Fast, davis, mixed[:5]...)):]),
	}
	for name, data := range damaged {
		formattest.CheckDamages(t, Format, formattest.Damage{Name: name, Data: data, Offset: int64(at)})
		src, err := Format.Open(t.Context(), formattest.File(data), format.Policy{Salvage: true})
		if err != nil {
			t.Fatal(err)
		}
		b, rep, err := format.Drain(t.Context(), src)
		want := append(slices.Clone(first), third...)
		if err != nil || b.Len() != len(want) || b.T()[2] != want[2][3] || rep.Get(event.DamagedBytes).First != int64(at) || rep.Get(event.DamagedBytes).Lost == 0 {
			t.Errorf("%s, salvaged: %d events, %v, %v", name, b.Len(), rep, err)
		}
		if !slices.ContainsFunc(rep.Notes, func(s string) bool { return strings.Contains(s, "are damaged") }) {
			t.Errorf("%s: no note names the range: %q", name, rep.Notes)
		}
	}
}

// longVector is a packet whose vector claims more events than there are.
func longVector() []byte {
	b := eventPacket(second...)
	le.PutUint32(b[4+len(rooted(kindEvents)):], 1<<31)
	return b
}

func TestRefused(t *testing.T) {
	formattest.CheckDamages(t, Format,
		formattest.Damage{Name: "polarity 2", Data: file(plain, davis, packet{0, eventPacket(ev{1, 1, 2, 5})}), Offset: int64(len(head(plain, -1, davis)))},
		formattest.Damage{Name: "kind of trigger", Data: file(plain, davis, packet{3, triggerPacket([2]int64{77, 5})}), Policy: format.Policy{Strict: true}, Offset: int64(len(head(plain, -1, davis)))},
		formattest.Damage{Name: "frames are no unknown words", Data: file(plain, davis, mixed[1:4]...), Policy: format.Policy{Strict: true}, Offset: -1},
	)
	for what, data := range map[string][]byte{
		"compression": head(5, -1, davis), "XML": head(plain, -1, "<dv>"), "stream": head(plain, -1, xmlOf("x EVTS")),
		"two of one": head(plain, -1, xmlOf("1 EVTS", "1 FRME")), "first line": []byte("#!AER-DAT2.0\r\n"), "cut": []byte(magic + "\x01"),
	} {
		var syntax *format.SyntaxError
		if _, err := Format.Open(t.Context(), formattest.File(data), format.Policy{}); !errors.As(err, &syntax) {
			t.Errorf("%s: %v", what, err)
		}
	}
	_, err := Format.Open(t.Context(), formattest.File(head(plain, -1, two)), format.Policy{Stream: 5, StreamGiven: true})
	if err == nil || !strings.Contains(err.Error(), "--stream: 2, 4") {
		t.Errorf("a stream without events: %v", err)
	}
}

func TestInfo(t *testing.T) {
	src, err := Format.Open(t.Context(), formattest.File(file(zstdHigh, two)), format.Policy{Stream: 4, StreamGiven: true})
	if err != nil {
		t.Fatal(err)
	}
	i := src.Info()
	if i.Geometry != (event.Geometry{Width: 640, Height: 480}) || i.Field("source") != "right" || i.Field("compression") != "zstd_high" || i.Field("stream") != "4" {
		t.Errorf("%+v", i)
	}
	want := []event.Field{{Key: "stream 2 EVTS out2", Value: "left out; --stream 2 reads it instead"},
		{Key: "stream 5 TRIG out5", Value: "left out; its packets are counted"}, {Key: "stream 7 TRIG out7", Value: "kept as triggers"}}
	if !slices.Equal(i.Streams, want) {
		t.Errorf("streams %q", i.Streams)
	}
}

// TestManyEvents has packets larger than a buffer and than a block of LZ4.
func TestManyEvents(t *testing.T) {
	scene := eventtest.Scene(3, 200_000, event.Geometry{Width: 346, Height: 260})
	all := make([]ev, scene.Len())
	for i := range all {
		all[i] = ev{int64(scene.X()[i]), int64(scene.Y()[i]), int64(scene.P()[i]), scene.T()[i]}
	}
	for c := range compression(len(compressions)) {
		data := file(c, davis, packet{0, eventPacket(all[:1]...)}, packet{0, eventPacket(all[1:150_000]...)}, packet{0, eventPacket(all[150_000:]...)})
		src, err := Format.Open(t.Context(), formattest.File(data), format.Policy{})
		if err != nil {
			t.Fatal(err)
		}
		if d := eventtest.Diff(eventtest.Drain(t, src, event.All), scene); d != "" {
			t.Errorf("%v: %s", c, d)
		}
	}
}

// TestBomb decompresses what claims or is far more than memory allows.
func TestBomb(t *testing.T) {
	zeros := make([]byte, leastMemory+1<<20)
	for _, c := range []compression{lz4Fast, zstdFast} {
		src, err := Format.Open(t.Context(), formattest.File(file(c, davis, packet{0, zeros})), format.Policy{Memory: 1})
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := format.Drain(t.Context(), src); err == nil || !strings.Contains(err.Error(), "--memory") {
			t.Errorf("%v: %v", c, err)
		}
	}
}

func TestRecordings(t *testing.T) {
	davis346 := event.Geometry{Width: 346, Height: 260}
	data := eventtest.Data(t)
	formattest.CheckRecordings(t, Format, davis346, formattest.References(t, data, "aedat4", "aedat4_derived")...)
	counted := func(name string) string {
		src := formattest.OpenPath(t, Format, filepath.Join(data, name), format.Policy{})
		_, _, rep := formattest.Collect(t, src)
		return rep.String()
	}
	const want = "events=6676 triggers=17 unknown[FRME]=4 unknown[IMUS]=16"
	for _, name := range []string{"aedat4/evl_sample.aedat4", "aedat4_derived/evl_sample_zstd_notable.aedat4"} {
		if got := counted(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	if got := counted("aedat4_derived/evl_sample_lz4_truncated.aedat4"); !strings.Contains(got, "trailing_bytes=3182") {
		t.Errorf("cut: %s", got)
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
