package rvt

import (
	"context"
	"fmt"
	"hash/crc32"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/evq-project/evq/io/hdf5"
	"github.com/evq-project/evq/io/tensor"
)

// castagnoli is the polynomial that processors have an instruction for.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// A noted output remembers the layout of the blocks that it gets.
type noted struct {
	tensor.Output
	layout tensor.Layout
}

// Open starts the output below.
func (n *noted) Open(l ...tensor.Layout) (tensor.Sink, error) {
	n.layout = l[0]
	return n.Output.Open(l...)
}

// verifyFrames reads frames back and compares their checksums.
func verifyFrames(ctx context.Context, path string, sums []uint32, threads int) error {
	blocks, err := hdf5.OpenBlocks(path, framesData)
	if err != nil {
		return fmt.Errorf("rvt: reading back: %w", err)
	}
	defer func() { _ = blocks.Close() }()
	if blocks.Len() != len(sums) {
		return fmt.Errorf("rvt: %s: %w: it holds %d frames instead of %d", path, ErrDamaged, blocks.Len(), len(sums))
	}
	size := blocks.Layout().Bytes()
	return parallel(ctx, len(sums), threads, func() func(int) error {
		b := make([]byte, size)
		return func(i int) error {
			if err := blocks.Read(i, b); err != nil {
				return fmt.Errorf("rvt: reading back: %w: %w", ErrDamaged, err)
			}
			if sum := crc32.Checksum(b, castagnoli); sum != sums[i] {
				return fmt.Errorf("rvt: %s: %w: frame %d has the checksum %08x instead of %08x", path, ErrDamaged, i, sum, sums[i])
			}
			return nil
		}
	})
}

// parallel calls a worker for 0 to n-1, on several goroutines with a worker of their own, and returns the error
// of the lowest number that failed. After an error no further number is begun.
func parallel(ctx context.Context, n, threads int, worker func() func(i int) error) error {
	if threads <= 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	var next atomic.Int64
	var failed atomic.Bool
	var mu sync.Mutex
	at, first := n, error(nil)
	var wg sync.WaitGroup
	for range min(threads, n) {
		wg.Go(func() {
			do := worker()
			for !failed.Load() && ctx.Err() == nil {
				i := int(next.Add(1) - 1)
				if i >= n {
					return
				}
				if err := do(i); err != nil {
					failed.Store(true)
					mu.Lock()
					if i < at {
						at, first = i, err
					}
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	if first != nil {
		return first
	}
	return ctx.Err()
}

// Verify compares every file of a sequence's folder with what its manifest says: sizes, checksums, and the
// elements of each frame. The error is ErrDamaged and names the first that differs; a folder without a manifest
// is one as well. threads bounds the goroutines; 0 is one per CPU.
func Verify(ctx context.Context, out string, threads int) error {
	m, err := ReadManifest(out)
	if err != nil {
		return err
	}
	if len(m.Outputs) == 0 {
		return fmt.Errorf("rvt: %s: %w: it has no manifest", out, ErrDamaged)
	}
	for _, e := range m.Outputs {
		if err := e.verify(ctx, out, threads); err != nil {
			return err
		}
	}
	return nil
}

func (e *Output) verify(ctx context.Context, out string, threads int) error {
	if err := e.whole(out); err != nil {
		return err
	}
	return verifyFrames(ctx, tree{out: out}.path(e.Frames.Path), e.CRC32C, threads)
}
