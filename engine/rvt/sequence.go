package rvt

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/evq-project/evq/engine"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/hdf5"
	"github.com/evq-project/evq/io/npy"
)

// A Result says what became of one sequence.
type Result struct {
	Frames    string   // the file of the frames, "" where none was made
	Skipped   string   // why there is nothing to make, such as that no label is left; then no folder was made
	Existing  bool     // the tree was whole already, made with the same options
	Shape     []int    // of all frames
	Events    int64    // read
	OffSensor int64    // events that frames left out because they lie off the sensor, once for each window
	Windows   int64    // frames
	Empty     int64    // of those, without an event
	Labels    *Tally   // what the filters did; nil without labels
	Moments   int      // times with labels that have a frame
	Warnings  []string // in full sentences
	Report    *event.Report
}

// ErrSize reports a recording of another size than the data set's.
var ErrSize = errors.New("another sensor; --size says which size is right")

// Sequence makes RVT's tree of the recording rec, of any format, in the folder o.Out:
//
//	event_representations_v2/NAME/event_representations.h5  frames of shape (N, block...), as Name and hdf5.Create have them
//	                                                       (event_representations_ds2_nearest.h5 at half size)
//	event_representations_v2/NAME/timestamps_us.npy         int64 (N), when the windows end
//	event_representations_v2/NAME/objframe_idx_2_repr_idx.npy  int64, the window of each time that has labels
//	labels_v2/labels.npz, labels_v2/timestamps_us.npy       the labels, as WriteLabels has them
//	manifest.json                                           see Manifest
//
// Without labels there is neither labels_v2 nor an index. All files get their names when all are whole, the
// manifest last; a run that was killed leaves nothing that a later one would take for whole. What is whole and was
// made alike is left as it is; what was made otherwise is ErrDiffers. Elements equal those that RVT makes of the
// same recording. A sequence of whose labels none is left is no error: Result.Skipped says so.
func Sequence(ctx context.Context, rec string, o Options) (Result, error) {
	return run(ctx, rec, o, (*sequence).make)
}

// Plan tells what Sequence would do, and writes nothing. It reads no events: with Every, Result.Windows is -1.
func Plan(ctx context.Context, rec string, o Options) (Result, error) {
	return run(ctx, rec, o, (*sequence).foresee)
}

// run finds when windows end, and does the rest with them where there is one.
func run(ctx context.Context, rec string, o Options, rest func(*sequence, context.Context) (Result, error)) (Result, error) {
	o, err := o.complete(rec)
	if err != nil {
		return Result{}, err
	}
	s := &sequence{Options: o, rec: rec, tree: newTree(o)}
	if s.input, err = readInput(rec, recordingSample); err != nil {
		return Result{}, fmt.Errorf("rvt: %w", err)
	}
	err = s.schedule()
	if errors.Is(err, ErrNoLabels) {
		return Result{Skipped: err.Error(), Labels: s.tally}, nil
	}
	if err != nil {
		return Result{Labels: s.tally}, err
	}
	r, err := rest(s, ctx)
	r.Labels = s.tally
	return r, err
}

// A sequence is one run of Sequence.
type sequence struct {
	Options
	tree   tree
	rec    string
	input  Input
	grid   Grid // without labels only the ends
	gridOf *Input
	tally  *Tally
}

// foresee compares what is wanted with what is there.
func (s *sequence) foresee(context.Context) (Result, error) {
	rec, err := s.open()
	if err != nil {
		return Result{}, err
	}
	if err := rec.Close(); err != nil {
		return Result{}, fmt.Errorf("rvt: %w", err)
	}
	r := Result{Frames: s.tree.path(s.tree.frames), Windows: int64(len(s.grid.Ends)), Labels: s.tally, Moments: len(s.grid.Times)}
	if s.Every > 0 {
		r.Windows = -1
		return r, nil
	}
	if s.Force {
		return r, nil
	}
	known, err := ReadManifest(s.Out)
	if err != nil {
		return r, err
	}
	before := known.Outputs[s.tree.frames]
	if before == nil {
		return r, nil
	}
	if how := s.wanted().differs(before); how != "" {
		return r, fmt.Errorf("rvt: %s: %s: %w", r.Frames, how, ErrDiffers)
	}
	if before.whole(s.Out) == nil {
		return before.result(s.Out, true), nil
	}
	return r, nil
}

// wanted is the output as far as it is known before it is made.
func (s *sequence) wanted() *Output {
	return &Output{Version: s.Version, Recording: s.input, Grid: s.gridOf, Options: s.settings(), Ends: digest(s.grid.Ends), Labels: s.tally}
}

// make writes what is not there yet.
func (s *sequence) make(ctx context.Context) (Result, error) {
	if s.Every > 0 {
		if err := s.everySo(ctx); err != nil {
			return Result{}, err
		}
	}
	out, err := openOutput(s.tree, s.Force)
	if err != nil {
		return Result{}, err
	}
	defer out.close()
	e := s.wanted()
	before, err := out.find(e, s.Force)
	if err != nil {
		return Result{}, err
	}
	if before != nil {
		if s.Verify {
			err = before.verify(ctx, s.Out, s.Threads)
		}
		return before.result(s.Out, true), err
	}
	if err := s.represent(ctx, out, e); err != nil {
		return Result{}, err
	}
	if err := s.rest(out, e); err != nil {
		return Result{}, err
	}
	if err := ctx.Err(); err != nil {
		return Result{}, err
	}
	if err := out.publish(e, s.Force); err != nil {
		return Result{}, err
	}
	return e.result(s.Out, false), nil
}

