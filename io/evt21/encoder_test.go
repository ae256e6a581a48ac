package evt21

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/formattest"
)

// TestEncoderWords pins the words, for other programs read them too.
func TestEncoderWords(t *testing.T) {
	out := newEncoder().Trigger(nil, event.Trigger{T: 130, Channel: 31, Rising: true})
	for name, c := range map[string]struct {
		events []ev // x, y, p, t
		want   string
	}{
		"a vector":             {[]ev{{32, 5, 1, 71}, {34, 5, 1, 71}, {63, 5, 1, 71}}, "8000000100000000 11C1000580000005"},
		"over a vector's end":  {[]ev{{31, 5, 0, 64}, {32, 5, 0, 64}}, "8000000100000000 0000000580000000 0001000500000001"},
		"falling columns":      {[]ev{{2, 5, 0, 64}, {1, 5, 0, 64}}, "8000000100000000 0000000500000004 0000000500000002"},
		"twice the same pixel": {[]ev{{1, 5, 0, 64}, {1, 5, 0, 64}}, "8000000100000000 0000000500000002 0000000500000002"},
		"the last pixel":       {[]ev{{2047, 2047, 1, 127}}, "8000000100000000 1FFF07FF80000000"},
		"led over silence":     {[]ev{{0, 0, 0, 0}, {0, 0, 0, 2_000_128}}, "8000000000000000 0000000000000001 80003D0900000000 80007A1200000000 80007A1400000000 0000000000000001"},
	} {
		b := event.NewBuffer(len(c.events))
		for _, e := range c.events {
			b.Append(e[3], uint16(e[0]), uint16(e[1]), int8(e[2]))
		}
		if got := words(newEncoder().Events(nil, b.T, b.X, b.Y, b.P)); got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", name, got, c.want)
		}
	}
	if got := words(out); got != "8000000200000000 A0801F0100000000" {
		t.Errorf("trigger: got %s", got)
	}
}

func words(payload []byte) string {
	var out []string
	for i := 0; i < len(payload); i += wordSize {
		out = append(out, fmt.Sprintf("%016X", binary.LittleEndian.Uint64(payload[i:])))
	}
	return strings.Join(out, " ")
}

// TestCreateSaysTheOrder writes a recording with the fields of a camera whose own words are in legacy order.
func TestCreateSaysTheOrder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.evt21")
	h := format.Header{
		Geometry: event.Geometry{Width: 1280, Height: 720},
		Fields:   []event.Field{{Key: "system_ID", Value: "49"}, {Key: "integrator_name", Value: "Prophesee"}, {Key: "endianness", Value: "legacy"}},
	}
	sink, err := Format.Create(path, h, format.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := event.New([]int64{64}, []uint16{3}, []uint16{5}, []int8{1})
	if err := sink.Write(t.Context(), want); err != nil {
		t.Fatal(err)
	}
	if err := sink.Close(); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const head = "% evt 2.1\n% format EVT21;endianness=little;height=720;width=1280\n% geometry 1280x720\n" +
		"% system_ID 49\n% integrator_name Prophesee\n% end\n"
	if got := string(raw[:min(len(raw), len(head))]); got != head {
		t.Errorf("the header is %q, want %q", got, head)
	}
	got, _, _ := formattest.Collect(t, formattest.OpenPath(t, Format, path, format.Policy{}))
	if got.Len() != 1 || got.X[0] != 3 || got.Y[0] != 5 || got.T[0] != 64 {
		t.Errorf("read back %v %v %v", got.T, got.X, got.Y)
	}
}
