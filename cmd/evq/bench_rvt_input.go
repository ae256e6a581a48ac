package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/evq-project/evq/engine"
	"github.com/evq-project/evq/engine/rvt"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/npy"
	"github.com/evq-project/evq/io/synth"
)

// benchSizes are the generated scenes.
var benchSizes = []struct {
	name     string
	events   int64
	duration time.Duration
}{
	{"small", 20_000_000, 10 * time.Second},
	{"medium", 100_000_000, 20 * time.Second},
	{"full", 540_000_000, 60 * time.Second},
}

// A scene is the flags that say how much is generated.
type benchScene struct {
	cmd      *cobra.Command
	size     string
	events   int64
	duration time.Duration
}

func (s *benchScene) flags(cmd *cobra.Command) {
	s.cmd = cmd
	var names []string
	for _, b := range benchSizes {
		names = append(names, b.name)
	}
	enumFlag(cmd, &s.size, "size", "small", "the generated scene, `SIZE`: 20, 100 or 540 million events in 10, 20 or 60 s", names...)
	valueFlag(cmd, &s.events, parseCount, "events", "", "generate `N` events instead, such as 5M")
	valueFlag(cmd, &s.duration, parseSeconds, "seconds", "", "within `S` seconds instead")
}

// chosen fills in what the size says, and names the choice.
func (s *benchScene) chosen() (name string, err error) {
	name = s.size
	for _, b := range benchSizes {
		if b.name != s.size {
			continue
		}
		if s.events == 0 {
			s.events = b.events
		}
		if s.duration == 0 {
			s.duration = b.duration
		}
		if s.events != b.events || s.duration != b.duration {
			name = fmt.Sprintf("%d_%dms", s.events, s.duration.Milliseconds())
		}
	}
	if s.duration < 100*time.Millisecond {
		return "", usage("--seconds %v; there are windows from 0.1 on", s.duration.Seconds())
	}
	return name, nil
}

// A rvtInput is the flags that say what is measured on.
type rvtInput struct {
	scene    benchScene
	in, ends string
}

// A benchInput is what is measured on.
type benchInput struct {
	path, grid, title string
	ends              []int64
	events            int64 // -1 where the recording does not tell
}

func (i *rvtInput) flags(cmd *cobra.Command) {
	i.scene.flags(cmd)
	f := cmd.Flags()
	f.StringVar(&i.in, "in", "", "measure on your own recording `REC` of 1280x720 pixels")
	f.StringVar(&i.ends, "ends", "", "with --in: windows end at the times of `GRID.npy`, such as RVT's timestamps_us.npy")
	_ = cmd.MarkFlagFilename("ends", "npy")
}

func (i *rvtInput) check() error {
	switch {
	case (i.in == "") != (i.ends == ""):
		return usage("--in REC and --ends GRID.npy go together")
	case i.in != "" && (i.scene.cmd.Flags().Changed("size") || i.scene.events > 0 || i.scene.duration > 0):
		return usage("--in is your own recording; --size, --events and --seconds are for a generated one")
	}
	return nil
}

// make finds or generates the input, and reads it once, so that every program finds it in the file cache.
func (i *rvtInput) make(ctx context.Context, m *measuring) (benchInput, error) {
	in := benchInput{path: i.in, grid: i.ends, title: filepath.Base(i.in)}
	if i.in == "" {
		name, err := i.scene.chosen()
		if err != nil {
			return in, err
		}
		by := "evq"
		if m.peers.generates() {
			by = "peers"
		}
		in.title = fmt.Sprintf("a generated scene (%s, by %s)", name, by)
		in.path = filepath.Join(m.out, "inputs", fmt.Sprintf("gen4_%s_%s_td.h5", name, by))
		in.grid = in.path + ".grid.npy"
		if err := m.generateScene(ctx, in, i.scene); err != nil {
			return in, err
		}
	}
	var err error
	if in.ends, err = npy.Grid(in.grid); err != nil {
		return in, err
	}
	if len(in.ends) == 0 {
		return in, fmt.Errorf("%s: it holds no time at which a window ends", in.grid)
	}
	rec, err := engine.Open(in.path, append(m.app.running(), likeRVT(event.Geometry{}))...)
	if err != nil {
		return in, err
	}
	in.events = rec.Info().Events
	if g := rec.Geometry(); g.Known() && g != rvt.Gen4.Geometry() {
		err = fmt.Errorf("%s: it has %v, and bench rvt measures gen4's %v", in.path, g, rvt.Gen4.Geometry())
	}
	return in, errors.Join(err, rec.Close())
}

// generateScene makes a scene that is not there yet, and its grid after it.
func (m *measuring) generateScene(ctx context.Context, in benchInput, s benchScene) error {
	if _, err := os.Stat(in.grid); err == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(in.path), 0o777); err != nil {
		return err
	}
	m.app.say("making " + in.path)
	if m.peers.generates() {
		half := in.path + ".half"
		err := m.peers.generate(ctx, half, s)
		if err == nil {
			err = errors.Join(os.Rename(half, in.path), os.Rename(half+".grid.npy", in.grid))
		}
		if err != nil {
			_, _ = os.Remove(half), os.Remove(half+".grid.npy")
		}
		return err
	}
	if err := synthesise(ctx, in.path, s, 1, m.app.running()...); err != nil {
		return err
	}
	ends, err := rvt.Every(50*time.Millisecond, s.duration.Microseconds()/50_000*50_000)
	if err != nil {
		return err
	}
	return writeEnds(in.grid, ends)
}

// synthesise writes a scene of evq's own generator.
func synthesise(ctx context.Context, path string, s benchScene, seed uint64, opts ...engine.Option) error {
	src, err := synth.New(synth.Options{Seed: seed, Events: s.events, Duration: s.duration, Size: rvt.Gen4.Geometry()})
	if err != nil {
		return usageError{err}
	}
	_, err = engine.Convert(ctx, src, path, append(opts, engine.Format("hdf5"), engine.Force())...)
	return err
}

func writeEnds(path string, ends []int64) error { return npy.WriteInts(path, ends, npy.Force()) }

// arguments are the same for the peers' generator.
func (s *benchScene) arguments() []string {
	return []string{"--events", strconv.FormatInt(s.events, 10), "--seconds", strconv.FormatFloat(s.duration.Seconds(), 'f', -1, 64)}
}
