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
	bytes  int            // its size
	to     []uint8        // where the counts will go
	clock  *clock         // nil unless the stages are timed
	done   uintptr        // an event that a stream comes by when it needs the memory no more, or 0
	lent   bool           // such a stream may be on its way
}

const runBytes = int(unsafe.Sizeof(scatter.Run{}))

// input returns the bytes of a batch's runs and events.
func input(b scatter.Batch) int { return b.Runs*runBytes + 4*b.Events }

// reserve makes room for a batch and its counts; what is there stays there if it is large enough.
func (s *slot) reserve(d *driver, b scatter.Batch, counts int) error {
	if err := s.reserveInput(d, b); err != nil || counts <= s.bytes {
		return err
	}
	if err := s.freeCounts(d); err != nil {
		return err
	}
	n := (counts + 3) &^ 3 // the kernel counts in words
	if err := d.call(cuMemAlloc, uintptr(unsafe.Pointer(&s.counts)), uintptr(n)); err != nil {
		return err
	}
	s.bytes = n
	return nil
}

// lend says that work on another stream needs the slot's memory.
func (s *slot) lend(d *driver, stream uintptr) error {
	if s.done == 0 {
		if err := d.call(cuEventCreate, uintptr(unsafe.Pointer(&s.done)), 0); err != nil {
			return err
		}
	}
	if err := d.call(cuEventRecord, s.done, stream); err != nil {
		return err
	}
	s.lent = true
	return nil
}

// idle waits for the stream that the memory was lent to.
func (s *slot) idle(d *driver) error {
	if !s.lent {
		return nil
	}
	s.lent = false
	return d.call(cuEventSynchronize, s.done)
}

// reserveInput makes room for what is packed, when nobody needs what was packed before.
func (s *slot) reserveInput(d *driver, b scatter.Batch) error {
	if err := s.idle(d); err != nil {
		return err
	}
	n := input(b)
	if n <= s.size {
		return nil
	}
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
	return nil
}

// release gives the memory back.
func (s *slot) release(d *driver) error {
	return errors.Join(s.idle(d), s.freeInput(d), s.freeCounts(d))
}

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
	s.counts, s.bytes = 0, 0
	return err
}

// room returns the pinned memory of a batch's events and runs.
func (s *slot) room(b scatter.Batch) ([]uint32, []scatter.Run) {
	runs := unsafe.Slice((*scatter.Run)(s.host), b.Runs)
	events := unsafe.Slice((*uint32)(unsafe.Add(s.host, b.Runs*runBytes)), b.Events)
	return events, runs
}

// A target is where the counts of a batch are made on the device, and the stream that does it.
type target struct {
	counts uintptr
	bytes  int
	stream uintptr
}

// begin queues a packed batch: clear, copy, count, clip.
func (s *slot) begin(k *kernel, b scatter.Batch, nEvents, nRuns int, to target) error {
	if err := s.mark(k.driver, ""); err != nil {
		return err
	}
	if err := k.call(cuMemsetD8Async, to.counts, 0, uintptr(to.bytes), to.stream); err != nil {
		return err
	}
	if err := s.mark(k.driver, "clear"); err != nil || nRuns == 0 {
		return err
	}
	offset := b.Runs * runBytes
	if err := k.call(cuMemcpyHtoDAsync, s.packed, uintptr(s.host), uintptr(offset+4*nEvents), to.stream); err != nil {
		return err
	}
	if err := s.mark(k.driver, "upload"); err != nil {
		return err
	}
	k.args.counts, k.args.events, k.args.runs = uint64(to.counts), uint64(s.packed)+uint64(offset), uint64(s.packed)
	for _, st := range k.program.steps {
		if err := k.launch(st, nRuns, to.stream); err != nil {
			return err
		}
		if err := s.mark(k.driver, st.stage); err != nil {
			return err
		}
	}
	return nil
}

// arguments is what a launch reads: the functions' arguments, and where each is. It lies where Go does not move it.
type arguments struct {
	counts, events, runs uint64
	words                [8]uint32
	at                   [11]unsafe.Pointer
}

func newArguments() *arguments {
	a := new(arguments)
	a.at = [11]unsafe.Pointer{unsafe.Pointer(&a.counts), unsafe.Pointer(&a.events), unsafe.Pointer(&a.runs)}
	for i := range a.words {
		a.at[3+i] = unsafe.Pointer(&a.words[i])
	}
	return a
}

// launch queues a function with a block of threads for each run. The arguments are read before it returns.
func (k *kernel) launch(st step, nRuns int, stream uintptr) error {
	copy(k.args.words[:], st.words)
	return k.call(cuLaunchKernel, st.function, uintptr(nRuns), 1, 1, scatter.Threads, 1, 1, 0, stream, uintptr(unsafe.Pointer(&k.args.at)), 0)
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
	if err := s.mark(d, "download"); err != nil {
		return err
	}
	return d.call(cuStreamSynchronize, s.stream)
}
