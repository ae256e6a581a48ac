// Package optimize rewrites plans into cheaper ones that yield the same result.
//
// A rule rewrites one node; Run applies the rules from the scan upwards until none changes the plan, checks
// the plan after every change, and keeps the trace that EXPLAIN prints. It knows plans, never how they run.
package optimize

import (
	"fmt"
	"slices"
	"strings"

	"github.com/evq-project/evq/plan"
)

// A Rule rewrites one node. Rewrite returns nil where it has nothing to change.
type Rule struct {
	Name    string
	Doc     string
	Rewrite func(plan.Node) plan.Node
}

// Default lists the rules in the order in which they are tried. A new rule adds one line here.
var Default = []Rule{
	filterBelowWindows,
	filterBelowMap,
	mergeFilters,
	simplifyFilters,
	emptyScan,
	pushLimits,
	boxIntoScan,
	windowBoxIntoScan,
	countBySource,
	fuseHistogram,
	streamGroup,
	streamWhole,
	groupMethod,
	projectColumns,
}

// Without returns the rules but those named; a name that no rule has is an error.
func Without(rules []Rule, names ...string) ([]Rule, error) {
	for _, name := range names {
		if !slices.ContainsFunc(rules, func(r Rule) bool { return r.Name == name }) {
			return nil, fmt.Errorf("optimize: no rule %q; there are %s", name, strings.Join(Names(rules), ", "))
		}
	}
	return slices.DeleteFunc(slices.Clone(rules), func(r Rule) bool { return slices.Contains(names, r.Name) }), nil
}

// Names lists the rules' names.
func Names(rules []Rule) []string {
	names := make([]string, len(rules))
	for i, r := range rules {
		names[i] = r.Name
	}
	return names
}

// A Step records that a rule changed the plan.
type Step struct {
	Rule  string
	After plan.Node
}

// passes bounds the rounds, beside one for each node of the plan, which a filter may pass one a round; rules that still
// change the plan after so many do not converge.
const passes = 16

// Run applies the rules until none changes the plan. It validates the plan after every change, so that a
// broken rule is named and not merely noticed.
func Run(n plan.Node, rules []Rule) (plan.Node, []Step, error) {
	var steps []Step
	most := passes
	for in := n; in != nil; in = in.Input() {
		most++
	}
	for range most {
		before := len(steps)
		for _, r := range rules {
			out := bottomUp(n, r)
			if out == nil {
				continue
			}
			if out.Kind() != n.Kind() {
				return nil, steps, fmt.Errorf("optimize: rule %s turned %v into %v", r.Name, n.Kind(), out.Kind())
			}
			if err := plan.Validate(out); err != nil {
				return nil, steps, fmt.Errorf("optimize: rule %s: %w", r.Name, err)
			}
			n, steps = out, append(steps, Step{r.Name, out})
		}
		if len(steps) == before {
			return n, steps, nil
		}
	}
	return nil, steps, fmt.Errorf("optimize: no end after %d passes; the last rule was %s", most, steps[len(steps)-1].Rule)
}

// bottomUp rewrites n from its scan upwards; it returns nil where the rule changes nothing.
func bottomUp(n plan.Node, r Rule) plan.Node {
	changed := false
	if n.Input() != nil {
		if in := bottomUp(n.Input(), r); in != nil {
			n, changed = n.With(in), true
		}
	}
	if out := r.Rewrite(n); out != nil {
		return out
	}
	if changed {
		return n
	}
	return nil
}
