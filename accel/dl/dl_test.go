package dl

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"unsafe"
)

// libraries are the C library's names.
func libraries() []string {
	switch runtime.GOOS {
	case "darwin":
		return []string{"/usr/lib/libSystem.B.dylib"}
	case "windows":
		return []string{"msvcrt.dll"}
	}
	return []string{"there-is-none.so", "libc.so.6"}
}

func TestCall(t *testing.T) {
	l, err := Open(libraries()...)
	if err != nil {
		t.Skip(err)
	}
	at, err := l.Symbol("strlen")
	if err != nil {
		t.Fatal(err)
	}
	text := []byte("seven c\x00")
	if n := Call(at, uintptr(unsafe.Pointer(&text[0]))); n != 7 {
		t.Errorf("strlen counts %d, want 7", n)
	}
	if _, err := l.Symbol("there is no such function"); !errors.Is(err, ErrSymbol) {
		t.Errorf("a function that is not there: %v", err)
	}
}

func TestOpenFails(t *testing.T) {
	text := filepath.Join(t.TempDir(), "text.so")
	if err := os.WriteFile(text, []byte("hello"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, names := range [][]string{nil, {text}, {"there-is-none.so", text}} {
		if _, err := Open(names...); !errors.Is(err, ErrOpen) {
			t.Errorf("%v: %v", names, err)
		}
	}
}
