package scatter

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/evq-project/evq/accel"
	"github.com/evq-project/evq/accel/acceltest"
)

// A plain device reads runs and packed events as the kernels do, one after another.
type plain struct{ limit Limit }

func (plain) Name() string { return "plain" }
func (plain) Probe() error { return nil }
func (d plain) Open(g accel.Grid) (accel.Kernel, error) {
	if err := g.Validate(); err != nil {
		return nil, err
	}
	return &plainKernel{plain: d, planner: NewPlanner(g), params: ParamsOf(g)}, nil
}
func (d plain) OpenTable(t accel.Table) (accel.Kernel, error) {
	if err := t.Validate(); err != nil {
		return nil, err
	}
	return &plainKernel{plain: d, planner: NewTablePlanner(t), table: TableParamsOf(t), wide: true}, nil
}

type plainKernel struct {
	plain
	planner *Planner
	params  Params
	table   TableParams
	wide    bool
}

func (k *plainKernel) Close() error { return nil }

func (k *plainKernel) Scatter(ctx context.Context, job accel.Job, dst []uint8) (off int64, err error) {
	width := 1
	if k.wide {
		width = 4
	}
	if len(dst)%width != 0 {
		return 0, errors.New("no whole counts")
	}
	if err := k.planner.Start(job, len(dst)/width); err != nil {
		return 0, err
	}
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	for {
		b, more := k.planner.Next(k.limit)
		if !more {
			return off, nil
		}
		events, runs := make([]uint32, b.Events), make([]Run, b.Runs)
		nEvents, nRuns, n, err := k.planner.Pack(ctx, b, events, runs)
		if err != nil {
			return 0, err
		}
		if k.wide {
			k.countWide(events[:nEvents], runs[:nRuns], dst[:4*b.Counts])
		} else {
			k.count(events[:nEvents], runs[:nRuns], dst[:b.Counts])
		}
		off, dst = off+n, dst[b.Counts*width:]
		k.planner.Advance(b)
	}
}

func (k *plainKernel) count(events []uint32, runs []Run, dst []uint8) {
	counts := make([]uint64, len(dst))
	for _, r := range runs {
		for _, e := range events[r.First : r.First+r.Len] {
			if cell, ok := k.cell(e, r.Base); ok {
				counts[cell]++
			}
		}
	}
	for i, n := range counts {
		if k.params.Wrap == 1 {
			n %= 256
		}
		dst[i] = uint8(min(n, uint64(k.params.Cutoff)))
	}
}

func (k *plainKernel) countWide(events []uint32, runs []Run, dst []uint8) {
	clear(dst)
	for _, r := range runs {
		for _, e := range events[r.First : r.First+r.Len] {
			if e>>31 == 1 {
				continue
			}
			t := k.table
			at := r.Base + e>>30*t.PlaneStep + e>>15&0x7fff*t.YFactor>>t.YShift*t.Columns + e&0x7fff*t.XFactor>>t.XShift
			n := binary.LittleEndian.Uint32(dst[4*at:]) + 1
			if t.Signed == 1 && e>>30 == 0 {
				n -= 2
			}
			binary.LittleEndian.PutUint32(dst[4*at:], n)
		}
	}
}

func (k *plainKernel) cell(e, base uint32) (uint32, bool) {
	x, y, p := e&0x7fff, e>>15&0x7fff, e>>30&1
	switch {
	case base == cells:
		return e, true
	case e>>31 == 1 || k.params.HalfSize == 1 && x&y&1 == 0:
		return 0, false
	}
	x, y = x>>k.params.HalfSize, y>>k.params.HalfSize
	return base + p*k.params.PlaneStep + y*k.params.Columns + x, true
}

// Batches of any size hold what the job says.
func TestConformance(t *testing.T) {
	for name, limit := range map[string]Limit{"one batch": {1 << 30, 1 << 30}, "a window each": {1, 1}, "few events": {1 << 30, 500}} {
		t.Run(name, func(t *testing.T) {
			acceltest.Run(t, plain{limit})
			t.Run("tables", func(t *testing.T) { acceltest.RunTables(t, plain{limit}) })
		})
	}
}

// Events that windows share are packed once.
func TestSharedEventsArePackedOnce(t *testing.T) {
	g := accel.Grid{Bins: 1, Width: 4, Height: 4, Downsample: 1, Cutoff: 9}
	job := acceltest.Recording{Events: 1000, Windows: 6, Overlap: 6}.Job(g)
	p := NewPlanner(g)
	if err := p.Start(job, 6*g.Len()); err != nil {
		t.Fatal(err)
	}
	b, _ := p.Next(Limit{1 << 20, 1 << 20})
	if b.Windows != 6 || b.Events > 1000 {
		t.Errorf("room for %d events of 1000 in %d windows", b.Events, b.Windows)
	}
	// Far apart they are packed by themselves.
	job.Segments = []accel.Segment{{Len: 5}, {Window: 1, Start: 900, Len: 5}}
	if err := p.Start(job, 6*g.Len()); err != nil {
		t.Fatal(err)
	}
	if b, _ := p.Next(Limit{1 << 20, 1 << 20}); b.Events != 10 {
		t.Errorf("room for %d events, want 10", b.Events)
	}
}

// Packing looks at the context.
func TestPackIsCancelled(t *testing.T) {
	g := accel.Grid{Bins: 1, Width: 4, Height: 4, Downsample: 1, Cutoff: 9}
	job := acceltest.Recording{Events: 100, Windows: 1}.Job(g)
	p := NewPlanner(g)
	if err := p.Start(job, g.Len()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	b, _ := p.Next(Limit{1 << 20, 1 << 20})
	if _, _, _, err := p.Pack(ctx, b, make([]uint32, b.Events), make([]Run, b.Runs)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// The kernel's logic is C that ends where it should; what it counts is tested where it is compiled.
func TestBody(t *testing.T) {
	for _, want := range []string{"evq_cell", "evq_count_wrapping", "evq_count_saturating", "evq_tile"} {
		if !bytes.Contains([]byte(Body), []byte(want+"(")) {
			t.Errorf("no %s", want)
		}
	}
}

func BenchmarkPack(b *testing.B) {
	g := accel.Grid{Bins: 10, Width: 1280, Height: 720, Downsample: 2, Cutoff: 10, Wrap: true}
	job := acceltest.Recording{Events: 1 << 20, Windows: 6}.Job(g)
	p := NewPlanner(g)
	if err := p.Start(job, 6*g.Len()); err != nil {
		b.Fatal(err)
	}
	batch, _ := p.Next(Limit{1 << 30, 1 << 30})
	events, runs := make([]uint32, batch.Events), make([]Run, batch.Runs)
	b.SetBytes(int64(batch.Events)) // so that MB/s reads as millions of events
	for b.Loop() {
		if _, _, _, err := p.Pack(context.Background(), batch, events, runs); err != nil {
			b.Fatal(err)
		}
	}
}
