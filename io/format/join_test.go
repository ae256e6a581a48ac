package format

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

// parts cuts digits into files with headers of their own, which are not digits.
func parts() (first File, rest []File, starts []int64) {
	file := func(name, text string) File {
		return File{ReaderAt: strings.NewReader(text), Size: int64(len(text)), Path: name}
	}
	return file("a", "h:0123"), []File{file("b", "hh:456"), file("c", "head:"), file("d", "789")}, []int64{3, 5, 0}
}

func TestJoin(t *testing.T) {
	f := Join(parts())
	const whole = "h:0123456789"
	if f.Size != int64(len(whole)) || f.Path != "a" || !f.Joined() {
		t.Fatalf("%d bytes, called %s", f.Size, f.Path)
	}
	for at := range int64(len(whole)) + 2 {
		for n := range len(whole) + 2 {
			b := make([]byte, n)
			m, err := f.ReadAt(b, at)
			want := whole[min(int(at), len(whole)):min(int(at)+n, len(whole))]
			if string(b[:m]) != want || (err != nil) != (m < n) || err != nil && !errors.Is(err, io.EOF) {
				t.Fatalf("%d bytes at %d: %q, %v, want %q", n, at, b[:m], err, want)
			}
		}
	}
	if _, err := f.ReadAt(make([]byte, 1), -1); err == nil {
		t.Error("reads before the start")
	}
}

func TestPlace(t *testing.T) {
	f := Join(parts())
	for offset, want := range map[int64]struct {
		path string
		at   int64
	}{0: {"a", 0}, 5: {"a", 5}, 6: {"b", 3}, 8: {"b", 5}, 9: {"d", 0}, 11: {"d", 2}, 12: {"d", 3}} {
		if path, at := f.Place(offset); path != want.path || at != want.at {
			t.Errorf("byte %d stands in %s at %d, want %v", offset, path, at, want)
		}
	}
	if path, at := (File{Path: "x"}).Place(7); path != "x" || at != 7 {
		t.Errorf("one file: %s, %d", path, at)
	}
}

// An error names the part, in which its offset counts; in one file it stays as it is.
func TestLocate(t *testing.T) {
	f := Join(parts())
	in := &SyntaxError{Format: "fake", Offset: 7, Msg: "bad"}
	err := f.locate(errors.Join(errors.New("wrapped"), in))
	var e *SyntaxError
	if !errors.As(err, &e) || e.Part != "b" || e.Offset != 4 || err.Error() != "b: fake: offset 0x4: bad" {
		t.Errorf("%v", err)
	}
	if f.locate(err) != err || in.Offset != 7 { //nolint:errorlint // the same error
		t.Error("located twice, or the decoder's error was changed")
	}
	if other := io.EOF; f.locate(other) != other { //nolint:errorlint // the same error
		t.Error("another error was changed")
	}
	if (File{}).locate(in) != error(in) { //nolint:errorlint // the same error
		t.Error("the error of one file was changed")
	}
}

// A part that has become shorter is an error that names it, never a gap.
func TestJoinShrunk(t *testing.T) {
	first, rest, starts := parts()
	rest[0].ReaderAt = bytes.NewReader([]byte("hh:4"))
	b := make([]byte, 12)
	n, err := Join(first, rest, starts).ReadAt(b, 0)
	if n != 7 || errors.Is(err, io.EOF) || err == nil || !strings.Contains(err.Error(), "b: it ends at byte 4") {
		t.Errorf("%d, %v", n, err)
	}
}
