package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/evq-project/evq/engine/rvt"
)

// A program is one way to do the work, run as a process of its own.
type program struct {
	name, title string
	own         bool // evq's
	first       bool // its output is what others are compared with
	windows     int64
	whole       bool // time and memory are those of the process and its children, not what it prints
	// command returns what to run for an output below out, and what to add to the environment.
	command func(out string) (argv, env []string, err error)
	// frames finds what is compared below out.
	frames func(out string) (string, error)
}

// A contest runs programs in turn.
type contest struct {
	app      *app
	work     string
	timeout  time.Duration
	repeats  int
	programs []program
	results  *benchResults
}

// row is the program's in the results.
func (c *contest) row(p program) *benchRow {
	for i := range c.results.Rows {
		if c.results.Rows[i].Name == p.name {
			return c.results.Rows[i]
		}
	}
	r := &benchRow{Name: p.name, Title: p.title, Own: p.own, Windows: p.windows}
	c.results.Rows = append(c.results.Rows, r)
	return r
}

// inOrder are the programs with those before all others that the others are compared with. Rows keep their order.
func (c *contest) inOrder() []program {
	for _, p := range c.programs {
		c.row(p)
	}
	out := slices.Clone(c.programs)
	slices.SortStableFunc(out, func(a, b program) int {
		switch {
		case a.first == b.first:
			return 0
		case a.first:
			return -1
		}
		return 1
	})
	return out
}

func (c *contest) out(p program) string { return filepath.Join(c.work, "once_"+p.name) }

// once runs a program and returns where its frames lie.
func (c *contest) once(ctx context.Context, p program) (string, error) {
	if _, err := c.start(ctx, p, c.out(p)); err != nil {
		return "", err
	}
	return p.frames(c.out(p))
}

// clean removes what once made.
func (c *contest) clean(p program) error { return os.RemoveAll(c.out(p)) }

// judge compares what a program made with the reference, whole, notes how they differ, and removes it. A difference
// of evq's is an error; what differs of the others is only noted.
func (c *contest) judge(ctx context.Context, p program, reference, made string) error {
	d, err := rvt.Check(ctx, reference, made)
	if err != nil {
		return err
	}
	row := c.row(p)
	row.Check = checkText(d)
	c.app.say(p.name + ": " + row.Check)
	if p.own && !d.Equal() {
		return fmt.Errorf("%s differs from %s: %v; nothing was timed", p.name, c.results.Reference, d)
	}
	return c.clean(p)
}

// time runs every program that has not failed, in turn, over and over.
func (c *contest) time(ctx context.Context) error {
	for round := range c.repeats {
		for _, p := range c.programs {
			row := c.row(p)
			if row.Error != "" {
				continue
			}
			out := filepath.Join(c.work, "timed_"+p.name)
			run, err := c.start(ctx, p, out)
			if e := os.RemoveAll(out); err == nil {
				err = e
			}
			switch {
			case err != nil && (p.own || ctx.Err() != nil):
				return fmt.Errorf("%s: %w", p.name, err)
			case err != nil:
				row.Error = err.Error()
				c.app.say(p.name + ": FAILED: " + row.Error)
				continue
			}
			row.Runs = append(row.Runs, run)
			c.app.say(fmt.Sprintf("round %d of %d: %-10s %.2f s, CPU %.2f s, %s", round+1, c.repeats, p.name, run.Wall, run.CPU, mebibytes(run.Peak)),
				"round", round+1, "program", p.name, "wall_s", run.Wall, "cpu_s", run.CPU, "peak_bytes", run.Peak)
		}
	}
	return nil
}

// start runs a program to its end in a fresh process.
func (c *contest) start(ctx context.Context, p program, out string) (benchRun, error) {
	argv, env, err := p.command(out)
	if err != nil {
		return benchRun{}, err
	}
	limited, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	cmd := exec.CommandContext(limited, argv[0], argv[1:]...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // so that it ends its own children
	cmd.WaitDelay = 5 * time.Second
	var stdout, stderr tail
	cmd.Env, cmd.Stdout, cmd.Stderr = append(os.Environ(), env...), &stdout, &stderr
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return benchRun{}, err
	}
	var watch treeWatch
	if p.whole {
		watch = watchTree(cmd.Process.Pid)
	}
	err = cmd.Wait()
	wall := time.Since(began)
	peak := watch.stop()
	switch {
	case ctx.Err() != nil:
		return benchRun{}, ctx.Err()
	case errors.Is(limited.Err(), context.DeadlineExceeded):
		return benchRun{}, fmt.Errorf("it did not end within %v; --timeout gives it longer", c.timeout)
	case err != nil:
		return benchRun{}, because(err, string(stderr))
	}
	if p.whole {
		cpu := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		return benchRun{Wall: wall.Seconds(), CPU: cpu.Seconds(), Peak: peak, Process: wall.Seconds()}, nil
	}
	run, err := parseRun(string(stdout))
	run.Process = wall.Seconds()
	return run, err
}

// parseRun reads the last line that a program printed: evq's own words, or those of peers.py.
func parseRun(text string) (benchRun, error) {
	var said struct {
		benchRun
		Work float64 `json:"work_s"`
		HWM  float64 `json:"hwm_mib"`
	}
	line := lastLine(text)
	if err := json.Unmarshal([]byte(line), &said); err != nil {
		return benchRun{}, fmt.Errorf("it printed no result but %.80q", line)
	}
	if said.Work > 0 {
		said.Wall, said.Peak = said.Work, int64(said.HWM*(1<<20))
	}
	return said.benchRun, nil
}

// because puts what a process said last on stderr behind the error of its end.
func because(err error, stderr string) error {
	if last := lastLine(stderr); last != "" {
		return fmt.Errorf("%w: %.300s", err, last)
	}
	return err
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}

// A tail keeps the end of what is written to it.
type tail []byte

const tailBytes = 64 << 10

// Write adds bytes.
func (t *tail) Write(b []byte) (int, error) {
	*t = append(*t, b...)
	if len(*t) > 2*tailBytes {
		*t = append((*t)[:0], (*t)[len(*t)-tailBytes:]...)
	}
	return len(b), nil
}

// itself is the command line of this program with the budget it was given.
func (a *app) itself(args ...string) ([]string, error) {
	exe, err := os.Executable()
	argv := append([]string{exe}, args...)
	return append(argv, "--memory", strconv.FormatInt(a.memory, 10), "--threads", strconv.Itoa(a.threads)), err
}
