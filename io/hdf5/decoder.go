//go:build hdf5 && cgo

package hdf5

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"sync"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/format"
)

const (
	taskRows   = 64 << 10  // the least rows of a task: small chunks are taken together
	bufferRows = 128 << 10 // the most events of a buffer
)

// A decoder decodes runs of rows with several goroutines and yields them in order. A run covers whole chunks
// of every column; large ones leave their goroutine in several buffers, so what is held is bounded by the
// chunks in work and three buffers a goroutine.
type decoder struct {
	file   *file
	rep    *event.Report
	cancel context.CancelFunc
	ended  func() error // why the goroutines stopped early, if they did
	queue  chan *task   // in file order
	now    *task
	edges  *triggerReader // until all triggers were handed on
	wg     sync.WaitGroup
	bad    badChunks
	err    error
}

// A task is a run of rows [lo, hi). Its goroutine sends the parts in order and closes the channel.
type task struct {
	lo, hi int64
	parts  chan part
}

type part struct {
	buf      *event.Buffer
	remap    remap
	negative int64
	bad      *chunkError // in place of events
	err      error
}

func newDecoder(ctx context.Context, f *file, want event.Request, p format.Policy, rule polarityRule, rep *event.Report) (format.Decoder, error) {
	ctx, cancel := context.WithCancel(ctx)
	d := &decoder{file: f, rep: rep, cancel: cancel, ended: ctx.Err, edges: newTriggerReader(f.triggers, want.Triggers)}
	if p.Salvage {
		d.edges.salvage(&d.bad)
	}
	cols := wanted(want.Columns)
	span := taskSpan(f, cols)
	threads := want.Threads
	if threads <= 0 {
		threads = p.Threads
	}
	if err := checkChunks(f, cols, p.Memory); err != nil {
		cancel()
		_ = f.Close()
		return nil, fmt.Errorf("hdf5: %s: %w", f.path, err)
	}
	threads = bounded(threads, f, cols, span, p.Memory)
	pool := event.NewPool(int(min(span, bufferRows, max(f.rows, 1))))
	workers := make([]*worker, threads)
	for i := range workers {
		var err error
		if workers[i], err = newWorker(f, cols, rule, pool, p.Salvage); err != nil {
			cancel()
			_ = f.Close()
			return nil, fmt.Errorf("hdf5: %s: %w", f.path, err)
		}
	}
	d.queue = make(chan *task, 2*threads)
	work := make(chan *task)
	for _, w := range workers {
		d.wg.Go(func() {
			for t := range work {
				w.run(ctx, t)
			}
		})
	}
	d.wg.Go(func() { d.dispatch(ctx, work, span) })
	return d, nil
}

// dispatch hands out the recording in tasks, in file order, to the workers and to Next.
func (d *decoder) dispatch(ctx context.Context, work chan<- *task, span int64) {
	defer close(work)
	defer close(d.queue)
	for lo := int64(0); lo < d.file.rows; lo += span {
		t := &task{lo: lo, hi: min(lo+span, d.file.rows), parts: make(chan part, 1)}
		select {
		case d.queue <- t:
		case <-ctx.Done():
			return
		}
		select {
		case work <- t:
		case <-ctx.Done():
			return
		}
	}
}

// wanted says which columns are read; t always is.
func wanted(c event.Columns) [numColumns]bool {
	return [numColumns]bool{true, c.Has(event.ColX), c.Has(event.ColY), c.Has(event.ColP)}
}

// taskSpan returns the rows of a task: the largest chunk, or several of them where it is small.
func taskSpan(f *file, cols [numColumns]bool) int64 {
	var largest int64
	for i, c := range f.columns {
		if cols[i] {
			largest = max(largest, c.chunk)
		}
	}
	if largest == 0 {
		return taskRows
	}
	return (taskRows + largest - 1) / largest * largest
}

// checkChunks refuses chunks of which even one of each column is far more than memory allows: a small file may
// declare them.
func checkChunks(f *file, cols [numColumns]bool, memory int64) error {
	const always = 64 << 20 // what real files have stays readable, however little memory is given
	var one int64
	for i, c := range f.columns {
		if cols[i] && (i == colT || !f.table) {
			one += c.chunk * int64(c.width())
		}
	}
	if one > max(always, 2*memory) {
		return fmt.Errorf("one chunk of each column is %d MiB; raise --memory to %d MiB, or rewrite the file with smaller chunks (h5repack -l)",
			one>>20, 2*one>>20+1)
	}
	return nil
}

// bounded lowers the number of goroutines so that their chunks fit in memory, and to the work there is.
func bounded(threads int, f *file, cols [numColumns]bool, span, memory int64) int {
	var each int64
	for i, c := range f.columns {
		if cols[i] && (i == colT || !f.table) {
			each += 2 * max(c.chunk, taskRows) * int64(c.width())
		}
	}
	tasks := (f.rows + span - 1) / span
	return int(max(1, min(int64(threads), memory/each, tasks)))
}

