package dat

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/formattest"
	"github.com/evq-project/evq/io/rawheader"
)

const (
	head  = "% Data file containing CD events\n% Version 2\n% Height 480\n% Width 640\n"
	head1 = "% Data file containing CD events.\n% Version 1\n% Height 240\n% Width 304\n"
	bare  = "% Data file containing CD events\n"
	ncars = "% Data file containing N9Chronocam7Event2dE events.\n% Version 2\n% Date 2017-10-31 11:27:54\n"
	cd    = "\x0c\x08"
	e2d   = "\x00\x08"
)

type (
	ev     = formattest.Event
	counts = map[event.Counter]int64
)

// v2 makes a recording of version 2 from x, y, p, t.
func v2(header string, events ...ev) []byte { return pack(header, 14, 28, events) }

// v1 makes a recording of version 1.
func v1(header string, events ...ev) []byte { return pack(header, 9, 17, events) }

func pack(header string, yShift, pShift int, events []ev) []byte {
	out := []byte(header)
	for _, e := range events {
		out = binary.LittleEndian.AppendUint32(out, uint32(e[3]))
		out = binary.LittleEndian.AppendUint32(out, uint32(e[0])|uint32(e[1])<<yShift|uint32(e[2])<<pShift)
	}
	return out
}

var (
	three  = []ev{{3, 5, 1, 7}, {639, 479, 0, 7}, {1, 2, 1, 1_000_007}}
	three1 = []ev{{3, 5, 1, 7}, {303, 239, 0, 7}, {1, 2, 1, 1_000_007}}
)

