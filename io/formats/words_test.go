package formats

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/rawheader"
)

// A RAW recording whose header does not name its words, or that has no header at all, is told by its words.
func TestNamelessRAW(t *testing.T) {
	g := event.Geometry{Width: 320, Height: 240}
	want := eventtest.Scene(7, 5000, g)
	for _, name := range []string{"evt2", "evt21", "evt3"} {
		b := recorded(t, name, g, want)
		words := b[start(t, name, b):]
		for header, data := range map[string][]byte{
			"none":      words,
			"some":      append([]byte("% camera x\n% geometry 320x240\n% end\n"), words...),
			"an odd id": append([]byte("% system_ID 9999\n"), words...),
		} {
			path := filepath.Join(t.TempDir(), "a.raw")
			if err := os.WriteFile(path, data, 0o666); err != nil {
				t.Fatal(err)
			}
			src, err := joinAll(t, "", format.Policy{}, path)
			if err != nil {
				t.Errorf("%s, header %s: %v", name, header, err)
				continue
			}
			m := src.(*recording).Match()
			if m.Format != name || m.Confidence <= 0.5 || m.Confidence >= 0.9 || !strings.Contains(m.Why, "decode as "+strings.ToUpper(name)) {
				t.Errorf("%s, header %s: %+v", name, header, m)
			}
			if d := eventtest.Diff(want, eventtest.Drain(t, src, event.All)); d != "" {
				t.Errorf("%s, header %s: %s", name, header, d)
			}
		}
	}
}

// legacy turns the halves of little-endian EVT2.1 words.
func legacy(words []byte) []byte {
	out := make([]byte, len(words))
	for i := 0; i+8 <= len(words); i += 8 {
		w := binary.LittleEndian.Uint64(words[i:])
		binary.LittleEndian.PutUint64(out[i:], w>>32|w<<32)
	}
	return out
}

// Where nothing says the order of EVT2.1 words, they say it themselves, whether or not a header names the format.
func TestLegacyOrderByWords(t *testing.T) {
	want := eventtest.Scene(7, 5000, event.Geometry{Width: 320, Height: 240})
	b := recorded(t, "evt21", event.Geometry{}, want)
	words := legacy(b[start(t, "evt21", b):])
	for _, header := range []string{"", "% evt 2.1\n% end\n"} {
		path := filepath.Join(t.TempDir(), "a.raw")
		if err := os.WriteFile(path, append([]byte(header), words...), 0o666); err != nil {
			t.Fatal(err)
		}
		src, err := joinAll(t, "", format.Policy{}, path)
		if err != nil {
			t.Fatal(err)
		}
		if d := eventtest.Diff(want, eventtest.Drain(t, src, event.All)); d != "" {
			t.Errorf("%q: %s", header, d)
		}
		said := (event.Info{Fields: src.(*recording).Match().Properties}).Field("word_order")
		if !strings.HasPrefix(said, "legacy: ") {
			t.Errorf("%q: word order %q", header, said)
		}
		// What was chosen wins over what the words say.
		if src, err = joinAll(t, "evt21", format.Policy{Layout: "little"}, path); err != nil {
			t.Fatal(err)
		}
		if got := eventtest.Drain(t, src, event.All); got.Len() == want.Len() {
			t.Error("the words were read in another order than the chosen one")
		}
	}
}

// What the words leave open is unknown: the error lists what was tried, says why not, and how to go on.
func TestTooLittleProof(t *testing.T) {
	few := recorded(t, "evt3", event.Geometry{}, eventtest.Scene(7, 30, event.Geometry{Width: 320, Height: 240}))
	few = few[start(t, "evt3", few):]
	for name, b := range map[string][]byte{
		"few events":      few,
		"time bases only": bytes.Repeat([]byte{1, 0x80}, 5000),
		"addresses only":  bytes.Repeat([]byte{3, 0, 7, 0x20}, 5000),
	} {
		_, err := Detect(bytes.NewReader(b), int64(len(b)))
		if !errors.Is(err, format.ErrUnknown) || !strings.Contains(err.Error(), "--format evt3") || !strings.Contains(err.Error(), "evt3 (no header, and read as EVT3 ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Frames that a camera made of its events are named, and so is what to do; asking for a format does not help.
func TestForeignWords(t *testing.T) {
	for name, want := range map[string]string{
		"HISTO3D": "record again", "DIFF3D": "record again", "HISTO3D;height=320;width=320": "record again", "EVT4": "does not read",
	} {
		b := append([]byte("% format "+name+"\n% end\n"), make([]byte, 5000)...)
		_, err := Detect(bytes.NewReader(b), int64(len(b)))
		var foreign *rawheader.NameError
		word, _, _ := strings.Cut(name, ";")
		if !errors.As(err, &foreign) || foreign.Name != word || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
		f, _ := ByName("evt21")
		if _, err := f.Open(t.Context(), format.File{ReaderAt: bytes.NewReader(b), Size: int64(len(b))}, format.Policy{}); !errors.As(err, &foreign) {
			t.Errorf("%s as evt21: %v", name, err)
		}
	}
	// Other word orders than the two of EVT2.1 are recognised and refused by name.
	b := []byte("% format EVT21;endianness=big\n% end\n")
	if m, err := Detect(bytes.NewReader(b), int64(len(b))); err != nil || m.Format != "evt21" {
		t.Errorf("%+v, %v", m, err)
	}
	f, _ := ByName("evt21")
	if _, err := f.Open(t.Context(), format.File{ReaderAt: bytes.NewReader(b), Size: int64(len(b))}, format.Policy{}); err == nil || !strings.Contains(err.Error(), `"big"`) {
		t.Errorf("big: %v", err)
	}
}

// Each recording without its header is recognised by its words, or by nothing: never as something else.
func TestStrippedRecordings(t *testing.T) {
	data := eventtest.Data(t)
	for name, want := range map[string]string{
		"evt2/faery_evt2.raw": "evt2", "evt_wrap_derived/evt2_timehigh_wrap34.raw": "evt2",
		"evt3/expelliarmus_evt3_sample.raw": "evt3", "evt3_from_ros/evt3_trigger_1280x720.raw": "evt3", "evt_wrap_derived/evt3_timehigh_wrap24.raw": "evt3",
		"evt21_derived/evt21_little_from_evt3_trigger.raw": "evt21", "evt21_derived/evt21_legacy_from_evt3_trigger.raw": "evt21",
		"dat/loris_NCARS_obj_004397_td.dat": "", "dat_derived/faery_evt2_first100k_td.dat": "", "dat_derived/faery_evt2_first100k_wrap32_td.dat": "",
		"aedat1_derived/aedat_headerless_dvs128.dat": "", "es/faery_dvs.es": "", "es/loris_test.es": "",
	} {
		b, err := os.ReadFile(filepath.Join(data, name))
		if err != nil {
			t.Error(err)
			continue
		}
		h := rawheader.Parse(b)
		m, err := Detect(bytes.NewReader(b[h.Payload:]), int64(len(b))-h.Payload)
		if m.Format != want || (err == nil) != (want != "") {
			t.Errorf("%s: %+v, %v, want %q", name, m, err, want)
		}
	}
}
