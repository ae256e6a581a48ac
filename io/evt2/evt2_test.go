package evt2

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/formattest"
	"github.com/evq-project/evq/io/rawheader"
)

const head = "% evt 2.0\n% format EVT2;height=480;width=640\n% geometry 640x480\n% end\n"

// cd makes the word of an event whose low time is t.
func cd(x, y, p, t uint32) string {
	return strconv.FormatUint(uint64(p<<28|t<<22|x<<11|y), 16)
}

// hex makes a recording: a header, then 32-bit words in hexadecimal.
func hex(header string, words ...string) []byte { return formattest.Hex(header, wordSize, words...) }

type (
	ev     = formattest.Event
	counts = map[event.Counter]int64
)

var cases = []formattest.Case{
	{Name: "events", Data: hex(head, "80000001", cd(3, 5, 0, 7), cd(639, 479, 1, 63), "80000002", cd(1, 2, 1, 0)),
		Want: []ev{{3, 5, 0, 71}, {639, 479, 1, 127}, {1, 2, 1, 128}}},
	{Name: "before the first time high", Data: hex(head, cd(1, 1, 0, 3), "A0000001", "80000001", cd(2, 1, 0, 1)),
		Want: []ev{{2, 1, 0, 65}}, Counters: counts{event.BeforeTimeBase: 2}},
	{Name: "wrap", Data: hex(head, "8FFFFFFF", cd(1, 1, 0, 63), "80000000", cd(2, 1, 0, 1)),
		Want: []ev{{1, 1, 0, 17179869183}, {2, 1, 0, 17179869185}}, Counters: counts{event.Wraps: 1}},
	{Name: "one wrap, then time goes on", Data: hex(head, "8FFFFFFF", cd(1, 1, 0, 0), countUp(300), cd(2, 1, 0, 1)),
		Want: []ev{{1, 1, 0, 17179869120}, {2, 1, 0, 17179869184 + 299*64 + 1}}, Counters: counts{event.Wraps: 1}},
	{Name: "decrease of half the range is a wrap", Data: hex(head, "88000001", cd(1, 1, 0, 0), "80000001", cd(2, 1, 0, 0)),
		Want: []ev{{1, 1, 0, 1<<33 + 64}, {2, 1, 0, 1<<34 + 64}}, Counters: counts{event.Wraps: 1, event.Gaps: 1}},
	{Name: "glitch, sorted", Data: hex(head, "800003E8", cd(1, 1, 0, 0), "800003E7", cd(2, 1, 0, 1), "800003E8", cd(3, 1, 0, 2)),
		Want: []ev{{2, 1, 0, 63937}, {1, 1, 0, 64000}, {3, 1, 0, 64002}}, Counters: counts{event.Glitches: 1, event.Unsorted: 1}},
	{Name: "glitch, clamped", Data: hex(head, "800003E8", cd(1, 1, 0, 0), "800003E7", cd(2, 1, 0, 1)), Policy: format.Policy{OnUnsorted: format.Clamp},
		Want: []ev{{1, 1, 0, 64000}, {2, 1, 0, 64000}}, Counters: counts{event.Glitches: 1, event.Unsorted: 1}},
	{Name: "gaps", Data: hex(head, "80000000", cd(1, 1, 0, 0), "80003D09", cd(2, 1, 0, 0), "80007A13", cd(3, 1, 0, 0)), // 1 s, and 64 µs more
		Want: []ev{{1, 1, 0, 0}, {2, 1, 0, 1000000}, {3, 1, 0, 2000064}}, Counters: counts{event.Gaps: 1}},
	{Name: "triggers", Data: hex(head, "80000001", "A0800101", cd(1, 1, 0, 2), "A0C01F00"), Want: []ev{{1, 1, 0, 66}},
		Triggers: []event.Trigger{{T: 66, Channel: 1, Rising: true}, {T: 67, Channel: 31}}, Counters: counts{event.Triggers: 2}},
	{Name: "other words", Data: hex(head, "80000001", "E0000014", "F0000001", "D0000000", cd(1, 1, 0, 2), "C0000000 20000000 30000000 90000000 B0000000"),
		Want: []ev{{1, 1, 0, 66}}, Unknown: map[string]int64{"others": 1, "continued": 1, "imu": 1, "0xC": 1, "0x2": 1, "0x3": 1, "0x9": 1, "0xB": 1}},
	{Name: "off the sensor", Data: hex(head, "80000001", cd(1300, 800, 1, 2), cd(1, 1, 1, 3)), Want: []ev{{1, 1, 1, 67}}, Counters: counts{event.OffSensor: 1}},
	{Name: "cut last word", Data: append(hex(head, "80000001", cd(1, 1, 0, 2)), 1, 2, 3), Want: []ev{{1, 1, 0, 66}}, Counters: counts{event.TrailingBytes: 3}},
	{Name: "old header", Data: hex("% Date 2020-09-25 07:48:31\n% system_ID 21\n% evt 2.0\n", "80000001", cd(1, 1, 0, 2)), Want: []ev{{1, 1, 0, 66}}},
	{Name: "header only", Data: hex(head)},
	{Name: "empty", Forced: true},
	{Name: "no header", Data: hex("", "80000001", cd(1, 1, 0, 2)), Want: []ev{{1, 1, 0, 66}}, Forced: true},
}

