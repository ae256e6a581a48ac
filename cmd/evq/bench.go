package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/formats"
	"github.com/evq-project/evq/io/synth"
)

func (a *app) benchCommand() *cobra.Command {
	verbs := []*cobra.Command{a.generateCommand(), a.decodeCommand(), a.kernelCommand(), a.benchRVTCommand(), a.benchDatasetCommand(), a.benchBodyCommand()}
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Make inputs for measurements, and measure",
		Example: `  evq bench generate -o drive.raw --events 2M --seconds 2 --size 1280x720 --seed 1
  evq bench decode drive.raw
  evq bench rvt --size small`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			return unknown("part of bench", args[0], verbNames(verbs))
		},
	}
	cmd.AddCommand(verbs...)
	return cmd
}

// A generation is the flags of bench generate.
type generation struct {
	app     *app
	scene   synth.Options
	writing writing
	out, to string
}

func (a *app) generateCommand() *cobra.Command {
	g := &generation{app: a}
	g.scene = synth.Options{Events: 2_000_000, Duration: 2 * time.Second, Size: event.Geometry{Width: 1280, Height: 720}, Seed: 1}
	cmd := &cobra.Command{
		Use:   "generate -o OUT",
		Short: "Make a recording of a synthetic driving scene",
		Long: `Generate draws moving edges, noise and hot pixels, two of which pass 256 counts in a 5 ms bin. The same flags give
the same events on every machine, in any format that evq writes.`,
		Example: `  evq bench generate -o drive.raw --events 2M --seconds 2 --size 1280x720 --seed 1
  evq bench generate -o big.parquet --events 100M --seconds 20`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return g.run(cmd.Context()) },
	}
	f := cmd.Flags()
	f.StringVarP(&g.out, "output", "o", "", "write to `OUT`")
	toFlag(cmd, &g.to)
	valueFlag(cmd, &g.scene.Events, parseCount, "events", "2M", "`N` events, such as 2M")
	valueFlag(cmd, &g.scene.Duration, parseSeconds, "seconds", "2", "within `S` seconds")
	valueFlag(cmd, &g.scene.Size, parseSize, "size", "1280x720", "sensor size `WxH` in pixels")
	f.Uint64Var(&g.scene.Seed, "seed", 1, "which scene, `N`")
	g.writing.flags(cmd)
	return cmd
}

// parseSeconds reads a number of seconds, or a duration with a unit.
func parseSeconds(s string) (time.Duration, error) {
	us, err := event.ParseMicros(s, "s")
	if err == nil && us < 1 {
		err = fmt.Errorf("%q is less than a microsecond", s)
	}
	return time.Duration(us) * time.Microsecond, err
}

func (g *generation) run(ctx context.Context) error {
	a := g.app
	if g.out == "" {
		return usage("bench generate needs -o OUT, such as -o drive.raw")
	}
	src, err := synth.New(g.scene)
	if err != nil {
		return usageError{err}
	}
	to, err := formats.ByExtension(g.out)
	if g.to != "" {
		to, err = formats.ByName(g.to)
	}
	if err == nil {
		err = g.writing.check(to, "")
	}
	if err != nil {
		return usageError{err}
	}
	m := a.newMeter()
	m.show("generate "+filepath.Base(g.out), src.Info(), "")
	defer m.stop()
	err = a.write(ctx, src, task{in: src.String(), out: g.out, to: to}, g.writing, m)
	return named(g.out, err)
}
