package rawheader

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/evq-project/evq/io/event"
)

func read(t testing.TB, data string) Header {
	t.Helper()
	h, err := Read(strings.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatalf("%.60q: %v", data, err)
	}
	return h
}

func TestHeaderEnds(t *testing.T) {
	for name, c := range map[string]struct {
		data    string
		payload int
		fields  string // key=value, joined by |
	}{
		"nothing":                      {"", 0, ""},
		"no header":                    {"\x01\x80\x02\x60", 0, ""},
		"end line":                     {"% evt 3.0\n% end\n% more\n", 16, "evt=3.0"},
		"end line and binary":          {"% evt 3.0\n% end\n\x25\x20\x41", 16, "evt=3.0"},
		"no end line":                  {"% evt 3.0\n% system_ID 48\n\x01\x80", 25, "evt=3.0|system_ID=48"},
		"payload starts with percent":  {"% evt 3.0\n\x25\x00\x01\x80", 10, "evt=3.0"},
		"payload starts like a header": {"% evt 3.0\n% \x00\x01", 10, "evt=3.0"},
		"payload looks like a line":    {"% evt 3.0\n% A\x80\x01\x02\n", 10, "evt=3.0"},
		"carriage returns":             {"% evt 3.0\r\n% end\r\n\x01\x80", 18, "evt=3.0"},
		"cut in a line":                {"% evt 3.0\n% geometry 64", 23, "evt=3.0|geometry=64"},
		"cut in the end line":          {"% evt 3.0\n% end", 15, "evt=3.0"},
		"value with spaces":            {"% Date 2020-09-25 07:48:31\n", 27, "Date=2020-09-25 07:48:31"},
		"key alone":                    {"% marker\n% evt 3.0\n", 19, "marker=|evt=3.0"},
		"file order":                   {"% b 1\n% a 2\n", 12, "b=1|a=2"},
		"UTF-8":                        {"% site Zürich\n", 15, "site=Zürich"},
		"longer than one read":         {"% a " + strings.Repeat("x", 9000) + "\n% evt 3.0\n\x01\x80", 9015, "a=" + strings.Repeat("x", 9000) + "|evt=3.0"},
		"as long as one read":          {"% a " + strings.Repeat("x", 4091) + "\n% evt 3.0\n\x01\x80", 4106, "a=" + strings.Repeat("x", 4091) + "|evt=3.0"},
	} {
		h := read(t, c.data)
		var fields []string
		for _, f := range h.Fields {
			fields = append(fields, f.Key+"="+f.Value)
		}
		if got := strings.Join(fields, "|"); h.Payload != int64(c.payload) || got != c.fields {
			t.Errorf("%s: payload at %d and fields %.80q, want %d and %.80q", name, h.Payload, got, c.payload, c.fields)
		}
		if p := Parse([]byte(c.data)); p.Payload != h.Payload || !slices.Equal(p.Fields, h.Fields) {
			t.Errorf("%s: Parse and Read differ", name)
		}
	}
}

func TestHeaderTooLong(t *testing.T) {
	for name, data := range map[string]string{
		"lines":    strings.Repeat("% key value\n", MaxSize/10),
		"one line": "% " + strings.Repeat("x", 2*MaxSize),
	} {
		if _, err := Read(strings.NewReader(data), int64(len(data))); !errors.Is(err, ErrTooLong) {
			t.Errorf("%s: error %v, want %v", name, err, ErrTooLong)
		}
	}
}

func TestVersion(t *testing.T) {
	for data, want := range map[string]string{
		"% evt 3.0\n":                         "EVT3",
		"% evt 2.1\n":                         "EVT21",
		"% evt 2.0\n% format EVT3;width=1\n":  "EVT3", // format wins
		"% format EVT21;endianness=legacy\n":  "EVT21",
		"% format evt2\n":                     "EVT2",
		"% system_ID 48\n":                    "EVT3",
		"% system_ID 21\n":                    "EVT2",
		"% system_ID 48\n% evt 2.0\n":         "EVT2", // evt wins over the model
		"% system_ID 4711\n":                  "",
		"% evt 9.9\n":                         "",
		"% Data file containing CD events.\n": "",
	} {
		if got := read(t, data).Version(); got.Name != want {
			t.Errorf("%q: %q (%s), want %q", data, got.Name, got.Why, want)
		}
	}
}

