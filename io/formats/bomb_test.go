package formats

import (
	"archive/zip"
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/format"
)

// bombs are leastUnpacked+1 zeros in every wrapping, and frames that declare more than they hold.
func bombs(t testing.TB) map[string][]byte {
	zeros := make([]byte, leastUnpacked+1)
	var gz, z bytes.Buffer
	g := gzip.NewWriter(&gz)
	_, err := g.Write(zeros)
	archive := zip.NewWriter(&z)
	m, err2 := archive.Create("a.raw")
	if err2 == nil {
		_, err2 = m.Write(zeros)
	}
	e, err3 := zstd.NewWriter(nil)
	if err := errors.Join(err, g.Close(), err2, archive.Close(), err3); err != nil {
		t.Fatal(err)
	}
	return map[string][]byte{
		"a.raw.gz": gz.Bytes(), "a.zip": z.Bytes(), "a.raw.zst": e.EncodeAll(zeros, nil),
		"declares.zst": {0x28, 0xB5, 0x2F, 0xFD, 0xE0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F, 3, 0, 0},
		"window.zst":   {0x28, 0xB5, 0x2F, 0xFD, 0x00, 0xFF, 1, 0, 0},
	}
}

// Files that unpack to far more than any recording are errors before a disk is full, and leave nothing on it.
func TestBombs(t *testing.T) {
	for name, data := range bombs(t) {
		dir, temp := t.TempDir(), t.TempDir()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		_, err := Open(t.Context(), path, "evt3", format.Policy{TempDir: temp})
		if err == nil || len(data) > 100 && !errors.Is(err, ErrBomb) {
			t.Errorf("%s: %v", name, err)
		}
		if left := eventtest.Names(t, temp); len(left) != 0 {
			t.Errorf("%s: left behind: %v", name, left)
		}
	}
}
