package evt3

import (
	"strings"
	"testing"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/formattest"
)

const head = "% evt 3.0\n% format EVT3;height=720;width=1280\n% geometry 1280x720\n% end\n"

// hex makes a recording: a header, then 16-bit words in hexadecimal.
func hex(header, words string) []byte { return formattest.Hex(header, wordSize, words) }

type (
	ev     = formattest.Event
	counts = map[event.Counter]int64
)

// Words in hexadecimal: 8hhh time high, 6lll time low, 0yyy row, 2... single event, 3... vector base, 4.../5... masks.
var cases = []formattest.Case{
	{Name: "one carry per time high", Data: hex(head, "8001 6FA0 0001 2001 8002 6003 2002"),
		Want: []ev{{1, 1, 0, 8096}, {2, 1, 0, 8195}}},
	{Name: "wrap", Data: hex(head, "8FFF 6FFA 0001 2001 8000 6005 2002"),
		Want: []ev{{1, 1, 0, 16777210}, {2, 1, 0, 16777221}}, Counters: counts{event.Wraps: 1}},
	{Name: "gap over the wrap", Data: hex(head, "8FA0 6000 0001 2001 800A 6000 2002"),
		Want: []ev{{1, 1, 0, 16384000}, {2, 1, 0, 16818176}}, Counters: counts{event.Wraps: 1}},
	{Name: "wrap and a gap of seconds", Data: hex(head, "8FA0 6000 0001 2001 8400 6000 2002"),
		Want: []ev{{1, 1, 0, 16384000}, {2, 1, 0, 20971520}}, Counters: counts{event.Wraps: 1, event.Gaps: 1}},
	{Name: "gap", Data: hex(head, "8001 0001 2001 80F5 2002 81EA 2003"), // 244 and 245 steps: the second is over a second
		Want: []ev{{1, 1, 0, 4096}, {2, 1, 0, 0xF5000}, {3, 1, 0, 0x1EA000}}, Counters: counts{event.Gaps: 1}},
	{Name: "decrease of half the range is a wrap", Data: hex(head, "8801 0001 2001 8001 2002"),
		Want: []ev{{1, 1, 0, 0x801000}, {2, 1, 0, 0x1001000}}, Counters: counts{event.Wraps: 1, event.Gaps: 1}},
	{Name: "decrease of less is a glitch", Data: hex(head, "8800 0001 2001 8001 2002"), Policy: format.Policy{OnUnsorted: format.Clamp},
		Want: []ev{{1, 1, 0, 0x800000}, {2, 1, 0, 0x800000}}, Counters: counts{event.Glitches: 1, event.Unsorted: 1}},
	{Name: "glitch, sorted", Data: hex(head, "8064 6000 0001 2001 8063 6FFF 2002 8064 6001 2003"),
		Want: []ev{{2, 1, 0, 409599}, {1, 1, 0, 409600}, {3, 1, 0, 409601}}, Counters: counts{event.Glitches: 1, event.Unsorted: 1}},
	{Name: "start anywhere", Data: hex(head, "8623 6000 0001 2001"), Want: []ev{{1, 1, 0, 1571 * 4096}}},
	{Name: "start anywhere, zeroed", Data: hex(head, "8623 6007 0001 2001 6009 2801"), Policy: format.Policy{Zero: true},
		Want: []ev{{1, 1, 0, 0}, {1, 1, 1, 2}}},
	{Name: "trigger", Data: hex(head, "8001 6000 0001 2001 A101 2002 6005 AF00"),
		Want:     []ev{{1, 1, 0, 4096}, {2, 1, 0, 4096}},
		Triggers: []event.Trigger{{T: 4096, Channel: 1, Rising: true}, {T: 4101, Channel: 15}}, Counters: counts{event.Triggers: 2}},
	{Name: "others and continued", Data: hex(head, "8001 6000 0001 2001 7000 F000 E000 2002"),
		Want:    []ev{{1, 1, 0, 4096}, {2, 1, 0, 4096}},
		Unknown: map[string]int64{"others": 1, "continued_12": 1, "continued_4": 1}},
	{Name: "others followed by two continued, then a time high", Data: hex(head, "8001 6000 0001 2001 E014 F123 F456 8002 2002"),
		Want: []ev{{1, 1, 0, 4096}, {2, 1, 0, 8192}}, Unknown: map[string]int64{"others": 1, "continued_12": 2}},
	{Name: "padding", Data: hex(head, "8001 6000 0001 2001 9999 2002"),
		Want: []ev{{1, 1, 0, 4096}, {2, 1, 0, 4096}}, Unknown: map[string]int64{"0x9": 1}},
	{Name: "all reserved types", Data: hex(head, "8001 6000 0001 1001 2001 B000 C000 D000 2002"),
		Want: []ev{{1, 1, 0, 4096}, {2, 1, 0, 4096}}, Unknown: map[string]int64{"0x1": 1, "0xB": 1, "0xC": 1, "0xD": 1}},
	{Name: "padding, trigger and vendor words", Data: hex(head, "8001 6000 0001 2001 9999 A001 E000 7000 F000 2002"),
		Want:     []ev{{1, 1, 0, 4096}, {2, 1, 0, 4096}},
		Triggers: []event.Trigger{{T: 4096, Rising: true}}, Counters: counts{event.Triggers: 1},
		Unknown: map[string]int64{"0x9": 1, "others": 1, "continued_12": 1, "continued_4": 1}},
	{Name: "cut vector group", Data: hex(head, "8000 6001 0000 2000 300A 4001 4000 80FF 2001"),
		Want: []ev{{0, 0, 0, 1}, {10, 0, 0, 1}, {1, 0, 0, 1044480}}, Counters: counts{event.PartialVect: 1, event.Gaps: 1}},
	{Name: "vector group cut by the end", Data: hex(head, "8000 6001 0002 3000 4001"), Want: []ev{{0, 2, 0, 1}}, Counters: counts{event.PartialVect: 1}},
	{Name: "whole vector group", Data: hex(head, "8000 6001 0002 3820 4801 4003 5081 6002 2005"),
		Want: []ev{{32, 2, 1, 1}, {43, 2, 1, 1}, {44, 2, 1, 1}, {45, 2, 1, 1}, {56, 2, 1, 1}, {63, 2, 1, 1}, {5, 2, 0, 2}}},
	{Name: "full vector group", Data: hex(head, "8000 6001 0002 3800 4FFF 4FFF 50FF 2005 2006 2007 2008 2009"), Want: fullGroup()},
	{Name: "vector group goes on", Data: hex(head, "8000 6001 0002 3000 4000 4000 5080 4001 4000 5001"),
		Want: []ev{{31, 2, 0, 1}, {32, 2, 0, 1}, {56, 2, 0, 1}}},
	{Name: "three vectors of twelve", Data: hex(head, "8000 6001 0002 3000 4001 4001 4001 5001 2001"),
		Want: []ev{{0, 2, 0, 1}, {12, 2, 0, 1}, {24, 2, 0, 1}, {36, 2, 0, 1}, {1, 2, 0, 1}}, Counters: counts{event.PartialVect: 2}},
	{Name: "unused bits of the vector of eight", Data: hex(head, "8000 6001 0002 3000 4000 4000 5F01"), Want: []ev{{24, 2, 0, 1}}},
	{Name: "lone time high", Data: hex(head, "8001 6000 0001 2001 8002 2002"), Want: []ev{{1, 1, 0, 4096}, {2, 1, 0, 8192}}},
	{Name: "repeated time high", Data: hex(head, "8001 6005 0001 2001 8001 2002"), Want: []ev{{1, 1, 0, 4101}, {2, 1, 0, 4101}}},
	{Name: "before the first time high", Data: hex(head, "6005 0003 2009 8007 6006 200A"), // the row is remembered
		Want: []ev{{10, 3, 0, 28678}}, Counters: counts{event.BeforeTimeBase: 1}},
	{Name: "vector and trigger before the first time high", Data: hex(head, "0003 3001 4007 4000 5001 A001 8007 2001"),
		Want: []ev{{1, 3, 0, 28672}}, Counters: counts{event.BeforeTimeBase: 5}},
	{Name: "before the time low", Data: hex(head, "8007 0003 2009 6005 200A"), Want: []ev{{9, 3, 0, 28672}, {10, 3, 0, 28677}}},
	{Name: "before a row", Data: hex(head, "8001 2001 0001 2002"), Want: []ev{{2, 1, 0, 4096}}, Counters: counts{event.MissingY: 1}},
	{Name: "vector before a base and a row", Data: hex(head, "8001 4003 4000 5001 0001 2002"),
		Want: []ev{{2, 1, 0, 4096}}, Counters: counts{event.InvalidVectBase: 3, event.MissingY: 3}},
	{Name: "vector before a base", Data: hex(head, "8001 0001 4003 4000 5001 2002"),
		Want: []ev{{2, 1, 0, 4096}}, Counters: counts{event.InvalidVectBase: 3}},
	{Name: "rows of the second camera", Data: hex(head, "8001 0805 2002"), Want: []ev{{2, 5, 0, 4096}}},
	{Name: "no end of header before a per cent sign", Data: hex("% evt 3.0\n% geometry 1280x720\n", "0025 8001 6002 0003 2004"),
		Want: []ev{{4, 3, 0, 4098}}},
	{Name: "carriage returns", Data: hex("% evt 3.0\r\n% geometry 1280x720\r\n% end\r\n", "8001 6002 0003 2004"), Want: []ev{{4, 3, 0, 4098}}},
	{Name: "cut last word", Data: append(hex(head, "8001 6002 0003 2004"), 5), Want: []ev{{4, 3, 0, 4098}}, Counters: counts{event.TrailingBytes: 1}},
	{Name: "over the right border", Data: hex(head, "8001 6002 0003 3CF6 4FFF 4FFF 50FF"), Want: border(), Counters: counts{event.OffSensor: 22}},
	{Name: "over the right border, kept", Data: hex(head, "8001 6002 0003 3CF6 4800 4000 5080"), Policy: format.Policy{OnOffSensor: format.Keep},
		Want: []ev{{1281, 3, 1, 4098}, {1301, 3, 1, 4098}}, Counters: counts{event.OffSensor: 2}},
	{Name: "header only", Data: hex(head, "")},
	{Name: "empty", Forced: true},
	{Name: "no header", Data: hex("", "8001 6002 0003 2004"), Want: []ev{{4, 3, 0, 4098}}, Forced: true},
}

