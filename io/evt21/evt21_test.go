package evt21

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/formattest"
	"github.com/evq-project/evq/io/rawheader"
)

const plain = "% evt 2.1\n% format EVT21;endianness=little;height=480;width=640\n% geometry 640x480\n% end\n"

var legacyHead = strings.Replace(plain, "endianness=little", "endianness=legacy", 1)

// cd makes the word of a vector whose low time is t.
func cd(x, y, p, t uint64, mask uint32) string {
	return fmt.Sprintf("%016x", p<<60|t<<54|x<<43|y<<32|uint64(mask))
}

// base makes a word of the time base.
func base(v uint32) string { return fmt.Sprintf("8%07x00000000", v) }

// hex makes a recording: a header, then 64-bit words in hexadecimal.
func hex(header string, words ...string) []byte { return formattest.Hex(header, wordSize, words...) }

// turned makes a recording in legacy word order.
func turned(header string, words ...string) []byte {
	payload := hex("", words...)
	for i := 0; i < len(payload); i += wordSize {
		w := binary.LittleEndian.Uint64(payload[i:])
		binary.LittleEndian.PutUint64(payload[i:], bits.RotateLeft64(w, 32))
	}
	return append([]byte(header), payload...)
}

type (
	ev     = formattest.Event
	counts = map[event.Counter]int64
)

var three = []ev{{32, 5, 1, 71}, {34, 5, 1, 71}, {63, 5, 1, 71}, {7, 479, 0, 127}}

func words3() []string { return []string{base(1), cd(32, 5, 1, 7, 0x80000005), cd(7, 479, 0, 63, 1)} }

var cases = []formattest.Case{
	{Name: "little", Data: hex(plain, words3()...), Want: three},
	{Name: "legacy", Data: turned(legacyHead, words3()...), Want: three},
	{Name: "legacy by its own field", Data: turned("% evt 2.1\n% endianness legacy\n% geometry 640x480\n% end\n", words3()...), Want: three},
	{Name: "legacy by the camera", Data: turned("% system_ID 49\n% integrator_name Prophesee\n% format EVT21;height=480;width=640\n% end\n", words3()...), Want: three},
	{Name: "little by the camera", Data: hex("% system_ID 55\n% integrator_name Prophesee\n% format EVT21;height=480;width=640\n% end\n", words3()...), Want: three},
	{Name: "little by another maker", Data: hex("% system_ID 49\n% camera_integrator_name ACME\n% evt 2.1\n% end\n", words3()...), Want: three},
	{Name: "little without a word", Data: hex("% evt 2.1\n% end\n", words3()...), Want: three},
	{Name: "format before field", Data: hex(strings.Replace(plain, "% geom", "% endianness legacy\n% geom", 1), words3()...), Want: three},
	{Name: "layout before header", Data: turned(plain, words3()...), Policy: format.Policy{Layout: "legacy"}, Want: three},
	{Name: "full vectors", Data: hex(plain, base(0), cd(0, 2, 1, 1, 1<<32-1), cd(3, 3, 0, 2, 1<<32-1)),
		Want: append(row(0, 2, 1, 1), row(3, 3, 0, 2)...)},
	{Name: "empty vector", Data: hex(plain, cd(1, 1, 1, 1, 0), base(1), cd(1, 1, 1, 1, 0), cd(2, 1, 1, 1, 1)), Want: []ev{{2, 1, 1, 65}}},
	{Name: "before the first time high", Data: hex(plain, cd(1, 1, 0, 3, 7), "A000000100000000", base(1), cd(2, 1, 0, 1, 1)),
		Want: []ev{{2, 1, 0, 65}}, Counters: counts{event.BeforeTimeBase: 4}},
	{Name: "wrap", Data: hex(plain, base(maxHigh), cd(1, 1, 0, 63, 1), base(0), base(0), base(1), cd(2, 1, 0, 1, 1)),
		Want: []ev{{1, 1, 0, 1<<34 - 1}, {2, 1, 0, 1<<34 + 65}}, Counters: counts{event.Wraps: 1}},
	{Name: "decrease of half the range is a wrap", Data: hex(plain, base(1<<27+1), cd(1, 1, 0, 0, 1), base(1), cd(2, 1, 0, 0, 1)),
		Want: []ev{{1, 1, 0, 1<<33 + 64}, {2, 1, 0, 1<<34 + 64}}, Counters: counts{event.Wraps: 1, event.Gaps: 1}},
	{Name: "decrease of less is a glitch", Data: hex(plain, base(1<<27), cd(1, 1, 0, 0, 1), base(1), cd(2, 1, 0, 0, 1)),
		Policy: format.Policy{OnUnsorted: format.Clamp},
		Want:   []ev{{1, 1, 0, 1 << 33}, {2, 1, 0, 1 << 33}}, Counters: counts{event.Glitches: 1, event.Unsorted: 1}},
	{Name: "gap", Data: hex(plain, base(0), cd(1, 1, 0, 0, 1), base(15625), cd(2, 1, 0, 0, 1), base(31251), cd(3, 1, 0, 0, 1)), // 1 s, and 64 µs more
		Want: []ev{{1, 1, 0, 0}, {2, 1, 0, 1000000}, {3, 1, 0, 2000064}}, Counters: counts{event.Gaps: 1}},
	{Name: "triggers", Data: hex(plain, base(1), "A080010100000000", cd(1, 1, 0, 2, 1), "A0C01F0000000000"), Want: []ev{{1, 1, 0, 66}},
		Triggers: []event.Trigger{{T: 66, Channel: 1, Rising: true}, {T: 67, Channel: 31}}, Counters: counts{event.Triggers: 2}},
	{Name: "triggers, legacy", Data: turned(legacyHead, base(1), "A080010100000000", cd(1, 1, 0, 2, 1), "A0C01F0000000000"), Want: []ev{{1, 1, 0, 66}},
		Triggers: []event.Trigger{{T: 66, Channel: 1, Rising: true}, {T: 67, Channel: 31}}, Counters: counts{event.Triggers: 2}},
	{Name: "other words", Data: hex(plain, base(1), "E0000014F0000001 F000000000000000", cd(1, 1, 0, 2, 1), "2000000000000000 9000000000000000 C000000000000000 D000000000000000", cd(2, 1, 0, 2, 1)),
		Want: []ev{{1, 1, 0, 66}, {2, 1, 0, 66}}, Unknown: map[string]int64{"others": 1, "continued": 1, "0x2": 1, "0x9": 1, "0xC": 1, "0xD": 1}},
	{Name: "over the right border", Data: hex(plain, base(1), cd(638, 1, 1, 2, 0xF)), Want: []ev{{638, 1, 1, 66}, {639, 1, 1, 66}}, Counters: counts{event.OffSensor: 2}},
	{Name: "cut last word", Data: append(hex(plain, base(1), cd(1, 1, 0, 2, 1)), 1, 2, 3, 4, 5), Want: []ev{{1, 1, 0, 66}}, Counters: counts{event.TrailingBytes: 5}},
	{Name: "header only", Data: hex(plain)},
	{Name: "empty", Forced: true},
	{Name: "no header", Data: hex("", base(1), cd(1, 1, 0, 2, 1)), Want: []ev{{1, 1, 0, 66}}, Forced: true},
	{Name: "no header, legacy", Data: turned("", base(1), cd(1, 1, 0, 2, 1)), Policy: format.Policy{Layout: "legacy"}, Want: []ev{{1, 1, 0, 66}}, Forced: true},
}

