//go:build amd64 || arm64

package metal

import (
	"context"
	"errors"
	"fmt"
	"unsafe"

	"github.com/ebitengine/purego/objc"

	"github.com/evq-project/evq/accel"
	"github.com/evq-project/evq/accel/scatter"
)

// A batch holds enough that starting it costs little beside its work.
const (
	batchBytes  = 64 << 20
	batchEvents = 4 << 20
)

// A buffer is memory that the processor and the graphics hardware share: nothing is copied there and back.
type buffer struct {
	id   objc.ID
	p    unsafe.Pointer
	size int
}

// kernel counts one batch after another.
type kernel struct {
	*hardware
	planner              *scatter.Planner
	width                int // bytes of a count
	params               []uint32
	pipelines            []objc.ID
	limit                scatter.Limit
	counts, events, runs buffer
}

func newKernel(h *hardware, g accel.Grid) *kernel {
	params := scatter.ParamsOf(g)
	k := &kernel{hardware: h, planner: scatter.NewPlanner(g), width: 1, params: params.Words(), pipelines: []objc.ID{h.scatter},
		limit: scatter.Limit{Counts: batchBytes, Events: batchEvents}}
	if params.Clips() {
		k.pipelines = append(k.pipelines, h.clip) // an encoder runs one after the other
	}
	return k
}

func newTableKernel(h *hardware, t accel.Table) *kernel {
	return &kernel{hardware: h, planner: scatter.NewTablePlanner(t), width: 4, params: scatter.TableParamsOf(t).Words(),
		pipelines: []objc.ID{h.count}, limit: scatter.Limit{Counts: batchBytes / 4, Events: batchEvents}}
}

var errMemory = errors.New("Metal gives no more memory") //nolint:staticcheck,revive // a name

// Scatter counts batch after batch. Errors of the device are accel.ErrFailed.
func (k *kernel) Scatter(ctx context.Context, job accel.Job, dst []uint8) (off int64, err error) {
	counts := len(dst) / k.width
	if len(dst)%k.width != 0 {
		counts = -1 // no number of windows has that many
	}
	if err := k.planner.Start(job, counts); err != nil {
		return 0, err
	}
	for {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		b, more := k.planner.Next(k.limit)
		if !more {
			return off, nil
		}
		if err := k.reserve(b); err != nil {
			k.release()
			if b.Windows == 1 {
				return 0, fmt.Errorf("metal: %w: window %d: %w; use shorter windows, fewer bins or --device cpu", accel.ErrFailed, b.Window, err)
			}
			k.limit = scatter.Limit{Counts: b.Counts / 2, Events: b.Events / 2}
			continue
		}
		n, err := k.batch(ctx, b, dst[:b.Counts*k.width])
		if err != nil {
			return 0, err
		}
		off, dst = off+n, dst[b.Counts*k.width:]
		k.planner.Advance(b)
	}
}

// batch packs, counts and copies one batch.
func (k *kernel) batch(ctx context.Context, b scatter.Batch, dst []uint8) (off int64, err error) {
	if b.Events == 0 {
		clear(dst)
		return 0, nil
	}
	events := unsafe.Slice((*uint32)(k.events.p), b.Events)
	runs := unsafe.Slice((*scatter.Run)(k.runs.p), b.Runs)
	_, n, off, err := k.planner.Pack(ctx, b, events, runs)
	if err != nil {
		return 0, err
	}
	counts := unsafe.Slice((*uint8)(k.counts.p), len(dst))
	clear(counts)
	if n > 0 {
		if err := k.run(n); err != nil {
			return 0, err
		}
	}
	copy(dst, counts)
	return off, nil
}

// size3 is MTLSize.
type size3 struct{ width, height, depth uint }

// run counts the runs, clips, and waits.
func (k *kernel) run(nRuns int) (err error) {
	k.pooled(func() {
		commands := k.queue.Send(selector("commandBuffer"))
		encoder := commands.Send(selector("computeCommandEncoder"))
		if encoder == 0 {
			err = fmt.Errorf("metal: %w: no command encoder", accel.ErrFailed)
			return
		}
		for i, b := range []buffer{k.counts, k.events, k.runs} {
			encoder.Send(selector("setBuffer:offset:atIndex:"), b.id, uint(0), uint(i))
		}
		encoder.Send(selector("setBytes:length:atIndex:"), unsafe.Pointer(&k.params[0]), uint(4*len(k.params)), uint(3))
		for _, pipeline := range k.pipelines {
			encoder.Send(selector("setComputePipelineState:"), pipeline)
			encoder.Send(selector("dispatchThreadgroups:threadsPerThreadgroup:"), size3{uint(nRuns), 1, 1}, size3{scatter.Threads, 1, 1})
		}
		encoder.Send(selector("endEncoding"))
		commands.Send(selector("commit"))
		commands.Send(selector("waitUntilCompleted"))
		if failure := commands.Send(selector("error")); failure != 0 {
			err = fmt.Errorf("metal: %w: %s", accel.ErrFailed, reason(failure))
		}
	})
	return err
}

// reserve makes room for a batch; what is there stays there if it is large enough.
func (k *kernel) reserve(b scatter.Batch) error {
	for _, r := range []struct {
		buffer *buffer
		n      int
	}{{&k.counts, (b.Counts*k.width + 3) &^ 3}, {&k.events, 4 * b.Events}, {&k.runs, int(unsafe.Sizeof(scatter.Run{})) * b.Runs}} {
		if r.n <= r.buffer.size {
			continue
		}
		k.free(r.buffer)
		const shared = 0
		id := k.device.Send(selector("newBufferWithLength:options:"), uint(r.n), uint(shared))
		if id == 0 {
			return fmt.Errorf("%w: %d bytes", errMemory, r.n)
		}
		*r.buffer = buffer{id, objc.Send[unsafe.Pointer](id, selector("contents")), r.n}
	}
	return nil
}

func (k *kernel) free(b *buffer) {
	if b.id != 0 {
		b.id.Send(selector("release"))
	}
	*b = buffer{}
}

func (k *kernel) release() {
	for _, b := range []*buffer{&k.counts, &k.events, &k.runs} {
		k.free(b)
	}
}

// Close gives the buffers back.
func (k *kernel) Close() error {
	k.release()
	return nil
}
