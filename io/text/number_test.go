package text

import (
	"context"
	"encoding/binary"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/formattest"
)

// exact is what scaled must return, in exact arithmetic.
func exact(s string, shift int) (int64, bool) {
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		return 0, false
	}
	pow := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(shift, -shift))), nil))
	if shift < 0 {
		pow.Inv(pow)
	}
	r.Mul(r, pow)
	q, m := new(big.Int).DivMod(r.Num(), r.Denom(), new(big.Int)) // Euclidean: m >= 0
	twice := m.Lsh(m, 1).Cmp(r.Denom())
	if twice > 0 || twice == 0 && q.Bit(0) == 1 {
		q.Add(q, big.NewInt(1))
	}
	return q.Int64(), q.IsInt64()
}

func TestScaled(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	digits := func(n int) string {
		var b strings.Builder
		for range n {
			b.WriteByte("0123456789555000"[r.IntN(16)])
		}
		return b.String()
	}
	for range 200_000 {
		s := digits(1 + r.IntN(12))
		if r.IntN(3) > 0 {
			s += "." + digits(r.IntN(25))
		}
		if r.IntN(4) == 0 {
			s += "e" + strconv.Itoa(r.IntN(40)-20)
		}
		if r.IntN(4) == 0 {
			s = "-" + s
		}
		shift := units[r.IntN(len(units))].shift
		want, fits := exact(s, shift)
		d, ok := parseDecimal([]byte(s))
		if !ok {
			t.Fatalf("%s is not read", s)
		}
		got, _, ok := d.scaled(shift)
		if ok && got != want || !ok && fits && !d.sticky {
			t.Fatalf("%s * 10^%d = %d, %v; want %d", s, shift, got, ok, want)
		}
	}
	for _, s := range []string{"", "-", "+", ".", "1.2.3", "1e", "1e+", "e5", "0x1", "1 ", "nan", "inf", "1_0", "--1"} {
		if d, ok := parseDecimal([]byte(s)); ok {
			t.Errorf("%q is read as %+v", s, d)
		}
	}
}

func TestDigits8(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 100_000 {
		var b [8]byte
		for i := range b {
			if b[i] = byte('0' + r.IntN(10)); r.IntN(8) == 0 {
				b[i] = byte(r.Uint32())
			}
		}
		n := 0
		for n < 8 && b[n]-'0' <= 9 {
			n++
		}
		want, _ := strconv.ParseUint(string(b[:n]), 10, 64)
		if v, m := digits8(binary.LittleEndian.Uint64(b[:])); v != want || m != n {
			t.Fatalf("%q: %d of %d digits, want %d of %d", b, v, m, want, n)
		}
	}
}

// decode reads data with or without the fast loop, below the policies.
func decode(t testing.TB, l layout, data []byte, size int, withFast bool) (*event.Buffer, *event.Report, error) {
	t.Helper()
	rep, all := &event.Report{}, event.NewBuffer(0)
	p := format.Policy{ReadSize: size, Salvage: true}.WithDefaults()
	d := newDecoder("csv", formattest.File(data), l, p, rep, event.NewPool(7+size))
	var s format.Decoder = d
	if !withFast {
		s = &slowDecoder{d}
	}
	for {
		b, err := s.Next(t.Context())
		if err != nil {
			return all, rep, err
		}
		all.AppendBatch(b.Batch())
	}
}

// A slowDecoder reads every line field by field.
type slowDecoder struct{ *decoder }

func (s *slowDecoder) Next(ctx context.Context) (*event.Buffer, error) {
	d, b := s.decoder, event.NewBuffer(0)
	for d.err == nil {
		var raw []byte
		if raw, d.at, d.tail, d.err = d.lines.next(ctx); d.err != nil {
			break
		}
		for rest := string(raw); rest != ""; d.line++ {
			line, tail, _ := strings.Cut(rest, "\n")
			if d.err = d.slow(b, []byte(line)); d.err != nil {
				break
			}
			d.at += int64(len(line) + 1)
			rest = tail
		}
	}
	d.finish()
	if b.Len() > 0 {
		return b, nil
	}
	return nil, d.err
}