// Next returns the next events in file order.
func (d *decoder) Next(ctx context.Context) (*event.Buffer, error) {
	for d.err == nil {
		if err := d.edges.send(ctx, d.rep); err != nil {
			if ctx.Err() != nil {
				return nil, err
			}
			d.err = located(d.file.path, err)
			break
		}
		if err := d.take(ctx); err != nil {
			d.err = err
			break
		}
		if d.now == nil {
			continue
		}
		select {
		case p, ok := <-d.now.parts:
			if !ok {
				d.now, d.err = nil, d.ended()
				continue
			}
			if p.err != nil {
				d.err = located(d.file.path, p.err)
				break
			}
			if p.bad != nil {
				d.bad.skip(p.bad, d.rep)
				continue
			}
			d.count(p)
			return p.buf, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return nil, d.err
}

// take makes the next task the current one where none is.
func (d *decoder) take(ctx context.Context) error {
	if d.now != nil {
		return nil
	}
	select {
	case t, ok := <-d.queue:
		if !ok {
			return cmp.Or(d.ended(), io.EOF)
		}
		d.now = t
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (d *decoder) count(p part) {
	p.remap.count(column{d.file.name(colP), d.file.columns[colP].elem}, d.rep)
	if p.negative > 0 {
		d.rep.Note("negative coordinates are read as 65535, which lies off every sensor.")
	}
}

// Close stops the goroutines, waits for them and closes the file.
func (d *decoder) Close() error {
	if d.file == nil {
		return nil
	}
	d.cancel()
	d.wg.Wait()
	err := d.file.Close()
	d.file = nil
	if d.err == nil {
		d.err = io.ErrClosedPipe
	}
	return err
}

// A worker decodes tasks; it keeps the memory of one chunk of each column.
type worker struct {
	file *file
	cols [numColumns]*view // nil where not wanted
	rule polarityRule
	pool *event.Pool
	skip bool // damaged chunks are passed over
}

func newWorker(f *file, cols [numColumns]bool, rule polarityRule, pool *event.Pool, skip bool) (*worker, error) {
	w := &worker{file: f, rule: rule, pool: pool, skip: skip}
	z := newCZstd()
	for i, c := range f.columns {
		if !cols[i] {
			continue
		}
		v := &view{column: column{f.name(i), c.elem}, from: c.at}
		if f.table && i > colT {
			v.reader = w.cols[colT].reader
		} else {
			var err error
			if v.reader, err = newReader(c, z); err != nil {
				return nil, fmt.Errorf("dataset %s: %w", f.name(i), err)
			}
			v.apart = v.merges(i) && v.elem.size == v.width()
			v.full = i != colP || c.limit > 0 // all OFF may well be left unwritten
		}
		w.cols[i] = v
	}
	return w, nil
}

// run decodes one task and sends it in buffers. The rows of a damaged chunk are left out of every column, so that
// events stay whole.
func (w *worker) run(ctx context.Context, t *task) {
	defer close(t.parts)
	for lo, hi := t.lo, t.hi; lo < t.hi; {
		buf := w.pool.Get()
		n := min(hi-lo, int64(buf.Cap()))
		p := part{buf: buf}
		p.err = w.fill(&p, lo, int(n))
		if bad := damageIn(p.err); bad != nil && w.skip {
			buf.Release()
			if hi = bad.from; lo < hi {
				continue // the rows before it alone
			}
			p, n = part{bad: bad}, min(bad.to, t.hi)-lo
		}
		hi = t.hi
		select {
		case t.parts <- p:
		case <-ctx.Done():
			return
		}
		if p.err != nil {
			return
		}
		lo += n
	}
}

// fill decodes n rows from row lo into the part's buffer.
func (w *worker) fill(p *part, lo int64, n int) error {
	p.buf.Resize(n)
	if w.file.table {
		if err := w.fillTogether(p, lo, n); err != nil {
			return err
		}
		w.drop(p.buf)
		return nil
	}
	for i, v := range w.cols {
		if v == nil {
			continue
		}
		for k := 0; k < n; {
			s, m, err := v.span(lo+int64(k), n-k)
			if err != nil {
				return inDataset(v.name, err)
			}
			if s.stride > 0 {
				err = w.merge(p, i, k, k+m, s, lo+int64(k))
			} else {
				err = w.convert(p, i, k, k+m, s.bytes, lo+int64(k))
			}
			if err != nil {
				return err
			}
			k += m
		}
	}
	w.drop(p.buf)
	return nil
}

// fillTogether decodes each chunk once for all columns.
func (w *worker) fillTogether(p *part, lo int64, n int) error {
	for k := 0; k < n; {
		raw, m, err := w.cols[colT].rows(lo+int64(k), n-k)
		if err != nil {
			return inDataset(w.file.place.columns[colT].dataset, err)
		}
		for i, v := range w.cols {
			if v == nil {
				continue
			}
			if err := w.convert(p, i, k, k+m, raw, lo+int64(k)); err != nil {
				return err
			}
		}
		k += m
	}
	return nil
}

// convert turns rows, the first of which is the at-th of the recording, into events [k, to) of one column.
func (w *worker) convert(p *part, col, k, to int, rows []byte, at int64) error {
	b, v := p.buf, w.cols[col]
	raw := v.pick(rows, to-k)
	if col == colT {
		return v.timesIn(w.file.unit, b.T[k:to], raw, w.file.offset, at)
	}
	c := v.column
	if c.elem.float {
		v.whole = sized(v.whole, 8*(to-k))
		if err := c.wholeNumbers(v.whole, raw, at); err != nil {
			return err
		}
		raw, c.elem = v.whole, elem{size: 8, signed: true}
	}
	var err error
	switch col {
	case colX:
		err = c.add(p, b.X[k:to], raw, at)
	case colY:
		err = c.add(p, b.Y[k:to], raw, at)
	case colP:
		var r remap
		r, err = c.polarities(b.P[k:to], raw, w.rule, at)
		p.remap.add(r)
	}
	return err
}

// drop empties the columns that nobody asked for.
func (w *worker) drop(b *event.Buffer) {
	if w.cols[colX] == nil {
		b.X = b.X[:0]
	}
	if w.cols[colY] == nil {
		b.Y = b.Y[:0]
	}
	if w.cols[colP] == nil {
		b.P = b.P[:0]
	}
}

func (c column) add(p *part, dst []uint16, raw []byte, at int64) error {
	n, err := c.coordinates(dst, raw, at)
	p.negative += n
	return err
}
