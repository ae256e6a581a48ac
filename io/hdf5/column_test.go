package hdf5

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/evq-project/evq/io/event"
)

// stored encodes values as a column of type e stores them.
func stored(e elem, values []int64) []byte {
	var order binary.AppendByteOrder = binary.LittleEndian
	if e.big {
		order = binary.BigEndian
	}
	var b []byte
	for _, v := range values {
		switch e.size {
		case 1:
			b = append(b, byte(v))
		case 2:
			b = order.AppendUint16(b, uint16(v))
		case 4:
			b = order.AppendUint32(b, uint32(v))
		case 8:
			b = order.AppendUint64(b, uint64(v))
		}
	}
	return b
}

// integers lists every integer type of a column.
func integers() []elem {
	var all []elem
	for _, size := range []int{1, 2, 4, 8} {
		for _, signed := range []bool{false, true} {
			all = append(all, elem{size: size, signed: signed})
			if size > 1 {
				all = append(all, elem{size: size, signed: signed, big: true})
			}
		}
	}
	return all
}

func TestTimesOfEveryType(t *testing.T) {
	for _, e := range integers() {
		t.Run(e.String(), func(t *testing.T) {
			want := []int64{0, 1, 2, 100, 127, 3, 4}
			if e.size > 1 {
				want = append(want, 32767)
			}
			if e.size > 4 {
				want = append(want, 49_599_300_523)
			}
			if e.signed {
				want = append(want, -1, -100)
			} else {
				want = append(want, int64(min(e.allOnes(), math.MaxInt64)))
			}
			got := make([]int64, len(want))
			if err := (column{"t", e}).times(got, stored(e, want), 0, 0); err != nil || !slices.Equal(got, want) {
				t.Errorf("got %v, want %v: %v", got, want, err)
			}
		})
	}
}

func TestTimesOffset(t *testing.T) {
	got := make([]int64, 2)
	c := column{"/events/t", elem{size: 4}}
	if err := c.times(got, stored(c.elem, []int64{0, 5}), 49_599_300_523, 0); err != nil || got[0] != 49_599_300_523 || got[1] != 49_599_300_528 {
		t.Errorf("got %v: %v", got, err)
	}
	var bad *ValueError
	if err := c.times(got, stored(c.elem, []int64{0, 5}), math.MaxInt64-2, 100); !errors.As(err, &bad) || bad.Index != 101 {
		t.Errorf("a sum beyond 64 bits: %v", err)
	}
}

func TestTimeBeyondInt64(t *testing.T) {
	for _, big := range []bool{false, true} {
		c := column{"/events/t", elem{size: 8, big: big}}
		var bad *ValueError
		err := c.times(make([]int64, 3), stored(c.elem, []int64{1, 2, math.MinInt64}), 0, 40)
		if !errors.As(err, &bad) || bad.Index != 42 || bad.Value != "9223372036854775808" || bad.Dataset != "/events/t" {
			t.Errorf("got %v", err)
		}
	}
}

func TestCoordinatesOfEveryType(t *testing.T) {
	for _, e := range integers() {
		want := []uint16{0, 1, 100, 127}
		in := []int64{0, 1, 100, 127}
		if e.size > 2 || e.size == 2 && !e.signed {
			in, want = append(in, 32768, 40000, 65535), append(want, 32768, 40000, 65535)
		}
		negatives := int64(0)
		if e.signed {
			in, want, negatives = append(in, -1, -7), append(want, 65535, 65535), 2
		}
		got := make([]uint16, len(in))
		n, err := column{"x", e}.coordinates(got, stored(e, in), 0)
		if err != nil || n != negatives || !slices.Equal(got, want) {
			t.Errorf("%v: got %v, want %v; %d negative: %v", e, got, want, n, err)
		}
		if e.size <= 2 {
			continue
		}
		var bad *ValueError
		if _, err := (column{"x", e}).coordinates(make([]uint16, 2), stored(e, []int64{3, 65536}), 10); !errors.As(err, &bad) || bad.Index != 11 {
			t.Errorf("%v: 65536: %v", e, err)
		}
	}
}

func TestPolarities(t *testing.T) {
	u1, i1, u4, u8 := elem{size: 1}, elem{size: 1, signed: true}, elem{size: 4}, elem{size: 8}
	tests := []struct {
		name   string
		elem   elem
		rule   string
		in     []int64
		want   []int8 // nil: an error
		remaps int64
		bad    int64
	}{
		{"plain", u1, "", []int64{0, 1, 1, 0, 0, 0, 0, 0, 1}, []int8{0, 1, 1, 0, 0, 0, 0, 0, 1}, 0, 0},
		{"bool", elem{size: 1, bool: true}, "", []int64{0, 1}, []int8{0, 1}, 0, 0},
		{"signed", i1, "", []int64{-1, 1, 0}, []int8{0, 1, 0}, 1, 0},
		{"255", u1, "", []int64{1, 255}, []int8{1, 0}, 1, 0},
		{"0xFFFFFFFF", u4, "", []int64{1, 4294967295}, []int8{1, 0}, 1, 0},
		{"2^64-1", u8, "", []int64{1, -1}, []int8{1, 0}, 1, 0},
		{"2", u1, "", []int64{0, 1, 2}, nil, 0, 2},
		{"2 in a long column", u1, "", []int64{0, 1, 0, 1, 0, 1, 0, 1, 0, 2}, nil, 0, 9},
		{"-2", i1, "", []int64{-2}, nil, 0, 0},
		{"nonzero", u1, "nonzero", []int64{0, 1, 2, 3, 255}, []int8{0, 1, 1, 1, 1}, 3, 0},
		{"01", i1, "01", []int64{0, -1}, nil, 0, 1},
		{"pm1", i1, "pm1", []int64{-1, 1}, []int8{0, 1}, 1, 0},
		{"pm1 with 0", i1, "pm1", []int64{-1, 0}, nil, 0, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rule, err := parsePolarity(tt.rule)
			if err != nil {
				t.Fatal(err)
			}
			got := make([]int8, len(tt.in))
			r, err := column{"/events/p", tt.elem}.polarities(got, stored(tt.elem, tt.in), rule, 1000)
			if tt.want == nil {
				var bad *ValueError
				if !errors.As(err, &bad) || bad.Index != 1000+tt.bad || bad.Value != fmt.Sprint(tt.in[tt.bad]) {
					t.Errorf("got %v, want an error at %d", err, tt.bad)
				}
				return
			}
			if err != nil || !slices.Equal(got, tt.want) || r.n != tt.remaps {
				t.Errorf("got %v with %d remaps, want %v with %d: %v", got, r.n, tt.want, tt.remaps, err)
			}
		})
	}
	if _, err := parsePolarity("on"); err == nil {
		t.Error("an unknown encoding is accepted")
	}
}

func TestUnsignedMinusOneIsNoted(t *testing.T) {
	c := column{"/events/p", elem{size: 4}}
	r, err := c.polarities(make([]int8, 2), stored(c.elem, []int64{1, 4294967295}), polarityAuto, 0)
	if err != nil {
		t.Fatal(err)
	}
	var rep event.Report
	r.count(c, &rep)
	if rep.N(event.RemappedPolarity) != 1 || len(rep.Notes) != 1 || rep.Get(event.RemappedPolarity).First != 1 {
		t.Errorf("report %v, notes %q", &rep, rep.Notes)
	}
}
