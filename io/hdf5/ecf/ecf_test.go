package ecf

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"testing"
)

// rec makes the record of one event.
func rec(x, y, p uint16, t int64) []byte {
	b := make([]byte, RecordSize)
	binary.LittleEndian.PutUint16(b[AtX:], x)
	binary.LittleEndian.PutUint16(b[AtY:], y)
	binary.LittleEndian.PutUint16(b[AtP:], p)
	binary.LittleEndian.PutUint64(b[AtT:], uint64(t))
	return b
}

func recs(r ...[]byte) []byte { return bytes.Join(r, nil) }

// decode decodes a block into fresh memory.
func decode(block []byte) ([]byte, error) {
	var c Columns
	err := Decode(&c, block)
	return c.AppendRecords(nil, 0, len(c.T)), err
}

// le joins little-endian words: byte, uint16, uint32 or uint64 by type.
func le(words ...any) []byte {
	var b []byte
	for _, w := range words {
		b, _ = binary.Append(b, binary.LittleEndian, w)
	}
	return b
}

type (
	u8  = uint8
	u16 = uint16
	u32 = uint32
	u64 = uint64
)

// The blocks are written by hand from the description of the format.
func TestDecodeByHand(t *testing.T) {
	for _, c := range []struct {
		name  string
		block []byte
		want  []byte
	}{
		{"none", le(u32(0)), nil},
		{"packed, first at 0", le(u32(1<<2|2), u64(0), u8(0x01), u32((5<<12|3<<1|1)<<8), u32(0xAAAA), u32(0xBBBB)), rec(3, 5, 1, 0)},
		{"before 0", le(u32(2<<2|2), u64(math.MaxUint64-4), u8(0x01), u8(0x91), u32((5<<12|3<<1|1)<<8|0x06), u32(0), u32(0)),
			recs(rec(3, 5, 1, -5), rec(3, 0, 0, 4))},
		{"packed, four", le(u32(4<<2|2), u64(10), u8(0x04), u32(0x123456<<8|0x9A), u32(0x5678<<16|0x3456), u32(0x12<<24|0x654321)),
			recs(rec(0x456>>1&2047, 0x123, 0, 10), rec(0x89A>>1&2047, 0x567, 0, 10), rec(0x456>>1, 0x123, 0, 10), rec(0x321>>1, 0x654, 1, 10))},
		{"x and p packed", le(u32(4<<2|1), u64(1), u8(0x04), u16(7<<5|4), u16(0x123<<4|0x6), u16(0x45<<8|0x89), u16(0x7<<12|0xABC)),
			recs(rec(0x91, 7, 1, 1), rec(0x22B, 7, 0, 1), rec(0x3C4, 7, 1, 1), rec(0x55E, 7, 0, 1))},
		{"masked", le(u32(4<<2), u64(1), u8(0x04), u16(7<<5|4), u16(100<<5|0b10011), u8(0x82), u8(0x02)),
			recs(rec(100, 7, 1, 1), rec(101, 7, 1, 1), rec(104, 7, 0, 1), rec(105, 7, 0, 1))},
		{"a last mask beyond the end", le(u32(2<<2), u64(1), u8(0x02), u16(7<<5|2), u16(100<<5|0b11111), u8(0x02)),
			recs(rec(100, 7, 0, 1), rec(101, 7, 0, 1))},
		{"a long step", le(u32(2<<2), u64(1), u8(0x01), u8(0xF3), u8(0xF2), u8(0xF1), u8(0x21), u16(7<<5|2), u16(9<<5), u16(8<<5), u8(0x02)),
			recs(rec(9, 7, 0, 1), rec(8, 7, 0, 1+0x123+2))},
		{"long runs", le(u32(3<<2), u64(1), u8(0x0F), u16(3), u16(7<<5|31), u16(3), u16(9<<5), u16(8<<5), u16(7<<5), u8(0xFF), u16(3)),
			recs(rec(9, 7, 1, 1), rec(8, 7, 1, 1), rec(7, 7, 1, 1))},
		{"empty runs", le(u32(1<<2), u64(1), u8(0x30), u8(0x01), u16(3<<5), u16(7<<5|1), u16(9<<5), u8(0x80), u8(0x01)), rec(9, 7, 0, 4)},
	} {
		got, err := decode(c.block)
		if err != nil || !bytes.Equal(got, c.want) {
			t.Errorf("%s: %x, want %x: %v", c.name, got, c.want, err)
		}
		for cut := range len(c.block) {
			if b, err := decode(c.block[:cut:cut]); cut > 4 && !errors.Is(err, ErrDamaged) || err == nil && len(b) > 0 {
				t.Errorf("%s: %d of %d bytes decode: %v", c.name, cut, len(c.block), err)
			}
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	origin := u64(1)
	for name, block := range map[string][]byte{
		"too many events":     le(u32(65536 << 2)),
		"times too many":      le(u32(1<<2|2), origin, u8(0x02), u64(0), u64(0)),
		"rows too many":       le(u32(1<<2), origin, u8(0x01), u16(7<<5|2), u64(0), u64(0)),
		"polarities too many": le(u32(1<<2), origin, u8(0x01), u16(7<<5|1), u16(9<<5), u8(0x02)),
		"a step of 64 bits":   le(u32(1<<2), origin, u64(0xF0F0F0F0F0F0F0F0), u64(0xF8F0F0F0F0F0F0F0), u8(0x01), u64(0), u64(0)),
		"a step of 68 bits":   le(u32(1<<2), origin, u64(0xF0F0F0F0F0F0F0F0), u64(0xF0F0F0F0F0F0F0F0), u8(0xF1), u8(0x01), u64(0), u64(0)),
		"times beyond 64":     le(u32(1<<2), u64(math.MaxInt64), u8(0x11), u64(0), u64(0)),
	} {
		if _, err := decode(block); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// scene makes n records that favour a mode: few rows with rising or scattered x, or scattered pixels.
func scene(r *rand.Rand, n int, m mode, from int64) []byte {
	var b []byte
	x, y := uint16(0), uint16(0)
	for i := range n {
		switch {
		case m == packed:
			x, y = uint16(r.IntN(2048)), uint16(r.IntN(2048))
		case r.IntN(40) == 0:
			x, y = uint16(r.IntN(2000)), uint16(r.IntN(2048))
		case m == packedXP:
			x = uint16(r.IntN(2048))
		default:
			x = (x + uint16(r.IntN(3)) + 1) & 2047
		}
		if i%3 == 0 {
			from += int64(r.IntN(20))
		}
		if r.IntN(500) == 0 {
			from += r.Int64N(1 << uint(r.IntN(40)))
		}
		b = append(b, rec(x, y, uint16(r.IntN(2)*r.IntN(2)), from)...)
	}
	return b
}

func TestRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 5))
	for _, n := range []int{0, 1, 2, 3, 4, 5, 14, 15, 16, 17, 30, 31, 32, 127, 128, 1000, 16384, MaxEvents} {
		for _, m := range []mode{masked, packedXP, packed} {
			for _, from := range []int64{0, -5, 14224870, math.MinInt64, math.MaxInt64 >> 1} {
				if n > 1000 && from != 0 {
					continue
				}
				want := scene(r, n, m, from)
				block, err := Append([]byte("before"), want)
				if err != nil {
					t.Fatal(err)
				}
				got, err := decode(block[len("before"):])
				if err != nil || !bytes.Equal(got, want) {
					t.Fatalf("%d events, mode %d, from %d: %v", n, m, from, err)
				}
				if used := mode(block[6] & 3); n >= 1000 && used != m {
					t.Errorf("%d events that favour mode %d are coded in %d", n, m, used)
				}
				for _, force := range []mode{masked, packedXP, packed} {
					got, err := decode(encoder{want, n}.append(nil, force))
					if err != nil || !bytes.Equal(got, want) {
						t.Fatalf("%d events in mode %d: %v", n, force, err)
					}
				}
			}
		}
	}
}

// The whole range of times, and runs as long as a block.
func TestRoundTripExtremes(t *testing.T) {
	for name, want := range map[string][]byte{
		"same":     bytes.Repeat(rec(5, 6, 1, 7), MaxEvents),
		"one row":  bytes.Repeat(recs(rec(5, 6, 1, 7), rec(7, 6, 0, 7)), MaxEvents/2),
		"far":      recs(rec(0, 0, 0, 0), rec(0, 0, 0, math.MaxInt64)),
		"far back": recs(rec(0, 0, 0, math.MinInt64), rec(0, 0, 0, -1)),
	} {
		block, err := Append(nil, want)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := decode(block); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAppendRefuses(t *testing.T) {
	for name, records := range map[string][]byte{
		"x":        rec(2048, 0, 0, 0),
		"y":        rec(0, 65535, 0, 0),
		"p":        rec(0, 0, 65535, 0),
		"time":     recs(rec(0, 0, 0, 5), rec(0, 0, 0, 3)),
		"distance": recs(rec(0, 0, 0, math.MinInt64), rec(0, 0, 0, 0)),
	} {
		if b, err := Append(nil, records); !errors.Is(err, ErrValue) || len(b) > 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Append(nil, make([]byte, 17)); err == nil {
		t.Error("a part of a record is encoded")
	}
	if _, err := Append(nil, make([]byte, (MaxEvents+1)*RecordSize)); err == nil {
		t.Error("65536 events are encoded")
	}
}

// Damage of any kind is an error or other events, and never a panic.
func FuzzDecode(f *testing.F) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, m := range []mode{masked, packedXP, packed} {
		f.Add(encoder{scene(r, 40, m, 9), 40}.append(nil, m))
	}
	f.Fuzz(func(t *testing.T, block []byte) {
		var c Columns
		if err := Decode(&c, block); err != nil && !errors.Is(err, ErrDamaged) {
			t.Error(err)
		}
	})
}

// Every byte of small blocks is changed in turn.
func TestFlips(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, m := range []mode{masked, packedXP, packed} {
		block := encoder{scene(r, 200, m, 9), 200}.append(nil, m)
		for i := range block {
			for bit := range 8 {
				b := bytes.Clone(block)
				b[i] ^= 1 << bit
				if _, err := decode(b); err != nil && !errors.Is(err, ErrDamaged) {
					t.Fatal(err)
				}
			}
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	for name, m := range map[string]mode{"masked": masked, "packed-xp": packedXP, "packed": packed} {
		b.Run(name, func(b *testing.B) {
			records := scene(rand.New(rand.NewPCG(1, 2)), 16384, m, 0)
			block := encoder{records, 16384}.append(nil, m)
			var c Columns
			for b.Loop() {
				if err := Decode(&c, block); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(16384*float64(b.N)/1e6/b.Elapsed().Seconds(), "Mevents/s")
		})
	}
}
