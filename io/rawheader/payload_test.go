package rawheader

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"
)

func TestPayloadYieldsWholeWords(t *testing.T) {
	data := []byte("HHHHabcdefghijk") // a header of 4 bytes, 5 words of 2, 1 byte
	for _, size := range []int{0, 1, 2, 3, 4, 7, 100} {
		p := NewPayload(bytes.NewReader(data), 4, int64(len(data)), 2, size)
		var got []byte
		for {
			b, at, err := p.Next(t.Context())
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if len(b)%2 != 0 || at != int64(4+len(got)) {
				t.Errorf("reads of %d: %d bytes at %d after %d", size, len(b), at, len(got))
			}
			got = append(got, b...)
		}
		if string(got) != "abcdefghij" || p.trailing != 1 || p.end != 14 {
			t.Errorf("reads of %d: %q, %d trailing bytes after %d", size, got, p.trailing, p.end)
		}
	}
}

func TestPayloadFails(t *testing.T) {
	p := NewPayload(bytes.NewReader([]byte("abcd")), 0, 8, 2, 0) // the file became shorter
	if _, _, err := p.Next(t.Context()); !errors.Is(err, ErrShrunk) {
		t.Errorf("a shorter file: error %v, want %v", err, ErrShrunk)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := p.Next(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: error %v", err)
	}
	p = NewPayload(bytes.NewReader(nil), 10, 4, 2, 0) // a start past the end
	if _, _, err := p.Next(t.Context()); err != io.EOF {
		t.Errorf("past the end: error %v, want %v", err, io.EOF)
	}
}
