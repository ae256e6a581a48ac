//go:build hdf5 && cgo

package hdf5

import (
	"context"
	"errors"
	"hash/crc32"
	"io"
	"os"
	"testing"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/hdf5/chunk"
)

// BenchmarkLimits takes the way of a recording to frames apart, stage by stage, each alone on one goroutine: what the
// memory allows (copy, clear), what the codecs allow (inflate, deflate), and what stands around them. MB/CPU-s counts the
// bytes that a stage makes, or reads where it makes none; ns/event is CPU time. The recording is the one that
// EVQ_BENCH_RECORDING names, else a scene of evq's.
func BenchmarkLimits(b *testing.B) {
	path := os.Getenv("EVQ_BENCH_RECORDING")
	if path == "" {
		path = written(b, eventtest.Scene(1, 4<<20, event.Geometry{Width: 1280, Height: 720}), "")
	}
	limitsOfMemory(b)
	chunks := storedChunks(b, path)
	b.Run("read", func(b *testing.B) { benchChunks(b, chunks, (*benchColumn).read) })
	b.Run("inflate", func(b *testing.B) { benchChunks(b, chunks, (*benchColumn).inflate) })
	b.Run("inflate-and-put-together", func(b *testing.B) { benchDecoder(b, path) })
	frames, events := framesOf(b, path)
	for name, codec := range map[string]chunk.Codec{"deflate-zstd": chunk.CodecZstd, "deflate-lz4": chunk.CodecLZ4} {
		e := &chunk.Encoder{Filters: []chunk.Filter{{ID: chunk.Blosc}}, Codec: codec, TypeSize: 1, Zstd: newCZstd()}
		var out []byte
		b.Run(name, func(b *testing.B) {
			benchStage(b, func() (int, int) {
				n := 0
				for _, frame := range frames {
					var err error
					if out, err = e.Encode(out, frame); err != nil {
						b.Fatal(err)
					}
					n += len(frame)
				}
				return n, events
			})
		})
	}
	table := crc32.MakeTable(crc32.Castagnoli)
	b.Run("sum", func(b *testing.B) {
		benchStage(b, func() (n, _ int) {
			for _, frame := range frames {
				_ = crc32.Checksum(frame, table)
				n += len(frame)
			}
			return n, events
		})
	})
}

// benchStage measures a stage, which tells the bytes and the events it was for.
func benchStage(b *testing.B, stage func() (bytes, events int)) {
	bytes, events := 0, 0
	began := cpuSeconds(b)
	for b.Loop() {
		n, m := stage()
		bytes, events = bytes+n, events+m
	}
	took := cpuSeconds(b) - began
	b.ReportMetric(float64(bytes)/1e6/took, "MB/CPU-s")
	if events > 0 {
		b.ReportMetric(took*1e9/float64(events), "ns/event")
		b.ReportMetric(float64(bytes)/float64(events), "B/event")
	}
}

// limitsOfMemory is far from every cache, and in the one of second level.
func limitsOfMemory(b *testing.B) {
	for name, n := range map[string]int{"memory": 256 << 20, "cache": 128 << 10} {
		from, to := make([]byte, n), make([]byte, n)
		for i := range from { // no page is met for the first time later
			from[i], to[i] = byte(i), byte(i)
		}
		times := 256 << 20 / n
		b.Run("copy-"+name, func(b *testing.B) {
			benchStage(b, func() (int, int) {
				for range times {
					copy(to, from)
				}
				return times * n, 0
			})
		})
		b.Run("clear-"+name, func(b *testing.B) {
			benchStage(b, func() (int, int) {
				for range times {
					clear(to)
				}
				return times * n, 0
			})
		})
	}
}

// A benchColumn is the stored chunks of one column.
type benchColumn struct {
	reader *reader
	starts []int64
	stored [][]byte
	masks  []uint32
}

