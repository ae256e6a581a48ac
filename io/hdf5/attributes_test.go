package hdf5

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/format"
)

// second is a file with a superblock and headers of version 2: a user block, two attributes of fixed length, the second
// in a continuation, and one of variable length in the global heap.
func second() []byte {
	le := binary.LittleEndian
	const base = 512
	b := make([]byte, base)
	b = append(b, signature...)
	b = append(b, 2, 8, 8, 0)
	b = le.AppendUint64(b, base)
	b = append(b, make([]byte, 16)...)
	b = le.AppendUint64(b, 64) // the root's header
	b = append(b, make([]byte, 20)...)
	fixed := func(name, value string) []byte {
		m := []byte{3, 0, byte(len(name) + 1), 0, 8, 0, 4, 0, 0}
		m = append(append(m, name...), 0)
		m = append(m, 0x13, 0, 0, 0, byte(len(value)), 0, 0, 0, 2, 0, 0, 0)
		return append(m, value...)
	}
	message := func(kind byte, data []byte) []byte {
		return append([]byte{kind, byte(len(data)), byte(len(data) >> 8), 0}, data...)
	}
	variable := append([]byte{3, 0, 2, 0, 8, 0, 4, 0, 0, 'v', 0, 0x19, 1, 0, 0, 16, 0, 0, 0, 2, 0, 0, 0}, 3, 0, 0, 0)
	variable = le.AppendUint32(le.AppendUint64(variable, 1024), 2)
	more := slices.Concat([]byte("OCHK"), message(0x0C, fixed("format", "ECF;height=7;width=9")), []byte("sums"))
	link := le.AppendUint64(le.AppendUint64(nil, 512), uint64(len(more)))
	body := slices.Concat(message(0x0C, fixed("version", "1.0\x00x")), message(0x0C, variable), message(0x10, link))
	b = append(b, 'O', 'H', 'D', 'R', 2, 0, byte(len(body)))
	b = append(b, body...)
	b = append(b, make([]byte, base+512-len(b))...)
	b = append(b, more...)
	b = append(b, make([]byte, base+1024-len(b))...)
	b = append(b, "GCOL\x01\x00\x00\x00"...)
	b = le.AppendUint64(b, 96)
	for i, text := range []string{"no", "yes"} {
		b = append(b, byte(i+1), 0, 1, 0, 0, 0, 0, 0)
		b = le.AppendUint64(b, uint64(len(text)))
		b = append(append(b, text...), make([]byte, 8-len(text))...)
	}
	return append(b, make([]byte, base+1024+96-len(b))...)
}

func attributesIn(b []byte) []event.Field {
	return readAttributes(format.File{ReaderAt: bytes.NewReader(b), Size: int64(len(b))})
}

func TestAttributesOfSecondVersion(t *testing.T) {
	want := []event.Field{{Key: "version", Value: "1.0"}, {Key: "v", Value: "yes"}, {Key: "format", Value: "ECF;height=7;width=9"}}
	if got := attributesIn(second()); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// Damage anywhere leaves attributes out and never fails; a continuation that leads back ends.
func TestDamagedAttributes(t *testing.T) {
	whole := second()
	for i := range whole {
		for _, v := range []byte{0, 0x80, 0xFF} {
			b := bytes.Clone(whole)
			b[i] ^= v
			attributesIn(b)
			b[i] = v
			attributesIn(b)
		}
		attributesIn(whole[:i])
	}
	round := bytes.Clone(whole)
	at := bytes.LastIndex(round, []byte("OCHK"))
	copy(round[at+4:], []byte{0x10, 16, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, byte(len(round) - at)})
	attributesIn(round)
}