func TestGeometry(t *testing.T) {
	for data, want := range map[string]string{
		"% format EVT3;height=720;width=1280\n":                         "1280x720",
		"% format EVT3; width=1280 ;height=720\n":                       "1280x720",
		"% geometry 640x480\n% system_ID 48\n":                          "640x480",
		"% Height 240\n% Width 304\n":                                   "304x240",
		"% system_ID 48\n":                                              "1280x720",
		"% system_ID 0x30\n":                                            "unknown",
		"% evt 3.0\n":                                                   "unknown",
		"% format EVT3;height=720;width=1280\n% geometry 1280x720\n":    "1280x720",
		"% format EVT3;height=480;width=640\n% geometry 1280x720\n":     "--size",
		"% geometry 640\n":                                              "--size",
		"% geometry -640x480\n":                                         "--size",
		"% geometry 99999999999x480\n":                                  "--size",
		"% format EVT3;height=0;width=640\n":                            "--size",
		"% geometry 65537x480\n":                                        "--size",
		"% format EVT3;width=640\n% geometry 640x480\n% system_ID 48\n": "640x480",
	} {
		g, err := read(t, data).Geometry()
		switch {
		case strings.HasPrefix(want, "--"):
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%q: %v and error %v, want an error that says %s", data, g, err, want)
			}
		case err != nil || g.String() != want:
			t.Errorf("%q: %v, %v, want %s", data, g, err, want)
		}
	}
}

func TestWriteThenRead(t *testing.T) {
	g := event.Geometry{Width: 640, Height: 480}
	fields := []event.Field{
		{Key: "serial_number", Value: "0000 0307"}, {Key: "evt", Value: "2.0"}, {Key: "Geometry", Value: "1x1"}, {Key: "end", Value: ""},
		{Key: "two words", Value: "a\nb\x00c"}, {Key: "", Value: "x"}, {Key: "empty", Value: ""},
	}
	b, err := Write("EVT3", "3.0", g, fields)
	if err != nil {
		t.Fatal(err)
	}
	h := read(t, string(b)+"\x25\x20\x41\x41\n")
	want := []event.Field{
		{Key: "evt", Value: "3.0"}, {Key: "format", Value: "EVT3;height=480;width=640"}, {Key: "geometry", Value: "640x480"},
		{Key: "serial_number", Value: "0000 0307"}, {Key: "two_words", Value: "a b c"}, {Key: "empty", Value: ""},
	}
	if h.Payload != int64(len(b)) || !slices.Equal(h.Fields, want) {
		t.Errorf("payload at %d of %d, fields\n%v, want\n%v", h.Payload, len(b), h.Fields, want)
	}
	if got, err := h.Geometry(); got != g || err != nil || h.Version().Name != "EVT3" {
		t.Errorf("geometry %v, %v, version %v", got, err, h.Version())
	}
	if _, err := Write("EVT3", "3.0", g, []event.Field{{Key: "k", Value: strings.Repeat("x", MaxSize)}}); err == nil {
		t.Error("a header longer than readers take is written")
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("% evt 3.0\n% format EVT3;height=480;width=640\n% geometry 640x480\n% system_ID 48\r\n% end\n\x01\x80"))
	f.Add([]byte("% A\x80\x01\x02\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		h, err := Read(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return
		}
		if h.Payload < 0 || h.Payload > int64(len(data)) {
			t.Fatalf("payload at %d of %d", h.Payload, len(data))
		}
		_, _ = h.Geometry()
		_, _, _ = h.Claim("EVT3")
	})
}
