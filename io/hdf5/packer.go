//go:build hdf5 && cgo

package hdf5

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/evq-project/evq/io/atomicfile"
	"github.com/evq-project/evq/io/hdf5/chunk"
	"gonum.org/v1/hdf5"
)

// A target is a file on its way: it has its temporary name until finish.
type target struct {
	path    string
	h       *hdf5.File
	sets    []int64
	written int64 // bytes of chunks
}

// createTarget starts the file and lets fill make its datasets, whose numbers it returns.
func createTarget(path string, force bool, fill func(h *hdf5.File) ([]int64, error)) (*target, error) {
	if err := atomicfile.Check(path, force); err != nil {
		return nil, err
	}
	t := &target{path: path}
	err := locked(func() error {
		h, err := hdf5.CreateFile(atomicfile.TempName(path), hdf5.F_ACC_TRUNC)
		if err != nil {
			return failed("creating")
		}
		t.h = h
		t.sets, err = fill(h)
		return err
	})
	if err != nil {
		t.abort()
		return nil, t.wrap(err)
	}
	return t, nil
}

func (t *target) wrap(err error) error {
	return fmt.Errorf("hdf5: writing %s, %d bytes so far: %w", t.path, t.written, err)
}

// finish adds what fill writes, then closes the file, makes it durable and gives it its name.
func (t *target) finish(fill func(h *hdf5.File) error) error {
	err := locked(func() error {
		err := fill(t.h)
		return errors.Join(err, t.close())
	})
	if err == nil {
		err = makeDurable(atomicfile.TempName(t.path))
	}
	if err != nil {
		t.abort()
		return t.wrap(err)
	}
	return atomicfile.Rename(atomicfile.TempName(t.path), t.path)
}

// close closes the datasets and the file. Call it inside the library.
func (t *target) close() error {
	if t.h == nil {
		return nil
	}
	var errs []error
	for _, id := range t.sets {
		errs = append(errs, closeDataset(id))
	}
	errs = append(errs, flush(t.h.ID()))
	if err := t.h.Close(); err != nil {
		errs = append(errs, failed("closing"))
	}
	t.h = nil
	return errors.Join(errs...)
}

// abort closes the file and removes it.
func (t *target) abort() {
	_ = locked(t.close)
	_ = os.Remove(atomicfile.TempName(t.path))
}

// makeDurable syncs a closed file.
func makeDurable(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// A job is one chunk on its way into the file.
type job struct {
	set     int    // index of the dataset
	row     int64  // the chunk's first row
	raw     []byte // the chunk's elements
	out     []byte // its stored bytes; none where it is all zero
	sum     uint32 // of its elements, where encoders sum
	release func()
	err     error
	done    chan struct{}
}

// A packer compresses chunks with several goroutines and writes them in the order they came. It serves one
// goroutine, which writes; at most two chunks a goroutine are under way.
type packer struct {
	target  *target
	encoder func(set int) *chunk.Encoder // makes a goroutine's encoder for a dataset
	work    chan *job
	pending []*job
	free    []*job
	most    int
	written func(row int64, sum uint32) // called for each chunk, in order; may be nil
	dense   bool                        // chunks of zeros are written too: in a recording, one that is missing is damage
	err     error
}

func newPacker(t *target, threads int, dense bool, encoder func(set int) *chunk.Encoder) *packer {
	p := &packer{target: t, encoder: encoder, dense: dense, work: make(chan *job, 2*threads), most: 2 * threads}
	for range threads {
		go p.encode(p.work)
	}
	return p
}

// encode compresses chunks until there are no more.
func (p *packer) encode(work <-chan *job) {
	encoders := make([]*chunk.Encoder, len(p.target.sets))
	for j := range work {
		e := encoders[j.set]
		if e == nil {
			e = p.encoder(j.set)
			encoders[j.set] = e
		}
		j.out = j.out[:0]
		if p.dense || !chunk.AllZero(j.raw) {
			j.out, j.err = e.Encode(j.out, j.raw)
			j.sum = e.Sum()
		} else if e.Sums {
			j.sum = sumOfZeros(len(j.raw))
		}
		j.raw = nil
		if j.release != nil {
			j.release()
		}
		j.done <- struct{}{}
	}
}

// add queues one chunk; release is called when raw is no longer needed, by any goroutine.
func (p *packer) add(ctx context.Context, set int, row int64, raw []byte, release func()) error {
	for p.err == nil && len(p.pending) >= p.most {
		p.writeOldest()
	}
	if p.err == nil {
		p.err = ctx.Err() // the chunk is missing: the file must not be completed
	}
	if p.err != nil {
		if release != nil {
			release()
		}
		return p.err
	}
	var j *job
	if n := len(p.free); n > 0 {
		j, p.free = p.free[n-1], p.free[:n-1]
	} else {
		j = &job{done: make(chan struct{}, 1)}
	}
	j.set, j.row, j.raw, j.release, j.err = set, row, raw, release, nil
	p.pending = append(p.pending, j)
	p.work <- j
	return nil
}

// writeOldest waits for the oldest chunk and writes it.
func (p *packer) writeOldest() {
	j := p.pending[0]
	copy(p.pending, p.pending[1:])
	p.pending = p.pending[:len(p.pending)-1]
	<-j.done
	err := j.err
	if err == nil && p.err == nil && len(j.out) > 0 {
		if err = locked(func() error { return writeChunk(p.target.sets[j.set], j.row, j.out) }); err == nil {
			p.target.written += int64(len(j.out))
		}
	}
	if err != nil && p.err == nil {
		p.err = p.target.wrap(err)
	}
	if p.written != nil {
		p.written(j.row, j.sum)
	}
	p.free = append(p.free, j)
}

// stop writes what is queued and ends the goroutines.
func (p *packer) stop() error {
	for len(p.pending) > 0 {
		p.writeOldest()
	}
	if p.work != nil {
		close(p.work)
		p.work = nil
	}
	return p.err
}