// row is a full vector.
func row(x, y, p, t int64) (out []ev) {
	for i := range int64(vectorSize) {
		out = append(out, ev{x + i, y, p, t})
	}
	return out
}

// What the fast loop takes at once of eight columns, and what it leaves, is the columns whose bits are set.
func TestPicks(t *testing.T) {
	for m, p := range picks {
		var columns []int
		for i := range int(p.n) {
			columns = append(columns, int(p.lanes>>(16*i)&0xFFFF))
		}
		rest := m
		for _, c := range columns {
			if c != bits.TrailingZeros8(uint8(rest)) {
				t.Fatalf("%08b: %v", m, columns)
			}
			rest &= rest - 1
		}
		if rest != int(p.after) || (p.n == 0) != (m == 0) || p.after != 0 && p.n != stepSize {
			t.Fatalf("%08b: %v, then %08b", m, columns, p.after)
		}
	}
}

func TestConformance(t *testing.T) { formattest.Run(t, Format, cases...) }

func TestStrict(t *testing.T) {
	at := int64(len(plain)) + wordSize
	formattest.CheckDamages(t, Format, []formattest.Damage{
		{Name: "reserved word", Data: hex(plain, base(1), "C000000000000000"), Policy: format.Policy{Strict: true}, Offset: at},
		{Name: "reserved word refused", Data: hex(plain, base(1), "C000000000000000"), Policy: format.Policy{OnUnknown: format.Error}, Offset: at},
		{Name: "cut word", Data: append(hex(plain, base(1)), 7), Policy: format.Policy{Strict: true}, Offset: at},
		{Name: "words that are known but no events", Data: hex(plain, base(1), "E000000000000000 F000000000000000 A000000000000000"), Policy: format.Policy{Strict: true}, Offset: -1},
	}...)
}