var cases = []formattest.Case{
	{Name: "version 2, CD", Data: v2(head+cd, three...), Want: three},
	{Name: "version 2, Event2d", Data: v2(head+e2d, three...), Want: three},
	{Name: "version 1", Data: v1(head1+e2d, three1...), Want: three1},
	{Name: "end line", Data: v2(head+"% end\n"+cd, three...), Want: three},
	{Name: "no size", Data: v2(ncars+e2d, three...), Want: three},
	{Name: "a type that ends the line", Data: v2(head+cd, ev{0x2025, 3, 0, 0x25}), Policy: format.Policy{OnOffSensor: format.Keep},
		Want: []ev{{0x2025, 3, 0, 0x25}}, Counters: counts{event.OffSensor: 1}},
	{Name: "no version, of 2", Data: v2(bare+cd, three...), Want: three},
	{Name: "no version, of 1", Data: v1(bare+cd, three1...), Want: three1},
	{Name: "no version, layout v2", Data: v2(bare+cd, ev{300, 3, 0, 1}), Policy: format.Policy{Layout: "v2"}, Want: []ev{{300, 3, 0, 1}}},
	{Name: "layout before version", Data: v1(head+cd, three1...), Policy: format.Policy{Layout: "v1"}, Want: three1},
	{Name: "no header, of 2", Data: v2("", three...), Want: three, Forced: true},
	{Name: "no header, of 1", Data: v1("", three1...), Want: three1, Forced: true},
	{Name: "wrap", Data: v2(head+cd, ev{1, 1, 0, 4294967290}, ev{2, 1, 0, 5}, ev{3, 1, 0, 6}),
		Want: []ev{{1, 1, 0, 4294967290}, {2, 1, 0, 4294967301}, {3, 1, 0, 4294967302}}, Counters: counts{event.Wraps: 1}},
	{Name: "two wraps with gaps", Data: v2(head+cd, ev{1, 1, 0, 1 << 31}, ev{2, 1, 0, 0}, ev{3, 1, 0, 1<<32 - 2_000_000}, ev{4, 1, 0, 1}),
		Want:     []ev{{1, 1, 0, 1 << 31}, {2, 1, 0, 1 << 32}, {3, 1, 0, 1<<33 - 2_000_000}, {4, 1, 0, 1<<33 + 1}},
		Counters: counts{event.Wraps: 2, event.Gaps: 3}},
	{Name: "late over a wrap", Data: v2(head+cd, ev{1, 1, 0, 1<<32 - 9}, ev{2, 1, 0, 5}, ev{3, 1, 0, 1<<32 - 1}, ev{4, 1, 0, 6}),
		Want:     []ev{{1, 1, 0, 1<<32 - 9}, {3, 1, 0, 1<<32 - 1}, {2, 1, 0, 1<<32 + 5}, {4, 1, 0, 1<<32 + 6}},
		Counters: counts{event.Wraps: 1, event.Unsorted: 1}},
	{Name: "a decrease of less is out of order", Data: v2(head+cd, ev{1, 1, 0, 1<<31 - 1}, ev{2, 1, 0, 0}), Policy: format.Policy{OnUnsorted: format.Clamp},
		Want: []ev{{1, 1, 0, 1<<31 - 1}, {2, 1, 0, 1<<31 - 1}}, Counters: counts{event.Unsorted: 1}},
	{Name: "gap", Data: v2(head+cd, ev{1, 1, 0, 0}, ev{2, 1, 0, 1_000_000}, ev{3, 1, 0, 2_000_001}),
		Want: []ev{{1, 1, 0, 0}, {2, 1, 0, 1_000_000}, {3, 1, 0, 2_000_001}}, Counters: counts{event.Gaps: 1}},
	{Name: "polarity of -1", Data: v2(head+cd, ev{1, 1, 1, 1}, ev{2, 1, 15, 2}), Want: []ev{{1, 1, 1, 1}, {2, 1, 0, 2}},
		Counters: counts{event.RemappedPolarity: 1}},
	{Name: "polarity nonzero", Data: v2(head+cd, ev{1, 1, 15, 1}, ev{2, 1, 3, 2}, ev{3, 1, 0, 3}), Policy: format.Policy{Polarity: "nonzero"},
		Want: []ev{{1, 1, 1, 1}, {2, 1, 1, 2}, {3, 1, 0, 3}}, Counters: counts{event.RemappedPolarity: 2}},
	{Name: "off the sensor", Data: v2(head+cd, ev{640, 1, 1, 1}, ev{1, 480, 1, 2}, ev{3, 4, 1, 3}), Want: []ev{{3, 4, 1, 3}}, Counters: counts{event.OffSensor: 2}},
	{Name: "the largest pixel", Data: v2(ncars+cd, ev{16383, 16383, 1, 1}), Want: []ev{{16383, 16383, 1, 1}}},
	{Name: "zeroed start", Data: v2(head+cd, ev{1, 1, 1, 500}, ev{2, 1, 1, 700}), Policy: format.Policy{Zero: true}, Want: []ev{{1, 1, 1, 0}, {2, 1, 1, 200}}},
	{Name: "cut last record", Data: append(v2(head+cd, three...), 1, 2, 3, 4, 5), Want: three, Counters: counts{event.TrailingBytes: 5}},
	{Name: "cut after the type", Data: []byte(head + "\x0c"), Counters: counts{event.TrailingBytes: 1}},
	{Name: "header only", Data: []byte(head)},
	{Name: "no records", Data: []byte(head + cd)},
	{Name: "empty", Forced: true},
}

// TestConformance leaves writing to TestRoundTrip, for the suite's recordings start later than 32 bits can say.
func TestConformance(t *testing.T) {
	f := Format
	f.Create = nil
	formattest.Run(t, f, cases...)
}

func TestStrict(t *testing.T) {
	at := int64(len(head) + len(cd))
	formattest.CheckDamages(t, Format, []formattest.Damage{
		{Name: "no polarity", Data: v2(head+cd, ev{1, 1, 0, 1}, ev{1, 1, 2, 2}), Offset: at + recordSize},
		{Name: "a negative polarity as 0 or 1", Data: v2(head+cd, ev{1, 1, 15, 1}), Policy: format.Policy{Polarity: "01"}, Offset: at},
		{Name: "cut record", Data: append(v2(head+cd, three...), 7), Policy: format.Policy{Strict: true}, Offset: at + 3*recordSize},
		{Name: "nothing amiss", Data: v2(head+cd, three...), Policy: format.Policy{Strict: true}, Offset: -1},
	}...)
}

