package acceltest

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/evq-project/evq/accel"
)

// A TableCase is a job and its table.
type TableCase struct {
	Name  string
	Table accel.Table
	Job   accel.Job
}

// RunTables tests how a device counts into tables, or skips with the reason where this machine cannot run it.
func RunTables(t *testing.T, d accel.Tabler) {
	if err := d.Probe(); err != nil {
		t.Skipf("%s: %v", d.Name(), err)
	}
	t.Run("cases", func(t *testing.T) {
		for _, c := range TableCases() {
			t.Run(c.Name, func(t *testing.T) { CheckTable(t, d, c) })
		}
	})
	t.Run("random", func(t *testing.T) {
		for seed := range uint64(200) {
			CheckTable(t, d, RandomTable(seed))
		}
	})
	t.Run("errors", func(t *testing.T) { tableRefusals(t, d) })
}

// CheckTable runs a case twice on one kernel, into dirty memory, and compares with WantTable.
func CheckTable(t testing.TB, d accel.Tabler, c TableCase) {
	t.Helper()
	k, err := d.OpenTable(c.Table)
	if err != nil {
		t.Fatalf("%s: opening %+v: %v", c.Name, c.Table, err)
	}
	want, wantOff := WantTable(c.Table, c.Job)
	checkKernel(t, c.Name, k, c.Job, wantOff, len(want), func(got []uint8) {
		for i := 0; i < len(want); i += 4 {
			if g, w := int32(binary.LittleEndian.Uint32(got[i:])), int32(binary.LittleEndian.Uint32(want[i:])); g != w {
				t.Fatalf("%s: %+v: count %d of window %d = %d, want %d", c.Name, c.Table, i/4%c.Table.Len(), i/4/c.Table.Len(), g, w)
			}
		}
	})
}

// WantTable counts a job in the obvious way. It returns also how many events are left out.
func WantTable(tb accel.Table, job accel.Job) (out []uint8, offSensor int64) {
	type key struct{ window, bin, p, row, column int }
	counts := map[key]int{}
	for _, s := range job.Segments {
		for i := s.Start; i < s.Start+s.Len; i++ {
			x, y, p, n := int(job.X[i]), int(job.Y[i]), int(job.P[i]), 1
			if x >= tb.Width || y >= tb.Height {
				offSensor++
				continue
			}
			if tb.Polarity == accel.Signed {
				n = 2*p - 1
			}
			if tb.Polarity != accel.Apart {
				p = 0
			}
			counts[key{int(s.Window), int(s.Bin), p, y / tb.TileY, x / tb.TileX}] += n
		}
	}
	planes := 1
	if tb.Polarity == accel.Apart {
		planes = 2
	}
	for w := range job.Windows {
		for b := range tb.Bins {
			for p := range planes {
				for row := 0; row*tb.TileY < tb.Height; row++ {
					for column := 0; column*tb.TileX < tb.Width; column++ {
						out = binary.LittleEndian.AppendUint32(out, uint32(int32(counts[key{w, b, p, row, column}])))
					}
				}
			}
		}
	}
	return out, offSensor
}

