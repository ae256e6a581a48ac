package parquet

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow-go/v18/parquet"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/format"
)

// randomBox returns a box that cuts some columns of b and leaves others whole.
func randomBox(r *rand.Rand, b event.Batch) event.Box {
	box := event.Everything
	at := func() int { return r.IntN(b.Len()) }
	if r.IntN(2) == 0 {
		box.T0, box.T1 = b.T()[at()], b.T()[at()]
	}
	if r.IntN(3) == 0 {
		box.X0, box.X1 = b.X()[at()], b.X()[at()]
	}
	if r.IntN(3) == 0 {
		box.Y0, box.Y1 = b.Y()[at()], b.Y()[at()]
	}
	if r.IntN(4) == 0 {
		box.P0, box.P1 = int8(r.IntN(2)), 1
	}
	return box
}

// A store counts what a scan of it yields, whatever the box and whoever wrote it.
func TestCountAsScanned(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 3))
	sorted := parquet.WithSortingColumns([]parquet.SortingColumn{{ColumnIdx: 0}})
	for name, path := range map[string]func(event.Batch) string{
		"a store":    func(b event.Batch) string { return write(t, b, 1000, format.CreateOptions{}) },
		"row groups": func(b event.Batch) string { return sortedFile(t, b, 150, sorted) },
		"nullable": func(b event.Batch) string {
			return foreign{t: i64, x: u16, y: u16, p: i8, nullable: true, group: 150, props: []parquet.WriterProperty{sorted}}.write(t, valuesOf(b), -1)
		},
		"no statistics": func(b event.Batch) string {
			return sortedFile(t, b, 150, sorted, parquet.WithStatsFor("x", false), parquet.WithStatsFor("p", false))
		},
	} {
		for _, g := range []event.Geometry{sensor, {Width: 65000, Height: 40000}} {
			b := eventtest.Recording(r.Uint64(), 4000, g)
			s := mustOpen(t, path(b))
			for range 60 {
				want := event.Request{Box: randomBox(r, b), Threads: 1 + r.IntN(3)}
				got, err := s.Count(t.Context(), want)
				if err != nil {
					t.Fatal(err)
				}
				if n := int64(within(b, want.Box).Len()); got.Events != n || got.Read > got.Parts {
					t.Fatalf("%s, %v: %d of %d row groups say %d, want %d", name, want.Box, got.Read, got.Parts, got.Events, n)
				}
			}
		}
	}
}

func sortedFile(t *testing.T, b event.Batch, group int, props ...parquet.WriterProperty) string {
	return foreign{t: i64, x: i32, y: i32, p: i32, group: group, props: props}.write(t, valuesOf(b), -1)
}

// Only the row groups that the box cuts are read, and of them only what the box cuts.
func TestCountReadsLittle(t *testing.T) {
	b := eventtest.Recording(9, 3*groupLen, sensor)
	path := write(t, b, 50_000, format.CreateOptions{})
	s, data := mustOpen(t, path), read(t, path)
	for _, g := range s.groups {
		clear(data[g.at[colX]:g.end]) // all but t
	}
	clear(data[s.groups[1].at[colT]:s.groups[1].end])
	path = filepath.Join(t.TempDir(), "bad.parquet")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	box := event.Everything
	box.T0, box.T1 = b.T()[10], b.T()[3*groupLen-10]
	got, err := mustOpen(t, path).Count(t.Context(), event.Request{Box: box})
	if want := int64(within(b, box).Len()); err != nil || got.Events != want || got.Read != 2 || got.Parts != 3 {
		t.Errorf("%d events by %d of %d row groups (%v), want %d by 2 of 3", got.Events, got.Read, got.Parts, err, want)
	}
	box.X1 = 300
	var syntax *format.SyntaxError
	if _, err := mustOpen(t, path).Count(t.Context(), event.Request{Box: box}); !errors.As(err, &syntax) || syntax.Offset != s.groups[0].at[colX] {
		t.Errorf("damaged columns are counted: %v", err)
	}
	src, err := open(t, path, format.Policy{Salvage: true})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := src.(*Store).Count(t.Context(), event.Request{Box: box}); err != nil || got.Events != 0 || !got.Report.Lost() {
		t.Errorf("%d events are counted of row groups that are lost (%v)", got.Events, err)
	}
}

// The statistics of a store are what the library reads in it.
func TestOwnStatistics(t *testing.T) {
	b := eventtest.Recording(5, 2*groupLen+100, sensor)
	s := mustOpen(t, write(t, b, 50_000, format.CreateOptions{}))
	for i := range s.groups {
		for k, at := range s.columns.at {
			chunk, err := s.meta.RowGroup(i).ColumnChunk(at)
			if err != nil {
				t.Fatal(err)
			}
			lo, hi, ok := ownMinMax(s.meta, i, at)
			if l, h, set := minMax(chunk); !ok || !set || lo != l || hi != h {
				t.Errorf("%s of row group %d: %d to %d (%t), the library says %d to %d (%t)", columnNames[k], i, lo, hi, ok, l, h, set)
			}
		}
	}
}
