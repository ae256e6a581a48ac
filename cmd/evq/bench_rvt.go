package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/evq-project/evq/engine"
	"github.com/evq-project/evq/engine/rvt"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/format"
)

// A measuring is the flags that bench rvt and bench dataset share.
type measuring struct {
	app     *app
	repeats int
	timeout time.Duration
	out     string
	replot  string
	peers   peers
}

func (m *measuring) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.IntVar(&m.repeats, "repeats", 3, "time everything `N` times, in turn")
	m.timeout = 1800 * time.Second
	valueFlag(cmd, &m.timeout, parseSeconds, "timeout", "1800", "end a process after `S` seconds")
	f.StringVarP(&m.out, "output", "o", "bench-results", "write results and generated inputs below `DIR`")
	f.StringVar(&m.replot, "replot", "", "draw the charts and the table of `RESULTS.json` again, and run nothing")
	m.peers.flags(cmd)
}

func (m *measuring) check() error {
	switch {
	case m.repeats < 1:
		return usage("--repeats is a number from 1 on, not %d", m.repeats)
	case m.out == "":
		return usage("-o names a folder")
	}
	return os.MkdirAll(m.out, 0o777)
}

// publish prints and writes the results.
func (m *measuring) publish(r *benchResults) error {
	path, err := r.write(m.out)
	if err != nil {
		return err
	}
	if err := m.draw(r); err != nil {
		return err
	}
	m.app.say("wrote " + path)
	return nil
}

// draw writes the table and the charts.
func (m *measuring) draw(r *benchResults) error {
	charts, err := r.draw(m.out)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprint(m.app.out, r.markdown()); err != nil {
		return err
	}
	for _, c := range charts {
		m.app.say("wrote " + c)
	}
	return nil
}

// again draws results that were measured before.
func (m *measuring) again() error {
	r, err := readBenchResults(m.replot)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(m.out, 0o777); err != nil {
		return err
	}
	return m.draw(r)
}

// A rvtBench is the flags of bench rvt.
type rvtBench struct {
	measuring
	input        rvtInput
	ref          string
	device       string
	plainWindows int
}

func (a *app) benchRVTCommand() *cobra.Command {
	b := &rvtBench{measuring: measuring{app: a}}
	cmd := &cobra.Command{
		Use:   "rvt",
		Short: "Time making RVT's frames, beside RVT's own code and evlib",
		Long: `Rvt times how a recording becomes RVT's frames, 20 planes for each window of 50 ms:

  native   straight from the recording
  convert  converted to the Parquet store first, then from that
  store    from a store that is there already
  plain    the plan as it is written, a hash group without any rule, on the first windows alone
  few      native, on the same windows as plain

and beside them, where they are given, RVT's own code (--rvt) and evlib's (--python). The input is generated, or
your own with --in and --ends.

Each program runs once first, and its frames are compared whole: with --ref, else with RVT's, else with native's. If one
element of evq's differs, nothing is timed; what differs of the others is counted and printed. Then each runs --repeats
times, in turn, in a process of its own, which reports its wall time without start-up, its CPU time, and its own peak
of resident memory.

Peers are run through peers.py in the folder that EVQ_BENCH_PEERS names (default ` + defaultPeers + `).`,
		Example: `  evq bench rvt --size small
  evq bench rvt --size medium --repeats 5 --rvt ../RVT --python venv
  evq bench rvt --in drive_td.h5 --ends timestamps_us.npy --ref event_representations_ds2_nearest.h5
  evq bench rvt --replot bench-results/rvt.json`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return b.run(cmd.Context()) },
	}
	b.measuring.flags(cmd)
	b.input.flags(cmd)
	f := cmd.Flags()
	f.StringVar(&b.ref, "ref", "", "compare with the frames of `REP.h5`")
	f.IntVar(&b.plainWindows, "plain-windows", 20, "run the plain plan on the first `N` windows; 0 leaves it out")
	deviceFlag(cmd, &b.device)
	return cmd
}

