package hdf5

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/formattest"
	"github.com/evq-project/evq/io/tensor"
)

func TestLibraryVersion(t *testing.T) {
	v := LibraryVersion()
	if ok := regexp.MustCompile(`^1\.\d+\.\d+$`).MatchString(v); ok != Built || !Built && v != "" {
		t.Errorf("the library's version is %q, built in: %v", v, Built)
	}
}

func TestSignature(t *testing.T) {
	for _, at := range []int{0, 512, 1024, 2048, 1 << 15} {
		b := append(make([]byte, at), signature...)
		f := format.File{ReaderAt: bytes.NewReader(b), Size: int64(len(b))}
		if got := findSignature(f); got != int64(at) {
			t.Errorf("the signature at %d is found at %d", at, got)
		}
		if p := Format.Sniff(f); p.Confidence <= 0 {
			t.Errorf("the signature at %d is not sniffed", at)
		}
	}
	for _, b := range [][]byte{nil, {0x89}, signature[:7], make([]byte, 5000), append(make([]byte, 100), signature...)} {
		if p := Format.Sniff(format.File{ReaderAt: bytes.NewReader(b), Size: int64(len(b))}); p.Confidence != 0 {
			t.Errorf("%d other bytes are sniffed as %+v", len(b), p)
		}
	}
}

// Without the library every way in names it and says how to get it; with it none does.
func TestBuild(t *testing.T) {
	path := filepath.Join("testdata", "bool.h5")
	_, err := Format.Open(context.Background(), formattest.Open(t, path), format.Policy{})
	if err != nil && !errors.Is(err, ErrNotBuilt) {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "out.h5")
	events, err2 := Format.Create(out, format.Header{}, format.CreateOptions{})
	if err2 == nil {
		defer events.Abort()
	}
	blocks, err3 := Create(out + "2").Open(tensor.Layout{Name: "test", Shape: tensor.Shape{1, 2}})
	if err3 == nil {
		defer blocks.Abort()
	}
	for _, e := range []error{err2, err3} {
		if errors.Is(e, ErrNotBuilt) != errors.Is(err, ErrNotBuilt) {
			t.Errorf("one way in says %v and another %v", err, e)
		}
	}
	if err == nil {
		return
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("a file was made")
	}
	if p := Format.Sniff(formattest.Open(t, path)); p.Confidence <= 0 {
		t.Error("an HDF5 file is not recognised without the library")
	}
}

func TestPackingNames(t *testing.T) {
	for _, name := range append([]string{""}, Compressions...) {
		if _, err := parsePacking(name); err != nil {
			t.Error(err)
		}
	}
	if _, err := parsePacking("zip"); err == nil {
		t.Error("an unknown compression is accepted")
	}
}