// TableCases returns the edges that have names: every pixel of small sensors, a pixel past what 8 and 16 bits hold, the
// largest coordinates in tiles of sizes that are no powers of two, strays, and no windows.
func TableCases() (cases []TableCase) {
	for _, p := range []accel.Polarity{accel.Merged, accel.Apart, accel.Signed} {
		for _, tile := range [][2]int{{1, 1}, {2, 3}, {7, 5}, {64, 64}} {
			tb := accel.Table{Bins: 3, Width: 13, Height: 9, TileX: tile[0], TileY: tile[1], Polarity: p}
			job := everyPixel(accel.Grid{Bins: 3, Width: 13, Height: 9})
			cases = append(cases, TableCase{fmt.Sprintf("every pixel, tiles of %v, polarity %d", tile, p), tb, job})
		}
		job := Recording{Seed: 5, Events: 70_000, Windows: 1, Hot: 1}.Job(accel.Grid{Bins: 1, Width: 2, Height: 2})
		cases = append(cases, TableCase{fmt.Sprintf("a pixel past 16 bits, polarity %d", p),
			accel.Table{Bins: 1, Width: 2, Height: 2, TileX: 1, TileY: 1, Polarity: p}, job})
	}
	for _, tile := range []int{3, 1000, 1<<15 - 1, 1 << 15} {
		tb := accel.Table{Bins: 1, Width: 1 << 15, Height: 1 << 15, TileX: tile, TileY: max(tile, 1000), Polarity: accel.Signed}
		var job accel.Job
		for i := range 64 {
			at := min(tile*(i/2)-i%2, 1<<15)
			at = max(at, 0)
			job.X, job.Y, job.P = append(job.X, uint16(at)), append(job.Y, uint16(1<<15-1-at&(1<<15-1))), append(job.P, int8(i%3%2))
		}
		job.Windows, job.Segments = 1, []accel.Segment{{Len: 64}}
		cases = append(cases, TableCase{fmt.Sprintf("edges of tiles of %d", tile), tb, job})
	}
	overlap := Recording{Seed: 3, Events: 4000, Windows: 8, Overlap: 3}.Job(accel.Grid{Bins: 4, Width: 346, Height: 260})
	tb := accel.Table{Bins: 4, Width: 346, Height: 260, TileX: 16, TileY: 16, Polarity: accel.Apart}
	cases = append(cases, TableCase{"overlapping windows", tb, overlap})
	return append(cases, TableCase{"no windows", tb, accel.Job{}}, TableCase{"empty windows", tb, accel.Job{Windows: 3}})
}

// RandomTable makes a case of Random's job.
func RandomTable(seed uint64) TableCase {
	c := Random(seed)
	r := rand.New(rand.NewPCG(seed, 13))
	tb := accel.Table{Bins: c.Grid.Bins, Width: c.Grid.Width, Height: c.Grid.Height, TileX: 1 + r.IntN(9), TileY: 1 + r.IntN(9),
		Polarity: accel.Polarity(r.IntN(3))}
	if r.IntN(3) == 0 {
		tb.TileX, tb.TileY = 1, 1
	}
	return TableCase{Name: c.Name, Table: tb, Job: c.Job}
}

// tableRefusals expects errors, no crash, for what cannot be counted.
func tableRefusals(t *testing.T, d accel.Tabler) {
	good := accel.Table{Bins: 2, Width: 4, Height: 4, TileX: 2, TileY: 2, Polarity: accel.Apart}
	for name, change := range map[string]func(*accel.Table){
		"no bins": func(t *accel.Table) { t.Bins = 0 }, "no tile": func(t *accel.Table) { t.TileX = 0 },
		"a huge tile": func(t *accel.Table) { t.TileY = 1<<15 + 1 }, "no such polarity": func(t *accel.Table) { t.Polarity = 3 },
		"too many counts": func(t *accel.Table) { t.Bins, t.Width, t.Height = 1, 1<<15, 1<<15; t.TileX, t.TileY = 1, 1 },
	} {
		tb := good
		change(&tb)
		if k, err := d.OpenTable(tb); err == nil {
			t.Errorf("%s was accepted", name)
			_ = k.Close()
		}
	}
	k, err := d.OpenTable(good)
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close() //nolint:errcheck // the tests before saw it
	job := accel.Job{X: []uint16{3}, Y: []uint16{1}, P: []int8{1}, Windows: 1, Segments: []accel.Segment{{Len: 1}}}
	for _, room := range []int{0, 4*good.Len() - 4, 4*good.Len() - 1, 4*good.Len() + 1, 8 * good.Len()} {
		if _, err := k.Scatter(context.Background(), job, make([]uint8, room)); err == nil {
			t.Errorf("room of %d bytes for %d counts was accepted", room, good.Len())
		}
	}
	odd := job
	odd.P = []int8{2}
	if _, err := k.Scatter(context.Background(), odd, make([]uint8, 4*good.Len())); err == nil {
		t.Error("a polarity of 2 was accepted")
	}
	dst := make([]uint8, 4*good.Len())
	if _, err := k.Scatter(context.Background(), job, dst); err != nil || dst[4*(4+1)] != 1 {
		t.Errorf("after refusals: error %v, counts %v", err, dst)
	}
}
