package evt3

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evq-project/evq/io/atomicfile"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/format"
)

func words(payload []byte) string {
	var out []string
	for i := 0; i < len(payload); i += 2 {
		out = append(out, fmt.Sprintf("%04X", binary.LittleEndian.Uint16(payload[i:])))
	}
	return strings.Join(out, " ")
}

// TestEncoderWords pins the words, for other programs read them too.
func TestEncoderWords(t *testing.T) {
	row := func(t int64, y uint16, p int8, xs ...uint16) (out []ev) {
		for _, x := range xs {
			out = append(out, ev{int64(x), int64(y), int64(p), t})
		}
		return out
	}
	for name, c := range map[string]struct {
		events []ev
		want   string
	}{
		"state on change only":      {[]ev{{1, 2, 0, 4097}, {3, 2, 1, 4097}, {3, 4, 1, 4097}, {3, 4, 1, 4099}}, "8001 6001 0002 2001 2803 0004 2803 6003 2803"},
		"low time after a base":     {[]ev{{1, 2, 0, 4096}, {1, 2, 0, 8192}}, "8001 6000 0002 2001 8002 6000 2001"},
		"four are single events":    {row(0, 2, 0, 0, 1, 2, 3), "8000 6000 0002 2000 2001 2002 2003"},
		"five are a group":          {row(0, 2, 1, 32, 44, 45, 56, 63), "8000 6000 0002 3820 4001 4003 5081"},
		"falling columns":           {row(0, 2, 0, 4, 3, 2, 1, 0), "8000 6000 0002 2004 2003 2002 2001 2000"},
		"twice the same column":     {row(0, 2, 0, 0, 0, 0, 0, 0), "8000 6000 0002 2000 2000 2000 2000 2000"},
		"over a group's end":        {row(0, 2, 0, 30, 31, 32, 33, 34), "8000 6000 0002 201E 201F 2020 2021 2022"},
		"never over the border":     {row(0, 2, 0, 1280, 1281, 1282, 1283, 1284), "8000 6000 0002 2500 2501 2502 2503 2504"},
		"the base led over silence": {[]ev{{1, 2, 0, 0}, {1, 2, 0, 2_000_000}}, "8000 6000 0002 2001 80F4 81E8 6480 2001"},
	} {
		b := event.NewBuffer(len(c.events))
		for _, e := range c.events {
			b.Append(e[3], uint16(e[0]), uint16(e[1]), int8(e[2]))
		}
		if got := words(newEncoder(hd).Events(nil, b.T, b.X, b.Y, b.P)); got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", name, got, c.want)
		}
	}
	e := newEncoder(hd)
	if got := words(e.Trigger(nil, event.Trigger{T: 5, Channel: 3, Rising: true})); got != "8000 6005 A301" {
		t.Errorf("trigger: got %s", got)
	}
}

func TestCreateLeavesNoFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.raw")
	sink, err := Format.Create(path, format.Header{}, format.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	unsorted := event.New([]int64{5, 3}, []uint16{1, 2}, []uint16{3, 4}, []int8{0, 1})
	if err := sink.Write(t.Context(), unsorted); err == nil || !strings.Contains(err.Error(), "sort the events first") {
		t.Errorf("unsorted events: %v", err)
	}
	if err := sink.Close(); err == nil {
		t.Error("a failed recording closes without an error")
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if err := os.WriteFile(path, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Format.Create(path, format.Header{}, format.CreateOptions{}); !errors.Is(err, atomicfile.ErrExists) {
		t.Errorf("a name that is taken: error %v, want %v", err, atomicfile.ErrExists)
	}
}
