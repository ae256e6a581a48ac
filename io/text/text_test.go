package text

import (
	"errors"
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
)

// three is what most cases hold.
var three = []ev{{3, 5, 0, 7}, {30, 50, 1, 70}, {4, 6, 1, 700}}

var cases = []formattest.Case{
	{Name: "named", Data: []byte("t,x,y,p\n7,3,5,0\n70,30,50,1\n700,4,6,1\n"), Want: three},
	{Name: "quoted, other names and order", Data: []byte("\"Polarity\",\"row\",\"col\",\"n\",\"timestamp\"\n0,5,3,9,7\n1,50,30,9,70\n1,6,4,9,700\n"), Want: three, NoPrefix: true},
	{Name: "unit in a name", Data: []byte("t_ns,x,y,p\n7000,3,5,0\n70499,30,50,1\n699500,4,6,1\n"), Want: three},
	{Name: "no names", Data: []byte("7,3,5,0\n70,30,50,1\n700,4,6,1\n"), Want: three},
	{Name: "minus one", Data: []byte("7,3,5,-1\n70,30,50,1\n700,4,6,1\n"), Want: three, Counters: counts{event.RemappedPolarity: 1}},
	{Name: "words", Data: []byte("7,3,5,false\n70,30,50,True\n700,4,6,ON\n"), Want: three, Counters: counts{event.RemappedPolarity: 3}},
	{Name: "a minus one without its sign", Data: []byte("t,x,y,p\n7,3,5,255\n70,30,50,1\n700,4,6,1\n"), Want: three, Counters: counts{event.RemappedPolarity: 1}},
	{Name: "semicolons, carriage returns, blank lines", Data: []byte("t;x;y;p\r\n\r\n7;3;5;0\r\n70;30;50;1\r\n\r\n# late\r\n700;4;6;1\r\n"), Want: three},
	{Name: "geometry and byte order mark", Data: []byte("\xEF\xBB\xBF%geometry:40,60\n3,5,0,7\n30,50,1,70\n4,6,1,700\n"), Want: three, NoPrefix: true},
	{Name: "off the sensor", Data: []byte("%geometry:40,60\n3,5,0,7\n40,5,0,7\n-1,5,0,8\n30,50,1,70\n4,6,1,700\n"), Want: three, NoPrefix: true, Counters: counts{event.OffSensor: 2}},
	{Name: "forty comments", Data: []byte(strings.Repeat("# a comment, with commas; and more\n", 40) + "7, 3, 5, 0\n70 ,30,50, 1\n700,4,6,1\n"), Want: three},
	{Name: "unsorted", Data: []byte("t,x,y,p\n70,30,50,1\n7,3,5,0\n700,4,6,1"), Want: three, Counters: counts{event.Unsorted: 1}},
	{Name: "cut", Data: []byte("7,3,5,0\n70,30,50,1\n700,4,6,1\n800,5,"), Want: three, Counters: counts{event.TrailingBytes: 6}},
	{Name: "cut within a time", Data: []byte("3,5,0,7\n30,50,1,70\n4,6,1,700\n4,7,0,71"), Want: three, NoPrefix: true, Counters: counts{event.TrailingBytes: 8}},
	{Name: "salvage", Data: []byte("t,x,y,p\n7,3,5,0\n7,3\n8,30.5,1,1\n70,30,50,1\n??\n700,4,6,1\n"), Policy: format.Policy{Salvage: true},
		Want: three, Counters: counts{event.DamagedBytes: 18}},
	{Name: "names only", Data: []byte("t,x,y,p\n")},
	{Name: "empty", Forced: true},
}

var textCases = []formattest.Case{
	{Name: "seconds", Data: []byte("0.000007 3 5 0\n0.000070 30 50 1\n0.000700 4 6 1\n"), Want: three},
	{Name: "W H, tabs", Data: []byte("40 60\n0.000007\t3\t5\t0\n0.000070\t30\t50\t1\n7.00e-04\t4\t6\t1\n"), Want: three},
	{Name: "names in a comment, as savetxt prints them", Data: []byte("# x y p t\n3 5 0 7\n30 50 1 70\n4 6 1 700\n"), Want: three, NoPrefix: true},
	{Name: "scientific, unsorted", Data: []byte("6.55e-05 1 2 1\n4.9e-05 3 4 0\n5e-05 5 6 1\n0.0000514 7 8 0\n"),
		Want: []ev{{3, 4, 0, 49}, {5, 6, 1, 50}, {7, 8, 0, 51}, {1, 2, 1, 66}}, Counters: counts{event.Unsorted: 3}, NoPrefix: true},
	{Name: "half to even", Data: []byte("0.0000005 1 2 1\n0.0000015 1 2 1\n0.0000025 1 2 1\n0.00000250000000000000000000001 1 2 1\n2.5 1 2 1\n"),
		Want: []ev{{1, 2, 1, 0}, {1, 2, 1, 2}, {1, 2, 1, 2}, {1, 2, 1, 3}, {1, 2, 1, 2500000}}, NoPrefix: true},
	{Name: "whole numbers written as floating-point ones", Data: []byte("3.000000000000000000e+01 4.0e+01 0.0e+00 1.0e+00\n"), Forced: true,
		Policy: format.Policy{Columns: []string{"x", "y", "t", "p"}, TimeUnit: "s"}, Want: []ev{{30, 40, 1, 0}}, NoPrefix: true},
	{Name: "negative times", Data: []byte("-9223372036854775808 1 2 0\n-5 1 2 1\n0 1 2 1\n"), Want: []ev{{1, 2, 0, -1 << 63}, {1, 2, 1, -5}, {1, 2, 1, 0}}, NoPrefix: true},
}

