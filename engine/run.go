package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/evq-project/evq/engine/exec"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/plan"
	"github.com/evq-project/evq/plan/optimize"
)

// A runner is one run of a query.
type runner struct {
	settings
	node    plan.Node // optimised
	steps   []optimize.Step
	low     *lowering
	windows int64
	empty   int64
	rows    int64
}

// prepare validates and optimises a plan.
func prepare(n plan.Node, opts []Option) (*runner, error) {
	r := &runner{settings: settingsOf(opts)}
	if r.ruleErr != nil {
		return nil, r.ruleErr
	}
	if n == nil {
		return nil, fmt.Errorf("engine: %w: a query that was not made; begin with a recording's Frame", plan.ErrInvalid)
	}
	if err := plan.Validate(n); err != nil {
		return nil, err
	}
	var err error
	r.node, r.steps, err = optimize.Run(n, r.rules)
	if err != nil {
		return nil, err
	}
	for _, s := range r.steps {
		r.logger.Debug("plan rewritten", "room", "engine", "rule", s.Rule)
	}
	return r, nil
}

func (r *runner) lowering() *lowering {
	r.low = &lowering{runner: r}
	return r.low
}

// run pulls from the operators until they end, closes them, and fills in the stats.
func (r *runner) run(ctx context.Context, op exec.Operator, next func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var err error
	for err == nil {
		if err = ctx.Err(); err == nil { // windows without events need no source that would notice
			err = next(ctx)
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	cancel()
	if e := op.Close(); err == nil && !errors.Is(e, context.Canceled) {
		err = e
	}
	if err != nil {
		return err
	}
	if r.measure != nil {
		for _, m := range r.low.meters {
			r.measure.meters = append(r.measure.meters, m())
		}
		if r.low.scan != nil {
			r.measure.skipped = r.low.scan.Skipped()
		}
		if r.low.count != nil {
			r.measure.skipped = r.low.count.Skipped()
		}
	}
	if r.stats != nil {
		rep := r.low.report()
		*r.stats = Stats{Report: rep, Events: rep.Events, Windows: r.windows, Empty: r.empty, Rows: r.rows}
		if r.low.scan != nil {
			r.stats.First, r.stats.Last = r.low.scan.Times()
		}
		if r.low.represent != nil {
			r.stats.OffSensor = r.low.represent.OffSensor()
			for _, n := range r.low.represent.Notes() {
				rep.Note("%s", n)
			}
		}
	}
	return nil
}

// explain prints a plan as written, the rules that changed it, and the operators that will run.
func explain(n plan.Node, opts []Option) (string, error) {
	r, err := prepare(n, opts)
	if err != nil {
		return "", err
	}
	op, err := r.lowering().operator(r.node)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "logical\n%s\nrules\n", indent(plan.Format(n)))
	for _, s := range r.steps {
		fmt.Fprintf(&b, "  %s: %s\n", s.Rule, ruleDoc(r.rules, s.Rule))
	}
	if len(r.steps) == 0 {
		b.WriteString("  none fired\n")
	}
	fmt.Fprintf(&b, "\noptimised\n%s\nphysical\n%s", indent(plan.Format(r.node)), indent(exec.Format(op)))
	return b.String(), op.Close()
}

func ruleDoc(rules []optimize.Rule, name string) string {
	for _, r := range rules {
		if r.Name == name {
			return r.Doc
		}
	}
	return ""
}

func indent(s string) string {
	return "  " + strings.ReplaceAll(strings.TrimSuffix(s, "\n"), "\n", "\n  ") + "\n"
}

// report is what reading counted; nothing was read of an empty scan.
func (l *lowering) report() *event.Report {
	if l.count != nil {
		return l.count.Report()
	}
	if l.scan == nil {
		return &event.Report{}
	}
	return l.scan.Report()
}
