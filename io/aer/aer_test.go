package aer

import (
	"encoding/binary"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/formattest"
)

type ev = formattest.Event

func rec(words ...uint32) []byte {
	var out []byte
	for _, w := range words {
		out = binary.LittleEndian.AppendUint32(out, w)
	}
	return out
}

func word(x, y, p uint32) uint32 { return p<<18 | x<<9 | y }

func every(d time.Duration) format.Policy { return format.Policy{TimeStep: d} }

var cases = []formattest.Case{
	{Name: "events", Data: rec(word(3, 5, 0), word(511, 510, 1), word(1, 2, 1)), Policy: every(10 * time.Microsecond),
		Want: []ev{{3, 5, 0, 0}, {511, 510, 1, 10}, {1, 2, 1, 20}}, Forced: true},
	{Name: "the example of the bits", Data: []byte{0x07, 0x0A, 0x04, 0x00}, Policy: every(1), Want: []ev{{5, 7, 1, 0}}, Forced: true},
	{Name: "half microseconds", Data: rec(0, 1, 2, 3, 4, 5), Policy: every(500), Forced: true,
		Want: []ev{{0, 0, 0, 0}, {0, 1, 0, 0}, {0, 2, 0, 1}, {0, 3, 0, 2}, {0, 4, 0, 2}, {0, 5, 0, 2}}},
	{Name: "reserved bits take no time", Data: rec(word(3, 5, 0), 1<<19, 0xFFFFFFFF, word(1, 2, 1)), Policy: every(time.Millisecond),
		Want: []ev{{3, 5, 0, 0}, {1, 2, 1, 1000}}, Unknown: map[string]int64{"reserved": 2}, Forced: true},
	{Name: "off the sensor", Data: rec(word(320, 5, 0), word(1, 2, 1)), Forced: true,
		Policy: format.Policy{TimeStep: time.Second, Size: event.Geometry{Width: 320, Height: 320}},
		Want:   []ev{{1, 2, 1, 1e6}}, Counters: map[event.Counter]int64{event.OffSensor: 1}},
	{Name: "cut word", Data: append(rec(word(3, 5, 0)), 1, 2, 3), Policy: every(1000), Want: []ev{{3, 5, 0, 0}},
		Counters: map[event.Counter]int64{event.TrailingBytes: 3}, Forced: true},
	{Name: "empty", Policy: every(1000), Forced: true},
}

func TestConformance(t *testing.T) { formattest.Run(t, Format, cases...) }

func TestStrict(t *testing.T) {
	strict := format.Policy{Strict: true, TimeStep: time.Microsecond}
	formattest.CheckDamages(t, Format,
		formattest.Damage{Name: "reserved bits", Data: rec(0, 1<<19), Policy: strict, Offset: 4},
		formattest.Damage{Name: "cut word", Data: append(rec(0), 1), Policy: strict, Offset: 4},
		formattest.Damage{Name: "whole", Data: rec(0, 1), Policy: strict, Offset: -1})
}

func TestTimeStep(t *testing.T) {
	for step, want := range map[time.Duration]error{0: ErrNoTimeStep, -1: ErrBadTimeStep, math.MaxInt64: nil} {
		if _, err := Format.Open(t.Context(), formattest.File(rec(1)), every(step)); !errors.Is(err, want) {
			t.Errorf("%v: %v", step, err)
		}
	}
	long := formattest.File(nil)
	long.Size = 1 << 40
	if _, err := Format.Open(t.Context(), long, every(10*time.Hour)); !errors.Is(err, ErrBadTimeStep) {
		t.Errorf("times beyond 2^63 µs: %v", err)
	}
}

func TestTimeOf(t *testing.T) {
	for _, c := range []struct{ i, step, want int64 }{
		{0, 7, 0}, {1, 499, 0}, {1, 500, 0}, {1, 501, 1}, {3, 500, 2}, {1, 1500, 2}, {1, 2500, 2}, {1, 3500, 4}, {1 << 40, 333, 366137372049}, {3, 1e9, 3e6},
	} {
		if got := timeOf(c.i, time.Duration(c.step)); got != c.want {
			t.Errorf("event %d of one every %d ns lies at %d, want %d", c.i, c.step, got, c.want)
		}
	}
}
