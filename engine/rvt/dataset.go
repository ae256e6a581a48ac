package rvt

import (
	"context"
	"errors"
	"os"
	"runtime"
	"sync"

	"github.com/evq-project/evq/engine"
)

// DatasetOptions say how the sequences of a data set are run.
type DatasetOptions struct {
	Jobs     int            // sequences at a time; 0 = one for each four threads
	Splits   []Split        // none = all
	DryRun   bool           // Plan instead of Sequence
	Progress func(Progress) // called from one goroutine at a time
	Done     func(Outcome)  // called as each sequence ends, before its Progress, likewise; not for those that are NotRun
}

// Progress says how far a data set is.
type Progress struct {
	Sequences, Total  int   // done, whatever became of them, and all
	Events            int64 // read
	Bytes, TotalBytes int64 // of the recordings: a measure of what is left to do
}

// Status is what became of a sequence.
type Status string

// The ends of a sequence.
const (
	Made     Status = "made"     // with DryRun: to be made
	Existing Status = "existing" // whole already
	Skipped  Status = "skipped"  // nothing to make; Result.Skipped says why
	Failed   Status = "failed"   // Err says why
	NotRun   Status = "not run"  // the run was cancelled before
)

// An Outcome is one sequence of a Summary.
type Outcome struct {
	Found
	Status Status
	Result Result
}

// A Summary is what became of a data set. The sums are over the sequences that were made or existed, those of
// labels over all that were filtered.
type Summary struct {
	Sequences                         []Outcome // in the order of Find
	Count                             map[Status]int
	Labels                            Tally
	Events, Windows, Empty, OffSensor int64
}

// minMemory is the least that a sequence gets, in bytes: what is read, sorted and encoded at a time.
const minMemory = 128 << 20

// Sequences runs Sequence on every sequence that Find finds in the folder in, several at a time under one budget
// of memory and threads: each gets its share. o.Labels and o.Out are set for each, and o.Split where it is
// nil. A sequence that fails does not stop the others: its outcome says why. The error is that of the run
// as a whole: nothing found, wrong options, or ctx cancelled, after which a later call goes on where this ended.
func Sequences(ctx context.Context, in, out string, o Options, d DatasetOptions) (Summary, error) {
	labels := o.sources() == 0
	found, err := Find(in, out, o.Dataset, labels, d.Splits...)
	if err != nil {
		return Summary{}, err
	}
	check := o
	if check.Out = out; labels {
		check.Labels = labelsSuffix
	}
	if _, err := check.complete(in); err != nil {
		return Summary{}, err
	}
	r := &datasetRun{options: o, dataset: d, outcomes: make([]Outcome, len(found))}
	jobs := r.share(len(found))
	for i, f := range found {
		r.outcomes[i] = Outcome{Found: f, Status: NotRun}
		r.progress.TotalBytes += sizeOf(f.Recording)
	}
	r.progress.Total = len(found)
	err = parallel(ctx, len(found), jobs, func() func(int) error {
		return func(i int) error { r.one(ctx, &r.outcomes[i]); return nil }
	})
	return r.summary(), err
}

// A datasetRun is one call of Sequences.
type datasetRun struct {
	options  Options
	dataset  DatasetOptions
	outcomes []Outcome

	mu       sync.Mutex
	progress Progress
}

// share divides the budget, and returns how many sequences run at a time.
func (r *datasetRun) share(sequences int) int {
	threads, memory := r.options.Threads, r.options.Memory
	if threads <= 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	if memory <= 0 {
		memory = engine.DefaultMemory
	}
	jobs := r.dataset.Jobs
	if jobs <= 0 {
		jobs = max(1, min(threads/4, int(memory/minMemory)))
	}
	jobs = max(1, min(jobs, sequences))
	r.options.Threads, r.options.Memory = max(1, threads/jobs), memory/int64(jobs)
	return jobs
}

// one runs one sequence.
func (r *datasetRun) one(ctx context.Context, to *Outcome) {
	o := r.options
	o.Out = to.Out
	if to.Labels != "" {
		o.Labels = to.Labels
	}
	if o.Split == nil {
		o.Split = to.Split
	}
	size := sizeOf(to.Recording)
	var events, bytes int64
	o.Progress = func(done, total int64) {
		now := int64(0)
		if total > 0 {
			now = int64(float64(size) * min(float64(done)/float64(total), 1))
		}
		r.report(done-events, max(now-bytes, 0))
		events, bytes = done, max(now, bytes)
	}
	run := Sequence
	if r.dataset.DryRun {
		run = Plan
	}
	if to.Err == nil {
		to.Result, to.Err = run(ctx, to.Recording, o)
	}
	switch {
	case errors.Is(to.Err, context.Canceled) && ctx.Err() != nil:
		to.Err = nil // Status stays NotRun
		return
	case to.Err != nil:
		to.Status = Failed
	case to.Result.Skipped != "":
		to.Status = Skipped
	case to.Result.Existing:
		to.Status = Existing
	default:
		to.Status = Made
	}
	r.done(*to, size-bytes)
}

// done tells what became of a sequence, of which so many bytes were not reported.
func (r *datasetRun) done(o Outcome, bytes int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.dataset.Done != nil {
		r.dataset.Done(o)
	}
	r.add(1, 0, bytes)
}

// report adds to the progress and tells it.
func (r *datasetRun) report(events, bytes int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.add(0, events, bytes)
}

// add is report under the lock.
func (r *datasetRun) add(sequences int, events, bytes int64) {
	r.progress.Sequences += sequences
	r.progress.Events += events
	r.progress.Bytes += bytes
	if r.dataset.Progress != nil {
		r.dataset.Progress(r.progress)
	}
}

func (r *datasetRun) summary() Summary {
	s := Summary{Sequences: r.outcomes, Count: map[Status]int{}}
	for _, o := range r.outcomes {
		s.Count[o.Status]++
		if o.Result.Labels != nil {
			s.Labels.add(*o.Result.Labels)
		}
		if o.Status == Made || o.Status == Existing {
			s.Events += o.Result.Events
			s.Windows += max(o.Result.Windows, 0)
			s.Empty += o.Result.Empty
			s.OffSensor += o.Result.OffSensor
		}
	}
	return s
}

func (t *Tally) add(o Tally) {
	t.Read += o.Read
	t.Class += o.Class
	t.Empty += o.Empty
	t.Size += o.Size
	t.Wide += o.Wide
	t.Kept += o.Kept
}

func sizeOf(path string) int64 {
	st, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return st.Size()
}
