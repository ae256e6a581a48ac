package formats

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/rawheader"
)

// samples are small recordings of every format that is written, and the first bytes of those that are only read.
func samples(t testing.TB) [][]byte {
	out := [][]byte{
		[]byte("#!AER-DAT2.0\r\n# a comment\r\n\x00\x00\x00\x01\x00\x00\x00\x01"), []byte("#!AER-DAT3.1\r\n#Format: RAW\r\n#!END-HEADER\r\n"),
		[]byte("#!AER-DAT4.0\r\n\x14\x00\x00\x00"), []byte("\x93NUMPY\x01\x00\x10\x00{'descr': '<i8'}"), []byte("PK\x03\x04"), []byte("Event Stream\x02\x00\x00\x01"),
	}
	b := eventtest.Scene(3, 50, event.Geometry{Width: 64, Height: 48})
	for _, f := range All {
		if f.Create == nil {
			continue
		}
		path := filepath.Join(t.TempDir(), "a"+f.Extensions[0])
		sink, err := f.Create(path, format.Header{Geometry: event.Geometry{Width: 64, Height: 48}}, format.CreateOptions{})
		if err != nil {
			continue // what is not built writes nothing
		}
		if err := errors.Join(sink.Write(t.Context(), b), sink.Close()); err != nil {
			t.Fatalf("%s: %v", f.Name, err)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, data)
	}
	return out
}

// FuzzDetect asks every format of any bytes: one has them or they are unknown, and no format fails over them.
func FuzzDetect(f *testing.F) {
	for _, s := range samples(f) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, candidate := range All { // without the guard of Detect
			p := candidate.Sniff(format.File{ReaderAt: bytes.NewReader(data), Size: int64(len(data)), Path: "a"})
			if p.Confidence < 0 || p.Confidence > 1 || p.Confidence > 0 && p.Why == "" {
				t.Errorf("%s: %+v", candidate.Name, p)
			}
		}
		m, err := Detect(bytes.NewReader(data), int64(len(data)))
		var named *rawheader.NameError
		if err != nil && !errors.Is(err, format.ErrUnknown) && !errors.As(err, &named) || err == nil && (m.Format == "" || m.Why == "") {
			t.Errorf("%+v, %v", m, err)
		}
	})
}

// FuzzOpen opens and reads any bytes as a user's file, compressed as a whole or not: it ends, and leaves nothing behind.
func FuzzOpen(f *testing.F) {
	files, _ := wrapped(f)
	for _, s := range files {
		f.Add(s)
	}
	for _, s := range samples(f) {
		f.Add(s)
	}
	for _, s := range bombs(f) {
		f.Add(s[:min(len(s), 1000)])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		dir, temp := t.TempDir(), t.TempDir()
		path := filepath.Join(dir, "a.raw")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, p := range []format.Policy{{TempDir: temp}, {TempDir: temp, Salvage: true, OnUnsorted: format.Clamp}} {
			src, err := Open(t.Context(), path, "", p)
			if err != nil {
				continue
			}
			n, enough := 0, errors.New("enough")
			_, err = event.Each(t.Context(), src, event.All, func(b event.Batch) error {
				if n += b.Len(); n > 1<<20 {
					return enough
				}
				return nil
			})
			if err != nil && err.Error() == "" {
				t.Error("an error without words")
			}
			if err := src.(*recording).Close(); err != nil {
				t.Error(err)
			}
		}
		if left := eventtest.Names(t, temp); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	})
}