func TestOpenRefuses(t *testing.T) {
	for what, c := range map[string]struct {
		data, want string
		policy     format.Policy
	}{
		"external triggers":        {head + "\x0e\x08", "0x0E: external triggers", format.Policy{}},
		"external triggers of 12":  {head + "\x0e\x0c", "0x0E: external triggers", format.Policy{}},
		"optical flow":             {head + "\x28\x1c", "0x28: optical flow", format.Policy{}},
		"another type":             {head + "\x07\x08", "0x07: no events", format.Policy{}},
		"records of another size":  {head + "\x0c\x10", "records of 16 bytes", format.Policy{}},
		"another version":          {"% Data file containing CD events\n% Version 3\n\x0c\x08", "--layout", format.Policy{}},
		"another layout":           {head + cd, "v1, v2", format.Policy{Layout: "davis"}},
		"another polarity":         {head + cd, "nonzero", format.Policy{Polarity: "maybe"}},
		"a size that is no number": {"% Version 2\n% Width many\n% Height 3\n" + cd, "--size", format.Policy{}},
	} {
		_, err := Format.Open(t.Context(), formattest.File([]byte(c.data)), c.policy)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "dat: ") {
			t.Errorf("%s: error %v, want one with %q", what, err, c.want)
		}
	}
}

func TestSniff(t *testing.T) {
	for data, mine := range map[string]bool{
		head + "\x0e\x08": true, head + "\x28\x1c": true, // recognised, so that opening them says what they are
		head + "\x07\x08":                    false,
		"% Date 2020-09-25\n" + cd:           false,
		"% evt 3.0\n% Version 2\n" + cd:      false,
		"% Version 2\n" + cd:                 true,
		string(v2("", three...)):             false,
		"% Version 2\nIt was a bright day\n": false,
	} {
		if p := Format.Sniff(formattest.File([]byte(data))); (p.Confidence > 0.5) != mine || p.Why == "" {
			t.Errorf("%q: confidence %v, %q", data, p.Confidence, p.Why)
		}
	}
}

// TestSalvage keeps what is not damaged and names what is.
func TestSalvage(t *testing.T) {
	var many []ev
	for i := range int64(300) {
		many = append(many, ev{1, 1, 1, i}, ev{1, 1, 7, i})
	}
	bad := ev{9, 9, 9, 9}
	for _, c := range []struct {
		events []ev
		kept   int
		notes  []string
	}{
		{[]ev{{1, 1, 1, 1}, bad, bad, {2, 1, 0, 2}, bad}, 2, []string{"The bytes 80 to 95 are", "The bytes 104 to 111 are"}},
		{[]ev{bad}, 0, []string{"The bytes 72 to 79 are"}},
		{many, 300, nil},
	} {
		src, err := Format.Open(t.Context(), formattest.File(v2(head+cd, c.events...)), format.Policy{Salvage: true})
		if err != nil {
			t.Fatal(err)
		}
		got, _, rep := formattest.Collect(t, src)
		lost := rep.Get(event.DamagedBytes).Lost
		if got.Len() != c.kept || lost != int64(recordSize*(len(c.events)-c.kept)) {
			t.Errorf("%d events kept and %d bytes lost of %d events", got.Len(), lost, len(c.events))
		}
		for i, want := range c.notes {
			if i >= len(rep.Notes) || !strings.HasPrefix(rep.Notes[i], want) {
				t.Errorf("notes %q, want %q", rep.Notes, c.notes)
			}
		}
		if len(rep.Notes) > maxRanges+1 {
			t.Errorf("%d notes", len(rep.Notes))
		}
	}
}

