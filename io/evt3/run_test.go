package evt3

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/formattest"
	"github.com/evq-project/evq/io/rawheader"
)

// decode starts to decode a payload, below the policies.
func decode(payload []byte, size int, rep *event.Report, pool *event.Pool) format.Decoder {
	s := rawheader.Scan{Policy: format.Policy{ReadSize: size}.WithDefaults(), Report: rep, Triggers: &rawheader.Triggers{}}
	return layout.Decode(formattest.File(payload), s, pool)
}

// raw decodes a payload without policies.
func raw(t testing.TB, payload []byte) *event.Buffer {
	t.Helper()
	return formattest.Decode(t, decode(payload, 0, &event.Report{}, event.NewPool(4*slack)))
}

// slowly decodes a payload by step alone, which is the complete account of the format.
func slowly(t testing.TB, payload []byte) (*event.Buffer, *event.Report) {
	t.Helper()
	rep, out := &event.Report{}, event.NewBuffer(0)
	d := newDecoder(rawheader.Scan{Report: rep, Triggers: &rawheader.Triggers{}}).(*decoder)
	for at := 0; at+2 <= len(payload); at += 2 {
		if err := d.step(out, binary.LittleEndian.Uint16(payload[at:]), int64(at)); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.End(int64(len(payload)&^1), int64(len(payload)&1)); err != nil {
		t.Fatal(err)
	}
	return out, rep
}

// compare checks that the fast loop does what step does, over reads and buffers of odd sizes.
func compare(t testing.TB, payload []byte) {
	t.Helper()
	if bytes.Contains(payload, make([]byte, rawheader.BlankSize)) {
		t.Skip("zeros are judged before words are decoded")
	}
	want, wantRep := slowly(t, payload)
	formattest.CheckDecoder(t, want, wantRep, []int{0, 6, 34, 250}, func(size int, rep *event.Report) format.Decoder {
		return decode(payload, size, rep, event.NewPool(2*slack+size))
	})
}

// TestFastLoop compares the fast loop with step on words without sense, words of the usual kinds, and scenes.
func TestFastLoop(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 2))
	kinds := []string{"0123456789ABCDEF", "0266", "02634458", "3445", "34452"}
	for round := range 300 {
		alphabet := kinds[round%len(kinds)]
		payload := hex("", "8001 0001")
		for range r.IntN(2000) {
			kind := uint16(bytes.IndexByte([]byte("0123456789ABCDEF"), alphabet[r.IntN(len(alphabet))]))
			if r.IntN(4) == 0 {
				payload = append(payload, hex("", "3005 4123 4FFF 50F1")...)
			}
			payload = binary.LittleEndian.AppendUint16(payload, kind<<12|uint16(r.Uint32()&0xFFF))
		}
		compare(t, payload)
	}
	compare(t, encode(driving(50_000)))
	compare(t, encode(dense(50_000)))
}

// TestBaseDoesNotOverflow follows one base with more vectors than any sensor is wide.
func TestBaseDoesNotOverflow(t *testing.T) {
	payload := hex("", "8001 0001 3000")
	for range 7000 {
		payload = append(payload, 0x01, 0x40)
	}
	got := raw(t, payload)
	for i := 1; i < got.Len(); i++ {
		if got.X[i] < got.X[i-1] {
			t.Fatalf("event %d at x = %d after %d", i, got.X[i], got.X[i-1])
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, c := range cases {
		f.Add(bytes.TrimPrefix(c.Data, []byte(head)))
	}
	f.Fuzz(func(t *testing.T, payload []byte) { compare(t, payload) })
}

func TestBuffersAreReused(t *testing.T) {
	payload := encode(driving(300_000))
	pool, rep := event.NewPool(rawheader.BufferSize), &event.Report{}
	scan := func() { formattest.Count(t, decode(payload, 0, rep, pool)) }
	scan()
	if n := testing.AllocsPerRun(3, scan); n > 20 {
		t.Errorf("%v allocations a scan: they grow with the events", n)
	}
}
