//go:build hdf5

package hdf5

import (
	"context"
	"errors"
	"io"
	"slices"
	"syscall"
	"testing"

	"gonum.org/v1/hdf5"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/hdf5/ecf"
)

// BenchmarkReadECF reads a recording as Prophesee's software writes it, in chunks of 16,384 events. Events per CPU second
// are user and system time of the whole process, the garbage collector's too.
func BenchmarkReadECF(b *testing.B) {
	const each = 16384
	events := eventtest.Scene(1, 4<<20, event.Geometry{Width: 1280, Height: 720})
	path := newFile(b, func(h *hdf5.File) error {
		var stored [][]byte
		for part := range slices.Chunk(cdRecords(events), each*ecf.RecordSize) {
			block, err := ecf.Append(nil, part)
			if err != nil {
				return err
			}
			stored = append(stored, block)
		}
		cd := recordType(b, ecf.RecordSize, cdFields)
		return errors.Join(makeGroups(h, "CD"), chunked(h, "CD/events", cd.ID(), events.Len(), []int{each}, ecfFilter, stored...),
			textAttributes(h, map[string]string{"version": "1.0", "format": "ECF;height=720;width=1280", "geometry": "1280x720"}))
	})
	s, err := openTest(b, path, format.Policy{})
	if err != nil {
		b.Fatal(err)
	}
	n, began := 0, cpuSeconds(b)
	for b.Loop() {
		want := event.All
		want.Threads = 1
		st, err := s.Scan(context.Background(), want)
		for err == nil {
			var batch event.Batch
			if batch, err = st.Next(context.Background()); err == nil {
				n += batch.Len()
				batch.Release()
			}
		}
		if !errors.Is(err, io.EOF) {
			b.Fatal(err)
		}
		if err := st.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(n)/1e6/(cpuSeconds(b)-began), "Mevents/CPU-s")
}

func cpuSeconds(b *testing.B) float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