// TestGuessIsNoted looks for the sentence that says how a version was found out.
func TestGuessIsNoted(t *testing.T) {
	for _, c := range []struct {
		data    []byte
		version string
		notes   int
	}{
		{v1(bare+cd, three1...), "1", 1}, {v2(bare+cd, three...), "2", 1}, {v2(head+cd, three...), "2", 0}, {v1(head1+cd, three1...), "1", 0},
	} {
		src, err := Format.Open(t.Context(), formattest.File(c.data), format.Policy{})
		if err != nil {
			t.Fatal(err)
		}
		_, _, rep := formattest.Collect(t, src)
		if got := src.Info().Version; got != c.version || len(rep.Notes) != c.notes {
			t.Errorf("version %s, notes %q; want version %s and %d notes", got, rep.Notes, c.version, c.notes)
		}
	}
}

// decode starts to decode records, below the policies.
func decode(payload []byte, l bits, size int, rep *event.Report, pool *event.Pool) format.Decoder {
	s := rawheader.Scan{Policy: format.Policy{}.WithDefaults(), Report: rep, Triggers: &rawheader.Triggers{}}
	p := rawheader.NewPayload(formattest.File(payload), 0, int64(len(payload)), recordSize, size)
	return rawheader.NewDecoder(p, &decoder{Scan: s, bits: l, polarity: nonzero}, pool, s.Triggers)
}

// TestFastLoop checks that the fast loop does what step does, over buffers of odd sizes: both where unusual records lie
// close together, so that it goes record by record, and where whole blocks hold none, or one at any place.
func TestFastLoop(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 2))
	for k := range 200 {
		l := []bits{bits1, bits2}[k%2]
		var payload []byte
		now := r.Uint32()
		usual := []int{20, 300}[k/2%2]
		for range r.IntN(1000) * usual / 20 {
			switch r.IntN(usual) {
			case 0:
				now = r.Uint32()
			case 1:
				now -= uint32(r.IntN(2000))
			default:
				now += uint32(r.IntN(1000))
			}
			w := r.Uint32() &^ (l.pMask << l.pShift)
			if r.IntN(usual) > 0 {
				w |= uint32(r.IntN(2)) << l.pShift
			} else {
				w |= r.Uint32() & (l.pMask << l.pShift)
			}
			payload = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(payload, now), w)
		}
		want, wantRep := event.NewBuffer(0), &event.Report{}
		d := &decoder{Scan: rawheader.Scan{Report: wantRep}, bits: l, polarity: nonzero}
		for at := 0; at < len(payload); at += recordSize {
			if err := d.step(want, payload[at:at+recordSize], int64(at)); err != nil {
				t.Fatal(err)
			}
		}
		formattest.CheckDecoder(t, want, wantRep, []int{0, 5, 100, 3000}, func(size int, rep *event.Report) format.Decoder {
			return decode(payload, l, size, rep, event.NewPool(7+size))
		})
	}
}

func TestRecordings(t *testing.T) {
	vga := event.Geometry{Width: 640, Height: 480}
	formattest.CheckRecordings(t, Format, vga, "dat_derived/faery_evt2_first100k_td.dat", "dat_derived/faery_evt2_first100k_wrap32_td.dat")
	formattest.CheckRecordings(t, Format, event.Geometry{}, "dat/loris_NCARS_obj_004397_td.dat")
}

func BenchmarkDecode(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	var payload []byte
	for i := range 4 << 20 {
		payload = binary.LittleEndian.AppendUint32(payload, uint32(i/3))
		payload = binary.LittleEndian.AppendUint32(payload, uint32(r.IntN(1280)|r.IntN(720)<<14|r.IntN(2)<<28))
	}
	pool := event.NewPool(rawheader.BufferSize)
	events := 0
	for b.Loop() {
		events += formattest.Count(b, decode(slices.Clip(payload), bits2, 0, &event.Report{}, pool))
	}
	b.ReportMetric(float64(events)/b.Elapsed().Seconds()/1e6, "Mev/s")
}
