package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"github.com/evq-project/evq/accel"
	"github.com/evq-project/evq/accel/check"
	"github.com/evq-project/evq/accel/cpu"
	"github.com/evq-project/evq/accel/devices"
	"github.com/evq-project/evq/io/event"
)

func (a *app) accelCommand() *cobra.Command {
	verbs := []*cobra.Command{a.accelCheckCommand()}
	cmd := &cobra.Command{
		Use:     "accel",
		Short:   "Hold graphics hardware to the processor",
		Example: `  evq accel check`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			return unknown("part of accel", args[0], verbNames(verbs))
		},
	}
	cmd.AddCommand(verbs...)
	return cmd
}

// An accelCheck is the flags of accel check.
type accelCheck struct {
	app               *app
	device            string
	events            int64
	size              event.Geometry
	windows, rounds   int
	reference, python string
	asJSON            bool
}

func (a *app) accelCheckCommand() *cobra.Command {
	c := &accelCheck{app: a, events: 5_100_000, size: event.Geometry{Width: 1280, Height: 720}}
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Count on a device and on the processor: are the bytes the same, and how long does each stage take",
		Long: `Check makes sparse events (128 windows), dense ones (12) and dense ones of which one in a hundred lies on one pixel,
and counts them on the device and on the processor: stacked histograms that wrap and that saturate, at half and at full
resolution, and event frames. It compares the sha256 of all counts and prints, for each, the time of every stage by the
device's own clock; what the device's memory must move at least, and how many times as long as that clearing, counting
and clipping took; the time with both copies; the time with the counts left on the device; and the processor's on one
thread. On a device it takes less than five minutes.

Without a device it prints SKIP and the reason, and that is no failure; counts that differ are one.

--reference runs a Python script with the data in a folder, such as docs/bench/rvt_cuda.py, which measures RVT's own
class, in the folder RVT_DIR, with torch on the same hardware.`,
		Example: `  evq accel check
  evq accel check --device cuda:1 --json
  evq accel check --reference docs/bench/rvt_cuda.py --python venv/bin/python`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.run(cmd.Context()) },
	}
	deviceFlag(cmd, &c.device)
	f := cmd.Flags()
	valueFlag(cmd, &c.events, parseCount, "events", "5.1M", "`N` events of each kind")
	valueFlag(cmd, &c.size, parseSize, "size", "1280x720", "sensor size `WxH` in pixels")
	f.IntVar(&c.windows, "windows", 128, "cut the sparse events into `N` windows, and the dense ones into a tenth of them")
	f.IntVar(&c.rounds, "rounds", 3, "take the best of `N` rounds")
	f.StringVar(&c.reference, "reference", "", "measure a Python `SCRIPT` on the same data")
	f.StringVar(&c.python, "python", "python3", "the Python, `PATH`, that runs the script")
	f.BoolVar(&c.asJSON, "json", false, "print JSON")
	return cmd
}

// errDevicesDiffer is the failure of a check.
var errDevicesDiffer = errors.New("the device does not count what the processor counts; do not use it, and report this with the table")

func (c *accelCheck) run(ctx context.Context) error {
	if c.windows < 1 || c.windows > 1<<16 || c.rounds < 1 || c.events < 1 || c.events > math.MaxInt32 {
		return usage("--events, --rounds and --windows are numbers from 1 on, and at most 65536 windows and 2^31-1 events")
	}
	if c.device == cpu.Device.Name() {
		return usage("--device names what is held to the processor: cuda, cuda:1 or metal, not %s", c.device)
	}
	d, err := c.pick()
	if errors.Is(err, accel.ErrUnavailable) {
		return c.skip(err)
	}
	if err != nil {
		return err
	}
	o := check.Options{Events: int(c.events), Width: c.size.Width, Height: c.size.Height, Sparse: c.windows,
		Dense: max(c.windows*12/128, 1), Rounds: c.rounds, Progress: func(what string) { c.app.log.Info("counting", "what", what) }}
	if c.reference != "" {
		o.Reference = func(data check.Data) []check.Peer { return c.peer(ctx, data) }
	}
	rep, err := check.Run(ctx, d, cpu.Device, o)
	if err != nil {
		return err
	}
	if c.asJSON {
		err = printJSON(c.app.out, newAccelReport(rep))
	} else {
		err = printAccelReport(c.app.out, rep)
	}
	if err == nil && !rep.Equal() {
		err = errDevicesDiffer
	}
	return err
}

// pick returns the device that was named, or else the first there is beside the processor.
func (c *accelCheck) pick() (accel.Device, error) {
	if c.device != "" && c.device != accel.Auto {
		return accel.Pick(devices.All, c.device)
	}
	var errs []error
	for _, d := range devices.All {
		if d.Name() == cpu.Device.Name() {
			continue
		}
		found, err := accel.Pick(devices.All, d.Name())
		if err == nil {
			return found, nil
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}

// skip says why there is nothing to check.
func (c *accelCheck) skip(why error) error {
	if c.asJSON {
		return printJSON(c.app.out, accelReport{Device: c.device, Skipped: why.Error()})
	}
	_, err := fmt.Fprintf(c.app.out, "SKIP: %s\n", strings.ReplaceAll(why.Error(), "\n", "\nSKIP: "))
	return err
}