func TestOpenRefuses(t *testing.T) {
	for name, c := range map[string]struct{ data, layout, want string }{
		"big-endian in the format": {"% format EVT21;endianness=big;height=480;width=640\n% end\n", "", `"big"`},
		"big-endian in its field":  {"% evt 2.1\n% endianness big\n% end\n", "", `"big"`},
		"another layout":           {plain, "davis", "little, legacy"},
		"another version":          {"% evt 3.0\n% end\n", "", "evt field says 3.0"},
		"contradicting geometry":   {"% format EVT21;height=480;width=640\n% geometry 1280x720\n% end\n", "", "--size"},
	} {
		_, err := Format.Open(t.Context(), formattest.File([]byte(c.data)), format.Policy{Layout: c.layout})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", name, err, c.want)
		}
	}
	big := formattest.File([]byte("% evt 2.1\n% endianness big\n% end\n"))
	if p := Format.Sniff(big); p.Confidence <= 0.5 {
		t.Errorf("a big-endian recording is not recognised: %s", p.Why)
	}
	if _, err := Format.Open(t.Context(), big, format.Policy{Layout: "little"}); err != nil {
		t.Errorf("a big-endian recording with a layout: %v", err)
	}
}

func TestSniffNamesTheOrder(t *testing.T) {
	for header, want := range map[string]string{
		plain: "little: the header's format", legacyHead: "legacy: the header's format",
		"% evt 2.1\n% system_ID 49\n% end\n": "legacy: the header's system_ID 49", "% evt 2.1\n% endianness big\n% end\n": "not supported",
	} {
		p := Format.Sniff(formattest.File([]byte(header)))
		if n := len(p.Properties); n == 0 || p.Properties[n-1].Key != "word_order" || !strings.Contains(p.Properties[n-1].Value, want) {
			t.Errorf("%q: %v, want a word order with %q", header, p.Properties, want)
		}
	}
}

// decode starts to decode a payload, below the policies.
func decode(payload []byte, size int, rep *event.Report, pool *event.Pool) format.Decoder {
	s := rawheader.Scan{Policy: format.Policy{ReadSize: size}.WithDefaults(), Report: rep, Triggers: &rawheader.Triggers{}}
	return layout.Decode(formattest.File(payload), s, pool)
}

// compare checks that the fast loop does what step and the rule of a vector do, over buffers of odd sizes.
func compare(t testing.TB, payload []byte) {
	t.Helper()
	if bytes.Contains(payload, make([]byte, rawheader.BlankSize)) {
		t.Skip("zeros are judged before words are decoded")
	}
	want, wantRep := event.NewBuffer(0), &event.Report{}
	d := newDecoder(rawheader.Scan{Report: wantRep, Triggers: &rawheader.Triggers{}}).(*decoder)
	for at := 0; at+wordSize <= len(payload); at += wordSize {
		w := binary.LittleEndian.Uint64(payload[at:])
		if w>>60 > evtPos || !d.clock.Running() {
			if err := d.step(w, int64(at)); err != nil {
				t.Fatal(err)
			}
			continue
		}
		for i := range uint16(vectorSize) {
			if w>>i&1 != 0 {
				want.Append(d.clock.Base()+int64(w>>54&63), uint16(w>>43&0x7FF)+i, uint16(w>>32&0x7FF), int8(w>>60))
			}
		}
	}
	_ = d.End(int64(len(payload)&^7), int64(len(payload)&7))
	formattest.CheckDecoder(t, want, wantRep, []int{0, 5, 100}, func(size int, rep *event.Report) format.Decoder {
		return decode(payload, size, rep, event.NewPool(slack+size))
	})
}

func TestFastLoop(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 1))
	for range 100 {
		var payload []byte
		for range r.IntN(500) {
			w := r.Uint64()
			if r.IntN(4) > 0 {
				w = w&0x8FFFFFFFFFFFFFFF | uint64(r.IntN(2))<<60*(1-w>>63) // vectors and time bases
			}
			payload = binary.LittleEndian.AppendUint64(payload, w)
		}
		compare(t, payload)
	}
}

func FuzzDecode(f *testing.F) {
	for _, c := range cases {
		f.Add([]byte(strings.TrimPrefix(string(c.Data), plain)))
	}
	f.Fuzz(func(t *testing.T, payload []byte) { compare(t, payload) })
}

func TestRecordings(t *testing.T) {
	formattest.CheckRecordings(t, Format, event.Geometry{Width: 1280, Height: 720},
		"evt21_derived/evt21_little_from_evt3_trigger.raw", "evt21_derived/evt21_legacy_from_evt3_trigger.raw")
}
