package aedat4

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// linkedFrame is what dv-processing writes: blocks of 64 KiB that refer to the ones before, without checksums. The library
// cannot write such a frame, so its blocks here are literals and one match that reaches back into the block before.
func linkedFrame() (frame, want []byte) {
	first := make([]byte, 40)
	for i := range first {
		first[i] = byte(i * 7)
	}
	frame = append(bytes.Clone(lz4Magic), 0x40, 0x40, 0xC0) // the header as the camera's software writes it
	block := append([]byte{0xF0, 25}, first...)             // 15+25 literals
	frame = append(le.AppendUint32(frame, uint32(len(block))), block...)
	// No literal, a match of 4+6 bytes, 30 back; then the five literals that end a block.
	block = []byte{0x06, 30, 0, 0x50, 1, 2, 3, 4, 5}
	frame = append(le.AppendUint32(frame, uint32(len(block))), block...)
	frame = append(le.AppendUint32(frame, 3|lz4Stored), 'a', 'b', 'c')
	want = append(append(bytes.Clone(first), first[10:20]...), 1, 2, 3, 4, 5, 'a', 'b', 'c')
	return le.AppendUint32(frame, 0), want
}

func newLZ4(t testing.TB, learned []byte) *codec {
	t.Helper()
	c, err := newCodec(lz4Fast, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.inflate(learned); err != nil {
		t.Fatal(err)
	}
	return c
}

// The frames of cameras' software are taken block by block, from the second packet on, and come out as the reader has
// them.
func TestLZ4Frame(t *testing.T) {
	frame, want := linkedFrame()
	c := newLZ4(t, frame)
	if !bytes.Equal(c.out, want) {
		t.Fatalf("the reader: %v, want %v", c.out, want)
	}
	got, ok := c.frame.inflate(nil, frame, 1<<20)
	if !ok || !bytes.Equal(got, want) {
		t.Fatalf("block by block: %v, %v; want %v", ok, got, want)
	}
	for what, packet := range map[string][]byte{
		"cut":                 frame[:len(frame)-5],
		"another header":      append(append(bytes.Clone(lz4Magic), 0x60, 0x40, 0x82), frame[7:]...),
		"a frame behind it":   append(bytes.Clone(frame), frame...),
		"a block too long":    append(le.AppendUint32(bytes.Clone(frame[:7]), 1<<20), frame...),
		"damaged":             append(append(bytes.Clone(frame[:7]), 3, 0, 0, 0, 0x06, 30, 0), 0, 0, 0, 0),
		"the end is no block": frame[:7],
	} {
		if out, ok := c.frame.inflate(nil, packet, 1<<20); ok {
			t.Errorf("%s: taken, %d bytes", what, len(out))
		}
	}
	if _, ok := c.frame.inflate(nil, frame, 50); ok {
		t.Error("more than the limit is taken")
	}
}

// FuzzLZ4Frame holds what is taken block by block to the library's reader.
func FuzzLZ4Frame(f *testing.F) {
	frame, _ := linkedFrame()
	f.Add(frame[7:])
	r := rand.New(rand.NewPCG(1, 1))
	long := make([]byte, 200<<10)
	for i := range long {
		long[i] = byte(r.IntN(4))
	}
	f.Add(compress(lz4Fast, long)[7:])
	f.Fuzz(func(t *testing.T, blocks []byte) {
		packet := append(bytes.Clone(frame[:7]), blocks...)
		c := newLZ4(t, frame)
		got, ok := c.frame.inflate(nil, packet, c.limit)
		if !ok {
			return
		}
		c.frame.head = nil // the reader
		want, err := c.inflate(packet)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d bytes, the reader has %d (%v)", len(got), len(want), err)
		}
	})
}