func (b *rvtBench) run(ctx context.Context) error {
	if b.replot != "" {
		return b.again()
	}
	if b.plainWindows < 0 {
		return usage("--plain-windows is a number from 0 on, not %d", b.plainWindows)
	}
	if err := b.input.check(); err != nil {
		return err
	}
	if err := b.check(); err != nil {
		return err
	}
	in, err := b.input.make(ctx, &b.measuring)
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp(b.out, "run-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }()
	c := &contest{app: b.app, work: work, timeout: b.timeout, repeats: b.repeats}
	c.results = newBenchResults("rvt", in.title, b.repeats, in.events, int64(len(in.ends)))
	if err := b.enter(ctx, c, in); err != nil {
		return err
	}
	if err := b.compare(ctx, c); err != nil {
		return err
	}
	if err := c.time(ctx); err != nil {
		return err
	}
	return b.publish(c.results)
}

// enter lists what takes part.
func (b *rvtBench) enter(ctx context.Context, c *contest, in benchInput) error {
	store := filepath.Join(c.work, "store.parquet")
	if err := storeOf(ctx, in.path, store, b.app.running()...); err != nil {
		return err
	}
	few := in.ends[:min(b.plainWindows, len(in.ends))]
	fewPath := filepath.Join(c.work, "few.npy")
	if err := writeEnds(fewPath, few); err != nil {
		return err
	}
	for _, v := range rvtVariants {
		recording, grid, windows := in.path, in.grid, int64(len(in.ends))
		if v.store {
			recording = store
		}
		if v.few {
			grid, windows = fewPath, int64(len(few))
		}
		if windows == 0 {
			continue
		}
		p := program{name: v.name, title: v.title, own: true, windows: windows, frames: findFrames}
		p.command = func(out string) ([]string, []string, error) {
			argv, err := b.app.itself("bench", "rvt-body", v.name, "--in", recording, "--ends", grid, "-o", out, "--device", b.device)
			return argv, nil, err
		}
		c.programs = append(c.programs, p)
	}
	more, err := b.peers.programs(ctx, in)
	c.programs = append(c.programs, more...)
	return err
}

// compare runs everything once. evq's elements must be the reference's.
func (b *rvtBench) compare(ctx context.Context, c *contest) error {
	whole, few := b.ref, ""
	c.results.Reference = b.ref
	for _, p := range c.inOrder() {
		row := c.row(p)
		frames, err := c.once(ctx, p)
		if err != nil {
			if p.own || ctx.Err() != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
			row.Error = err.Error()
			b.app.say(p.name + ": FAILED: " + row.Error)
			continue
		}
		ref := &whole
		if p.windows != c.results.Windows {
			ref = &few
		}
		if *ref == "" {
			*ref = frames // it stays until the end
			row.Check = "the reference"
			if ref == &few {
				row.Check = "the reference of plain"
			} else {
				c.results.Reference = p.name
			}
			continue
		}
		if err := c.judge(ctx, p, *ref, frames); err != nil {
			return err
		}
	}
	return nil
}

// checkText says in a few words how frames differ.
func checkText(d rvt.Difference) string {
	switch {
	case d.Equal():
		return "equal"
	case d.Elements > 0:
		return fmt.Sprintf("%s of %s elements differ", grouped(d.Elements), grouped(d.Compared))
	}
	return d.String()
}

// running are the options of the parent's own queries.
func (a *app) running() []engine.Option {
	return []engine.Option{engine.Threads(a.threads), engine.Memory(a.memory), engine.Logger(a.log)}
}

// likeRVT are the policies that RVT reads with.
func likeRVT(size event.Geometry) engine.Option {
	return engine.Policies(format.Policy{OnUnsorted: format.Clamp, OnOffSensor: format.Keep, Size: size})
}

// storeOf converts a recording as studies of RVT need it.
func storeOf(ctx context.Context, in, out string, opts ...engine.Option) (err error) {
	opts = append(opts, likeRVT(event.Geometry{}), engine.Format(""))
	rec, err := engine.Open(in, opts...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rec.Close()) }()
	_, err = engine.Convert(ctx, rec, out, append(opts, engine.Format("parquet"), engine.Force())...)
	return err
}
