package formattest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/format"
)

// File is data as a file.
func File(data []byte) format.File {
	return format.File{ReaderAt: bytes.NewReader(data), Size: int64(len(data)), Path: "test.raw"}
}

// Hex makes a recording of words: a header, then little-endian words of size bytes, in hexadecimal with spaces between.
func Hex(header string, size int, words ...string) []byte {
	out := []byte(header)
	for w := range strings.FieldsSeq(strings.Join(words, " ")) {
		v, err := strconv.ParseUint(w, 16, 8*size)
		if err != nil {
			panic(err)
		}
		out = append(out, binary.LittleEndian.AppendUint64(nil, v)[:size]...)
	}
	return out
}

// A Damage is a recording that a policy refuses or lets pass.
type Damage struct {
	Name   string
	Data   []byte
	Policy format.Policy
	Offset int64 // where in the file the scan must end with a syntax error; -1: it must not
}

// CheckDamages scans recordings that are well formed up to some place.
func CheckDamages(t *testing.T, f format.Format, damages ...Damage) {
	t.Helper()
	for _, c := range damages {
		src, err := f.Open(t.Context(), File(c.Data), c.Policy)
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = format.Drain(t.Context(), src)
		var syntax *format.SyntaxError
		switch {
		case c.Offset < 0 && err != nil:
			t.Errorf("%s: %v", c.Name, err)
		case c.Offset >= 0 && (!errors.As(err, &syntax) || syntax.Offset != c.Offset):
			t.Errorf("%s: error %v, want a syntax error at %d", c.Name, err, c.Offset)
		}
	}
}

// Decode returns all events of a decoder, before any policy.
func Decode(t testing.TB, d format.Decoder) *event.Buffer {
	t.Helper()
	out := event.NewBuffer(0)
	each(t, d, func(b *event.Buffer) { out.AppendBatch(b.Batch()) })
	return out
}

// Count returns how many events a decoder yields.
func Count(t testing.TB, d format.Decoder) (n int) {
	t.Helper()
	each(t, d, func(b *event.Buffer) { n += b.Len() })
	return n
}

func each(t testing.TB, d format.Decoder, do func(*event.Buffer)) {
	t.Helper()
	for {
		b, err := d.Next(t.Context())
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		do(b)
		b.Release()
	}
}

// CheckDecoder compares what a decoder yields and counts with what is expected, over reads and buffers of the given
// numbers of bytes and events.
func CheckDecoder(t testing.TB, want *event.Buffer, counted *event.Report, sizes []int, open func(size int, rep *event.Report) format.Decoder) {
	t.Helper()
	for _, size := range sizes {
		rep := &event.Report{}
		got := Decode(t, open(size, rep))
		if d := eventtest.Diff(got.Batch(), want.Batch()); d != "" {
			t.Fatalf("reads of %d bytes: %s", size, d)
		}
		if rep.String() != counted.String() {
			t.Fatalf("reads of %d bytes: counters %s, want %s", size, rep, counted)
		}
	}
}

// CheckRecordings compares recordings of the data folder, from a sensor of the given size, with their references.
func CheckRecordings(t *testing.T, f format.Format, g event.Geometry, names ...string) {
	t.Helper()
	data := eventtest.Data(t)
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			src := OpenPath(t, f, filepath.Join(data, name), format.Policy{})
			if got := src.Geometry(); got != g {
				t.Errorf("geometry %v, want %v", got, g)
			}
			CheckReference(t, data, name, src)
		})
	}
}