// countUp is n words of the time base, from 0.
func countUp(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strconv.FormatUint(0x80000000|uint64(i), 16) + " ")
	}
	return b.String()
}

func TestConformance(t *testing.T) { formattest.Run(t, Format, cases...) }

func TestStrict(t *testing.T) {
	formattest.CheckDamages(t, Format, []formattest.Damage{
		{Name: "reserved word", Data: hex(head, "80000001 C0000000"), Policy: format.Policy{Strict: true}, Offset: int64(len(head)) + 4},
		{Name: "reserved word refused", Data: hex(head, "80000001 C0000000"), Policy: format.Policy{OnUnknown: format.Error}, Offset: int64(len(head)) + 4},
		{Name: "cut word", Data: append(hex(head, "80000001"), 7), Policy: format.Policy{Strict: true}, Offset: int64(len(head)) + 4},
		{Name: "words that are known but no events", Data: hex(head, "80000001 E0000000 F0000000 D0000000 A0000000"), Policy: format.Policy{Strict: true}, Offset: -1},
	}...)
}

// decode starts to decode a payload, below the policies.
func decode(payload []byte, size int, rep *event.Report, pool *event.Pool) format.Decoder {
	s := rawheader.Scan{Policy: format.Policy{ReadSize: size}.WithDefaults(), Report: rep, Triggers: &rawheader.Triggers{}}
	return layout.Decode(formattest.File(payload), s, pool)
}

// compare checks that the fast loop does what step and the rule of an event's word do, over buffers of odd sizes.
func compare(t testing.TB, payload []byte) {
	t.Helper()
	if bytes.Contains(payload, make([]byte, rawheader.BlankSize)) {
		t.Skip("zeros are judged before words are decoded")
	}
	want, wantRep := event.NewBuffer(0), &event.Report{}
	d := newDecoder(rawheader.Scan{Report: wantRep, Triggers: &rawheader.Triggers{}}).(*decoder)
	for at := 0; at+4 <= len(payload); at += 4 {
		w := binary.LittleEndian.Uint32(payload[at:])
		if w>>28 <= cdOn && d.clock.Running() {
			want.Append(d.clock.Base()+int64(w>>22&63), uint16(w>>11&0x7FF), uint16(w&0x7FF), int8(w>>28))
		} else if err := d.step(w, int64(at)); err != nil {
			t.Fatal(err)
		}
	}
	_ = d.End(int64(len(payload)&^3), int64(len(payload)&3))
	formattest.CheckDecoder(t, want, wantRep, []int{0, 5, 100}, func(size int, rep *event.Report) format.Decoder {
		return decode(payload, size, rep, event.NewPool(7+size))
	})
}

func TestFastLoop(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 2))
	for range 200 {
		var payload []byte
		for range r.IntN(1000) {
			w := r.Uint32()
			if r.IntN(4) > 0 {
				w = w&0x8FFFFFFF | uint32(r.IntN(2))<<28*(1-w>>31) // events and time bases
			}
			payload = binary.LittleEndian.AppendUint32(payload, w)
		}
		compare(t, payload)
	}
}

func FuzzDecode(f *testing.F) {
	for _, c := range cases {
		f.Add(bytes.TrimPrefix(c.Data, []byte(head)))
	}
	f.Fuzz(func(t *testing.T, payload []byte) { compare(t, payload) })
}

func TestRecordings(t *testing.T) {
	formattest.CheckRecordings(t, Format, event.Geometry{Width: 640, Height: 480},
		"evt2/faery_evt2.raw", "evt_wrap_derived/evt2_timehigh_wrap34.raw")
}
