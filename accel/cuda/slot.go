package cuda

import (
	"errors"
	"unsafe"

	"github.com/evq-project/evq/accel/scatter"
)

// A slot is what one batch in work needs: a stream, pinned memory to pack into, and memory on the device. What is packed
// goes there in one copy: the runs, and after them the events.
type slot struct {
	stream uintptr
	host   unsafe.Pointer // pinned
	packed uintptr        // on the device, of the same size
	size   int            // of both, in bytes
	counts uintptr        // on the device
	cells  int            // its size
	to     []uint8        // where the counts will go
}

const runBytes = int(unsafe.Sizeof(scatter.Run{}))

// input returns the bytes of a batch's runs and events.
func input(b scatter.Batch) int { return b.Runs*runBytes + 4*b.Events }

// need returns the bytes that a batch needs on the device.
func need(b scatter.Batch) int { return input(b) + b.Counts }

// reserve makes room for a batch; what is there stays there if it is large enough.
func (s *slot) reserve(d *driver, b scatter.Batch) error {
	if n := input(b); n > s.size {
		if err := s.freeInput(d); err != nil {
			return err
		}
		n = (n + n/4 + 1<<16 - 1) &^ (1<<16 - 1) // so that a somewhat larger batch fits as well
		if err := d.call(cuMemHostAlloc, uintptr(unsafe.Pointer(&s.host)), uintptr(n), 0); err != nil {
			return err
		}
		if err := d.call(cuMemAlloc, uintptr(unsafe.Pointer(&s.packed)), uintptr(n)); err != nil {
			return err
		}
		s.size = n
	}
	if b.Counts > s.cells {
		if err := s.freeCounts(d); err != nil {
			return err
		}
		n := (b.Counts + 3) &^ 3 // the kernel counts in words
		if err := d.call(cuMemAlloc, uintptr(unsafe.Pointer(&s.counts)), uintptr(n)); err != nil {
			return err
		}
		s.cells = n
	}
	return nil
}

// release gives the memory back.
func (s *slot) release(d *driver) error { return errors.Join(s.freeInput(d), s.freeCounts(d)) }

func (s *slot) freeInput(d *driver) (err error) {
	if s.host != nil {
		err = d.call(cuMemFreeHost, uintptr(s.host))
	}
	if s.packed != 0 {
		err = errors.Join(err, d.call(cuMemFree, s.packed))
	}
	s.host, s.packed, s.size = nil, 0, 0
	return err
}

func (s *slot) freeCounts(d *driver) (err error) {
	if s.counts != 0 {
		err = d.call(cuMemFree, s.counts)
	}
	s.counts, s.cells = 0, 0
	return err
}

// room returns the pinned memory of a batch's events and runs.
func (s *slot) room(b scatter.Batch) ([]uint32, []scatter.Run) {
	runs := unsafe.Slice((*scatter.Run)(s.host), b.Runs)
	events := unsafe.Slice((*uint32)(unsafe.Add(s.host, b.Runs*runBytes)), b.Events)
	return events, runs
}

// arguments is what a launch reads: the kernels' arguments, and where each is. It lies where Go does not move it.
type arguments struct {
	counts, events, runs uint64
	params               scatter.Params
	at                   [8]unsafe.Pointer
}

// begin queues a packed batch: clear, copy, count, clip.
func (s *slot) begin(k *kernel, b scatter.Batch, nEvents, nRuns int) error {
	if err := k.call(cuMemsetD8Async, s.counts, 0, uintptr(b.Counts), s.stream); err != nil {
		return err
	}
	if nRuns == 0 {
		return nil
	}
	offset := b.Runs * runBytes
	if err := k.call(cuMemcpyHtoDAsync, s.packed, uintptr(s.host), uintptr(offset+4*nEvents), s.stream); err != nil {
		return err
	}
	a := k.args
	a.counts, a.events, a.runs, a.params = uint64(s.counts), uint64(s.packed)+uint64(offset), uint64(s.packed), k.params
	p := &a.params
	a.at = [8]unsafe.Pointer{unsafe.Pointer(&a.counts), unsafe.Pointer(&a.events), unsafe.Pointer(&a.runs),
		unsafe.Pointer(&p.Columns), unsafe.Pointer(&p.HalfSize), unsafe.Pointer(&p.PlaneStep), unsafe.Pointer(&p.Wrap), unsafe.Pointer(&p.Cutoff)}
	if err := s.launch(k, k.scatter, nRuns); err != nil || !p.Clips() {
		return err
	}
	a.at[6] = unsafe.Pointer(&p.Cutoff) // evq_clip knows nothing of wrapping
	return s.launch(k, k.clip, nRuns)
}

// launch queues a kernel with a block of threads for each run. The arguments are read before it returns.
func (s *slot) launch(k *kernel, function uintptr, nRuns int) error {
	return k.call(cuLaunchKernel, function, uintptr(nRuns), 1, 1, scatter.Threads, 1, 1, 0, s.stream, uintptr(unsafe.Pointer(&k.args.at)), 0)
}

// collect waits for a batch and copies its counts straight to where they belong. Memory that is not pinned makes the
// driver wait in the copy; a pinned buffer between would cost a second copy, which takes as long as counting on the
// processor. The other slot's stream goes on meanwhile.
func (s *slot) collect(d *driver) error {
	to := s.to
	s.to = nil
	if err := d.call(cuMemcpyDtoHAsync, uintptr(unsafe.Pointer(&to[0])), s.counts, uintptr(len(to)), s.stream); err != nil {
		return err
	}
	return d.call(cuStreamSynchronize, s.stream)
}