func TestCSV(t *testing.T) { formattest.Run(t, CSV, cases...) }

func TestText(t *testing.T) { formattest.Run(t, Format, textCases...) }

func TestRecordings(t *testing.T) {
	formattest.CheckRecordings(t, Format, event.Geometry{}, "txt/events_viz_slider_depth_events_chunk.txt")
	formattest.CheckRecordings(t, CSV, event.Geometry{Width: 1280, Height: 720}, "csv_derived/xypt_openeb_header.csv")
	formattest.CheckRecordings(t, CSV, event.Geometry{}, "csv_derived/txyp_named_header.csv")
}

func TestAestreamSample(t *testing.T) {
	src := formattest.OpenPath(t, CSV, eventtest.Data(t)+"/csv/aestream_sample.csv", format.Policy{})
	b, _, _ := formattest.Collect(t, src)
	if b.Len() != 100 || b.T[99] != 99 || b.X[99] != 99 || b.Y[99] != 99 || b.P[99] != 0 {
		t.Errorf("%d events", b.Len())
	}
}

func drain(t *testing.T, data string, p format.Policy) (event.Info, event.Batch, *event.Report, error) {
	t.Helper()
	src, err := Format.Open(t.Context(), formattest.File([]byte(data)), p)
	if err != nil {
		return event.Info{}, event.Batch{}, nil, err
	}
	b, rep, err := format.Drain(t.Context(), src)
	return src.Info(), b, rep, err
}

func TestRefuses(t *testing.T) {
	for _, c := range []struct {
		name, data string
		p          format.Policy
		offset     int64 // -1: not a syntax error
		want       string
	}{
		{"fraction of a pixel", "t,x,y,p\n1,2,3,0\n1,30.5,3,0\n", format.Policy{}, 16, "line 3: x is \"30.5\", which is a fraction"},
		{"large x", "t,x,y,p\n1,65536,3,0\n", format.Policy{}, 8, "65535"},
		{"polarity", "t,x,y,p\n1,1,1,0\n2,1,1,1\n3,1,1,2\n", format.Policy{}, 24, "nonzero"},
		{"polarity 01", "1,1,1,-1\n", format.Policy{Polarity: "01"}, 0, "neither 0 nor 1"},
		{"polarity pm1", "1,1,1,0\n", format.Policy{Polarity: "pm1"}, 0, "neither -1 nor 1"},
		{"fraction of a microsecond", "0.001833 1 2 1\n", format.Policy{TimeUnit: "us"}, 0, "whole number of microseconds"},
		{"units that differ", "1 1 2 1\n" + strings.Repeat("2 1 2 1\n", headRows) + "0.5 1 2 1\n", format.Policy{}, 8 * (headRows + 1), "--time-unit"},
		{"time too large", "t,x,y,p\n99999999999999999999,1,1,1\n", format.Policy{}, 8, "--time-unit"},
		{"few columns", "1,2,3,0\n1,2,3\n1,2,3,0\n", format.Policy{}, 8, "3 columns, where there are 4"},
		{"many columns", "1,2,3,0\n1,2,3,0,1\n1,2,3,0\n", format.Policy{}, 8, "5 columns"},
		{"prose", "1,2,3,0\nhello\n1,2,3,0\n", format.Policy{}, 8, "line 2"},
		{"cut, strict", "1,2,3,0\n1,2", format.Policy{Strict: true}, 8, "--strict"},
		{"long line", "1,2,3,0\n" + strings.Repeat("9", 3*longest) + "\n", format.Policy{ReadSize: 4096}, 8, "damaged"},
		{"names", "t,x,y,w\n1,2,3,0\n", format.Policy{}, -1, "--columns"},
		{"columns", "1,2,3,0\n", format.Policy{Columns: []string{"t", "x", "x", "p"}}, -1, "t,x,x,p"},
		{"unit", "1,2,3,0\n", format.Policy{TimeUnit: "weeks"}, -1, "weeks"},
		{"encoding", "1,2,3,0\n", format.Policy{Polarity: "2"}, -1, "pm1"},
		{"binary", "1,2,3,0\n\x00", format.Policy{}, -1, "UTF-8"},
	} {
		_, _, _, err := drain(t, c.data, c.p)
		var syntax *format.SyntaxError
		if err == nil || !strings.Contains(err.Error(), c.want) || errors.As(err, &syntax) != (c.offset >= 0) || syntax != nil && syntax.Offset != c.offset {
			t.Errorf("%s: %v; want %q at %d", c.name, err, c.want, c.offset)
		}
	}
}