var layouts = []layout{
	{sep: ',', roles: orders[0], unit: units[2], guessed: true, line: 1},
	{sep: ',', roles: orders[0], unit: units[0], line: 1},
	{sep: ' ', roles: orders[1], unit: units[0], line: 1},
	{sep: ' ', roles: []role{roleP, ignored, roleY, roleT, roleX}, unit: units[3], polarity: polarityPM1, line: 1, loose: true},
	{sep: ';', roles: orders[2], unit: units[1], polarity: polarity01, line: 1},
	{sep: '\t', roles: orders[0], unit: units[0], polarity: polarityNonzero, line: 1},
}

// compare checks that the fast loop reads lines as the slow one does, over reads and buffers of odd sizes.
func compare(t testing.TB, data []byte) {
	t.Helper()
	for _, l := range layouts {
		want, wantRep, wantErr := decode(t, l, data, 0, false)
		for _, size := range []int{0, 5, 100} {
			got, rep, err := decode(t, l, data, size, true)
			if d := eventtest.Diff(got.Batch(), want.Batch()); d != "" {
				t.Fatalf("%q as %s: %s", data, l.columns(), d)
			}
			if rep.String() != wantRep.String() || strings.Join(rep.Notes, "") != strings.Join(wantRep.Notes, "") || err.Error() != wantErr.Error() {
				t.Fatalf("%q as %s: %v %q %v, want %v %q %v", data, l.columns(), rep, rep.Notes, err, wantRep, wantRep.Notes, wantErr)
			}
		}
	}
}

func TestFastLoop(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 2))
	words := []string{"0", "1", "-1", "7", "65535", "65536", "0.000003500", "1.5", "-2.5", "12.000", "1e3", "x", "", "999999999999999999", "9999999999999999999", "true", ".5", "5.", "-", "-0"}
	seps := []string{",", " ", ";", "  ", ", ", "\t", ","}
	ends := []string{"\n", "\r\n", " \n", "\n\n", "\n#\n", "\n"}
	for range 3000 {
		var b strings.Builder
		sep := seps[r.IntN(len(seps))]
		for range r.IntN(12) {
			for k := range 4 + r.IntN(5)/3 {
				if k > 0 {
					b.WriteString(sep)
				}
				b.WriteString(words[r.IntN(2+r.IntN(len(words)-1))])
			}
			b.WriteString(ends[r.IntN(len(ends))])
		}
		compare(t, []byte(b.String()))
	}
}

func FuzzDecode(f *testing.F) {
	for _, c := range append(cases, textCases...) {
		f.Add(c.Data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) < 1<<14 {
			compare(t, data)
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	scene := eventtest.Scene(1, 1<<20, event.Geometry{Width: 1280, Height: 720})
	var us, s []byte
	for i, t := range scene.T() {
		x, y, p := scene.X()[i], scene.Y()[i], scene.P()[i]
		tail := strconv.Itoa(int(x)) + " " + strconv.Itoa(int(y)) + " " + strconv.Itoa(int(p)) + "\n"
		us = append(us, strconv.FormatInt(t, 10)+","+strings.ReplaceAll(tail, " ", ",")...)
		s = append(s, strconv.FormatFloat(float64(t)/1e6, 'f', 9, 64)+" "+tail...)
	}
	for _, c := range []struct {
		name string
		l    layout
		data []byte
	}{{"csv-us", layouts[0], us}, {"text-s", layout{sep: ' ', roles: orders[0], unit: units[0], line: 1}, s}} {
		b.Run(c.name, func(b *testing.B) {
			pool, n := event.NewPool(bufferSize), 0
			for b.Loop() {
				d := newDecoder("csv", formattest.File(c.data), c.l, format.Policy{}.WithDefaults(), &event.Report{}, pool)
				n += formattest.Count(b, d)
			}
			b.SetBytes(int64(len(c.data)))
			b.ReportMetric(float64(n)/b.Elapsed().Seconds()/1e6, "Mev/s")
		})
	}
}