func fullGroup() (out []ev) {
	for x := range int64(32) {
		out = append(out, ev{x, 2, 1, 1})
	}
	return append(out, ev{5, 2, 0, 1}, ev{6, 2, 0, 1}, ev{7, 2, 0, 1}, ev{8, 2, 0, 1}, ev{9, 2, 0, 1})
}

func border() (out []ev) {
	for x := range int64(10) {
		out = append(out, ev{1270 + x, 3, 1, 4098})
	}
	return out
}

func TestConformance(t *testing.T) { formattest.Run(t, Format, cases...) }

// TestFileOrder looks at the decoder alone, below the order policy.
func TestFileOrder(t *testing.T) {
	got := raw(t, hex("", "8064 6000 0001 2001 8063 6FFF 2002 8064 6001 2003"))
	for i, want := range []int64{409600, 409599, 409601} {
		if got.T[i] != want {
			t.Errorf("event %d at %d, want %d", i, got.T[i], want)
		}
	}
}

func TestStrict(t *testing.T) {
	formattest.CheckDamages(t, Format, []formattest.Damage{
		{Name: "reserved word", Data: hex(head, "8001 0001 2001 9999 2002"), Policy: format.Policy{Strict: true}, Offset: int64(len(head)) + 6},
		{Name: "reserved word refused", Data: hex(head, "8001 0001 2001 9999 2002"), Policy: format.Policy{OnUnknown: format.Error}, Offset: int64(len(head)) + 6},
		{Name: "cut word", Data: append(hex(head, "8001 0001 2001"), 7), Policy: format.Policy{Strict: true}, Offset: int64(len(head)) + 6},
		{Name: "words that are known but no events", Data: hex(head, "8001 0001 2001 E000 F000 7000 A001"), Policy: format.Policy{Strict: true}, Offset: -1},
	}...)
}

func TestOpenRefuses(t *testing.T) {
	for name, c := range map[string]struct{ data, want string }{
		"another version":        {"% evt 2.0\n% end\n", "evt field says 2.0"},
		"contradicting geometry": {"% format EVT3;height=480;width=640\n% geometry 1280x720\n% end\n", "--size"},
	} {
		if _, err := Format.Open(t.Context(), formattest.File([]byte(c.data)), format.Policy{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", name, err, c.want)
		}
	}
	size := format.Policy{Size: event.Geometry{Width: 640, Height: 480}}
	if _, err := Format.Open(t.Context(), formattest.File([]byte("% format EVT3;height=480;width=640\n% geometry 1280x720\n% end\n")), size); err != nil {
		t.Errorf("a contradicting geometry with --size: %v", err)
	}
}

func TestRecordings(t *testing.T) {
	formattest.CheckRecordings(t, Format, hd,
		"evt3/expelliarmus_evt3_sample.raw", "evt3_from_ros/evt3_trigger_1280x720.raw", "evt_wrap_derived/evt3_timehigh_wrap24.raw")
}