// represent makes the frames in the staging folder.
func (s *sequence) represent(ctx context.Context, out *output, e *Output) error {
	path, err := out.stage(s.tree.frames)
	if err != nil {
		return err
	}
	rec, err := s.open()
	if err != nil {
		return err
	}
	defer func() { _ = rec.Close() }()
	seen := &watched{Source: rec.Source}
	windows := engine.Ends(s.grid.Ends, s.Span)
	if s.Count > 0 {
		windows = engine.EndsCount(s.grid.Ends, s.Count)
	}
	var stats engine.Stats
	var sums []uint32
	to := &noted{Output: hdf5.Create(path, hdf5.Compression(s.Compression), hdf5.Threads(s.Threads), hdf5.Sums(&sums))}
	err = engine.Scan(seen).Window(windows).Represent(s.Representation).WriteTo(ctx, to, s.running(engine.Collected(&stats))...)
	if err != nil {
		return fmt.Errorf("rvt: %s: %w", s.rec, err)
	}
	if len(sums) != len(s.grid.Ends) {
		return fmt.Errorf("rvt: %s: %d frames for %d windows", s.rec, len(sums), len(s.grid.Ends))
	}
	if s.Verify {
		if err := verifyFrames(ctx, path, sums, s.Threads); err != nil {
			return err
		}
	}
	st, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("rvt: %w", err)
	}
	e.Frames, e.CRC32C = File{Path: s.tree.frames, Size: st.Size()}, sums
	e.Shape, e.DType = append([]int{len(sums)}, to.layout.Shape...), to.layout.DType.String()
	e.Report, e.Empty, e.OffSensor = stats.Report, stats.Empty, stats.OffSensor
	e.Warnings = seen.beyond(s.grid.Ends, s.Every > 0)
	return nil
}

// rest makes the small files in the staging folder.
func (s *sequence) rest(out *output, e *Output) error {
	files := []string{s.tree.times()}
	for _, f := range []string{s.tree.times(), s.tree.labels()} {
		if _, err := out.stage(f); err != nil {
			return err
		}
	}
	var err error
	if s.tally == nil {
		err = npy.WriteInts(out.staging.path(s.tree.times()), s.grid.Ends)
	} else {
		files = append(files, s.tree.index(), s.tree.labels(), s.tree.labelTimes())
		err = errors.Join(WriteGrid(filepath.Dir(out.staging.path(s.tree.times())), s.grid, false),
			WriteLabels(out.staging.path(labelsFolder), s.grid.Frames, false))
		e.Moments = len(s.grid.Times)
	}
	if err != nil {
		return err
	}
	for _, f := range files {
		now, err := readFile(out.staging.path(f), f)
		if err != nil {
			return err
		}
		e.Files = append(e.Files, now)
	}
	return nil
}

// running are the options that a query runs with.
func (s *sequence) running(more ...engine.Option) []engine.Option {
	opts := append(slices.Clone(more), engine.Threads(s.Threads), engine.Memory(s.Memory), engine.Logger(s.Logger))
	if s.Device != "" {
		opts = append(opts, engine.Device(s.Device))
	}
	if s.Progress != nil {
		opts = append(opts, engine.Progress(s.Progress))
	}
	return opts
}

// open opens the recording as RVT reads it, on the data set's sensor.
func (s *sequence) open() (*engine.Recording, error) {
	open := func(size event.Geometry) (*engine.Recording, error) {
		p := s.Decode
		if size.Known() {
			p.Size = size
		}
		opts := s.running(engine.Policies(p))
		if s.Format != "" {
			opts = append(opts, engine.Format(s.Format))
		}
		rec, err := engine.Open(s.rec, opts...)
		if err != nil {
			return nil, fmt.Errorf("rvt: %w", err)
		}
		return rec, nil
	}
	rec, err := open(s.Size)
	if err != nil || s.Size.Known() || s.Decode.Size.Known() {
		return rec, err
	}
	want := s.Dataset.Geometry()
	switch g := rec.Geometry(); {
	case g == want:
		return rec, nil
	case g.Known():
		_ = rec.Close()
		return nil, fmt.Errorf("rvt: %s: %v, and %v has %v: %w", s.rec, g, s.Dataset, want, ErrSize)
	}
	_ = rec.Close()
	return open(want)
}

// result is what Sequence tells of an output.
func (e *Output) result(out string, existing bool) Result {
	r := Result{Frames: tree{out: out}.path(e.Frames.Path), Existing: existing, Shape: e.Shape, OffSensor: e.OffSensor,
		Windows: int64(len(e.CRC32C)), Empty: e.Empty, Labels: e.Labels, Moments: e.Moments, Warnings: e.Warnings, Report: e.Report}
	if e.Report != nil {
		r.Events = e.Report.Events
	}
	return r
}