func TestSays(t *testing.T) {
	for _, c := range []struct {
		data                      string
		p                         format.Policy
		unit, polarity, cols, why string
	}{
		{"0.001833 1 2 1\n", format.Policy{}, "s", "0/1", "t,x,y,p", "decimal point"},
		{"1833 1 2 -1\n", format.Policy{}, "us", "-1/1", "t,x,y,p", "no decimal point"},
		{"t[ms],x,y,on\n1833,1,2,ON\n", format.Policy{}, "ms", "on/off", "t,x,y,p", "name of the column"},
		{"a,b,c,d\n1,2,3,0\n", format.Policy{Columns: []string{"x", "y", "t", "p"}, TimeUnit: "ns"}, "ns", "0/1", "x,y,t,p", "caller"},
		{"9 9 5 true\n9 8 6 false\n7 9 7 true\n", format.Policy{}, "us", "true/false", "x,y,t,p", "no decimal"},
	} {
		info, _, _, err := drain(t, c.data, c.p)
		if err != nil || info.Unit != c.unit || info.Polarity != c.polarity || info.Field("columns") != c.cols || !strings.Contains(info.Field("time_unit_because"), c.why) {
			t.Errorf("%q: %+v, %v", c.data, info, err)
		}
	}
	info, _, _, err := drain(t, "# camera: DVX 7\n% geometry: 346x260\nt,x,y,p\n", format.Policy{})
	if err != nil || info.Field("camera") != "DVX 7" || info.Geometry != (event.Geometry{Width: 346, Height: 260}) {
		t.Errorf("%+v, %v", info, err)
	}
}

// What a recording says of its columns is what --columns takes.
func TestColumnsGiven(t *testing.T) {
	data := "n;t;x;y;p\n9;7;3;5;0\n9;70;30;50;1\n"
	info, want, _, err := drain(t, data, format.Policy{})
	if err != nil || info.Field("columns") != "-,t,x,y,p" {
		t.Fatalf("%+v, %v", info, err)
	}
	_, got, _, err := drain(t, data[len("n;t;x;y;p\n"):], format.Policy{Columns: strings.Split(info.Field("columns"), ",")})
	if d := eventtest.Diff(got, want); err != nil || d != "" || got.Len() != 2 {
		t.Error(d, err)
	}
}

func TestSalvageNamesRanges(t *testing.T) {
	_, b, rep, err := drain(t, "1,2,3,0\nx\ny\n2,2,3,0\n3,2,3,0\nz\n4,2,3,0\n", format.Policy{Salvage: true})
	if err != nil || b.Len() != 4 || rep.Get(event.DamagedBytes) != (event.Tally{N: 6, First: 8, Lost: 6}) {
		t.Fatalf("%d events, %+v, %v", b.Len(), rep, err)
	}
	notes := strings.Join(rep.Notes, "\n")
	if !strings.Contains(notes, "lines 2 to 3") || !strings.Contains(notes, "line 6") {
		t.Errorf("notes %q", rep.Notes)
	}
}

func TestNonzero(t *testing.T) {
	_, b, rep, err := drain(t, "1,2,3,0\n2,2,3,7\n3,2,3,-3\n4,2,3,0.5\n", format.Policy{Polarity: "nonzero", Columns: []string{"t", "x", "y", "p"}})
	if err != nil || string(fmtP(b)) != "0111" || rep.N(event.RemappedPolarity) != 3 {
		t.Errorf("%s, %v, %v", fmtP(b), rep, err)
	}
}

func fmtP(b event.Batch) (s []byte) {
	for _, p := range b.P() {
		s = append(s, '0'+byte(p))
	}
	return s
}

// TestForeign holds tables of other things against both formats.
func TestForeign(t *testing.T) {
	for name, data := range map[string]string{
		"boxes":         "t,x,y,w,h,class\n1,2,3,4,5,0\n",
		"inertial data": "0.1,0.5,9.81,0.2\n0.2,0.5,9.82,0.1\n",
		"a calibration": "fx 640.5\nfy 480.5\n1 0 0 0\n",
		"numbers":       strings.Repeat("12 7 99 4000\n", 50),
		"code":          "package text\n\nimport \"fmt\"\n\nfunc main() { fmt.Println(1, 2, 3, 0) }\n",
		"utf-16":        "\xff\xfe1\x00,\x002\x00,\x003\x00,\x000\x00",
	} {
		for _, f := range []format.Format{Format, CSV} {
			if p := f.Sniff(formattest.File([]byte(data))); p.Confidence > 0 {
				t.Errorf("%s claims %s: %v", f.Name, name, p)
			}
		}
	}
}