// storedChunks reads the first chunks of every column.
func storedChunks(b *testing.B, path string) (columns []*benchColumn) {
	const most = 128 // of a column
	f, err := openFile(path)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = f.Close() })
	for i, d := range f.columns {
		r, err := newReader(d, newCZstd())
		if err != nil || r.dec == nil || f.table {
			b.Skipf("%s: columns of their own, in chunks, are measured: %v", path, err)
		}
		r.apart = (column{elem: d.elem}).merges(i)
		c := &benchColumn{reader: r}
		for at := int64(0); at+d.chunk <= d.rows && len(c.stored) < most; at += d.chunk {
			stored, mask, err := d.readChunk(at, nil, 1<<30)
			if err != nil {
				b.Fatal(err)
			}
			c.starts, c.stored, c.masks = append(c.starts, at), append(c.stored, stored), append(c.masks, mask)
		}
		columns = append(columns, c)
	}
	return columns
}

func (c *benchColumn) read() (bytes int, err error) {
	for _, at := range c.starts {
		stored, _, err := c.reader.readChunk(at, c.reader.stored, 1<<30)
		if err != nil {
			return 0, err
		}
		c.reader.stored, bytes = stored, bytes+len(stored)
	}
	return bytes, nil
}

func (c *benchColumn) inflate() (bytes int, err error) {
	whole := int(c.reader.chunk) * c.reader.width()
	c.reader.raw = sized(c.reader.raw, whole)
	for i, stored := range c.stored {
		if err := c.reader.decode(whole, stored, c.masks[i]); err != nil {
			return 0, err
		}
	}
	return whole * len(c.stored), nil
}

func benchChunks(b *testing.B, columns []*benchColumn, do func(*benchColumn) (int, error)) {
	events := len(columns[colT].stored) * int(columns[colT].reader.chunk)
	benchStage(b, func() (int, int) {
		bytes := 0
		for _, c := range columns {
			n, err := do(c)
			if err != nil {
				b.Fatal(err)
			}
			bytes += n
		}
		return bytes, events
	})
}

// someEvents decodes a recording with one worker until it has seen n events.
func someEvents(b *testing.B, path string, n int, see func(*event.Buffer)) (seen int) {
	f, err := openFile(path)
	if err != nil {
		b.Fatal(err)
	}
	want := event.All
	want.Threads = 1
	d, err := newDecoder(context.Background(), f, want, format.Policy{}.WithDefaults(), polarityAuto, &event.Report{})
	if err != nil {
		b.Fatal(err)
	}
	for seen < n {
		buf, err := d.Next(context.Background())
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			b.Fatal(err)
		}
		seen += buf.Len()
		see(buf)
		buf.Release()
	}
	if err := d.Close(); err != nil {
		b.Fatal(err)
	}
	return seen
}

func benchDecoder(b *testing.B, path string) {
	const bytesOfEvent = 8 + 2 + 2 + 1
	benchStage(b, func() (int, int) {
		n := someEvents(b, path, 16<<20, func(*event.Buffer) {})
		return n * bytesOfEvent, n
	})
}

// framesOf counts events as RVT does, in windows of 50 ms and 10 bins at half size.
func framesOf(b *testing.B, path string) (frames [][]byte, events int) {
	const columns, rows, bins, window, most = 640, 360, 10, 50_000, 20
	var first int64
	someEvents(b, path, 8<<20, func(buf *event.Buffer) {
		if len(frames) == 0 {
			first = buf.T[0]
		}
		for i, t := range buf.T {
			w := int(max(t-first, 0) / window)
			x, y := int(buf.X[i]), int(buf.Y[i])
			if w >= most {
				return
			}
			events++
			if x&y&1 == 0 || x >= 2*columns || y >= 2*rows {
				continue
			}
			for len(frames) <= w {
				frames = append(frames, make([]byte, 2*bins*rows*columns))
			}
			bin := int(max(t-first, 0)%window) * bins / window
			frames[w][((int(buf.P[i])*bins+bin)*rows+y/2)*columns+x/2]++
		}
	})
	return frames, events
}
