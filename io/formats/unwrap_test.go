package formats

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/format"
)

// wrapped returns a small EVT3 recording as it is and in every wrapping, with its events.
func wrapped(t testing.TB) (files map[string][]byte, want event.Batch) {
	t.Helper()
	want = eventtest.Recording(3, 2000, event.Geometry{Width: 64, Height: 48})
	raw := filepath.Join(t.TempDir(), "a.raw")
	sink, err := All[1].Create(raw, format.Header{Geometry: event.Geometry{Width: 64, Height: 48}}, format.CreateOptions{})
	if err == nil {
		err = errors.Join(sink.Write(context.Background(), want), sink.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(raw)
	if err != nil {
		t.Fatal(err)
	}
	var gz, z bytes.Buffer
	g := gzip.NewWriter(&gz)
	_, err = g.Write(b)
	archive := zip.NewWriter(&z)
	m, err2 := archive.Create("folder/a.raw")
	if err2 == nil {
		_, err2 = m.Write(b)
	}
	e, err3 := zstd.NewWriter(nil)
	if err := errors.Join(err, g.Close(), err2, archive.Close(), err3); err != nil {
		t.Fatal(err)
	}
	return map[string][]byte{"a.raw": b, "a.raw.gz": gz.Bytes(), "a.raw.zst": e.EncodeAll(b, nil), "a.zip": z.Bytes()}, want
}

func TestWrappings(t *testing.T) {
	files, want := wrapped(t)
	temp := t.TempDir()
	for name, b := range files {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, b, 0o666); err != nil {
			t.Fatal(err)
		}
		src, err := Open(context.Background(), path, "", format.Policy{TempDir: temp})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if d := eventtest.Diff(want, eventtest.Drain(t, src, event.All)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		if err := src.(*recording).Close(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		// Cut wrappings are errors that say so, and leave nothing behind.
		if name != "a.raw" {
			if err := os.WriteFile(path, b[:len(b)*2/3], 0o666); err != nil {
				t.Fatal(err)
			}
			if _, err := Open(context.Background(), path, "", format.Policy{TempDir: temp}); !errors.Is(err, ErrPacked) {
				t.Errorf("%s: cut: %v", name, err)
			}
		}
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestArchiveOfSeveral(t *testing.T) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range []string{"a.raw", "b.raw"} {
		if _, err := z.Create(name); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "two.zip")
	if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(context.Background(), path, "", format.Policy{}); !errors.Is(err, ErrArchive) || !strings.Contains(err.Error(), "2 files") {
		t.Errorf("%v", err)
	}
}
