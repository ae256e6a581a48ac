package evt3

import (
	"bytes"
	"encoding/binary"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/rawheader"
)

func file(data []byte) format.File {
	return format.File{ReaderAt: bytes.NewReader(data), Size: int64(len(data)), Path: "test.raw"}
}

// raw decodes a payload without policies.
func raw(t testing.TB, payload []byte) *event.Buffer {
	t.Helper()
	out := event.NewBuffer(0)
	d := newDecoder(file(payload), 0, format.Policy{}.WithDefaults(), event.All, &event.Report{}, event.NewPool(4*slack))
	for {
		b, err := d.Next(t.Context())
		if err == io.EOF {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		out.AppendBatch(b.Batch())
		b.Release()
	}
}

// slowly decodes a payload by step alone, which is the complete account of the format.
func slowly(t testing.TB, payload []byte) (*event.Buffer, *event.Report) {
	t.Helper()
	rep, out := &event.Report{}, event.NewBuffer(0)
	d := &decoder{rep: rep, clock: rawheader.Clock{Unit: 1 << 12, Bits: 12}}
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
	want, wantRep := slowly(t, payload)
	for _, size := range []int{0, 6, 34, 250} {
		rep, got := &event.Report{}, event.NewBuffer(0)
		d := newDecoder(file(payload), 0, format.Policy{ReadSize: size}.WithDefaults(), event.All, rep, event.NewPool(2*slack+size))
		for {
			b, err := d.Next(t.Context())
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			got.AppendBatch(b.Batch())
			b.Release()
		}
		if diff := eventtest.Diff(got.Batch(), want.Batch()); diff != "" {
			t.Fatalf("reads of %d bytes: %s", size, diff)
		}
		if rep.String() != wantRep.String() {
			t.Fatalf("reads of %d bytes: counters %s, want %s", size, rep, wantRep)
		}
	}
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
	f, pool, rep := file(payload), event.NewPool(rawheader.BufferSize), &event.Report{}
	scan := func() {
		d := newDecoder(f, 0, format.Policy{}.WithDefaults(), event.All, rep, pool)
		for {
			b, err := d.Next(t.Context())
			if err != nil {
				return
			}
			b.Release()
		}
	}
	scan()
	if n := testing.AllocsPerRun(3, scan); n > 20 {
		t.Errorf("%v allocations a scan: they grow with the events", n)
	}
}
