package evt2

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/evq-project/evq/io/event"
)

// TestEncoderWords pins the words, for other programs read them too.
func TestEncoderWords(t *testing.T) {
	e := newEncoder(event.Geometry{})
	out := e.Events(nil, []int64{64, 127, 128}, []uint16{1, 639, 2047}, []uint16{2, 479, 2047}, []int8{0, 1, 1})
	out = e.Trigger(out, event.Trigger{T: 130, Channel: 31, Rising: true})
	out = e.Events(out, []int64{2_000_128}, []uint16{0}, []uint16{0}, []int8{0})
	var got []string
	for i := 0; i < len(out); i += 4 {
		got = append(got, fmt.Sprintf("%08X", binary.LittleEndian.Uint32(out[i:])))
	}
	want := "80000001 00000802 1FD3F9DF 80000002 103FFFFF A0801F01 80003D0B 80007A14 00000000"
	if s := strings.Join(got, " "); s != want {
		t.Errorf("got  %s\nwant %s", s, want)
	}
}
