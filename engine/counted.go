package engine

import (
	"fmt"

	"github.com/evq-project/evq/engine/exec"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/plan"
)

// counted lowers a group that the source counts.
func (l *lowering) counted(n *plan.Group) (exec.GroupOp, error) {
	in := plan.Node(n)
	for in.Input() != nil {
		in = in.Input()
	}
	if s, ok := in.(*plan.Scan); ok {
		if src, ok := event.Counting(s.Source); ok {
			want := s.Want
			want.Threads = l.threads
			l.count = &exec.Count{Source: src, Want: want, Aggs: len(n.Aggs)}
			return metered[exec.Groups](l, l.count, nil, func(g exec.Groups) int { return g.N })
		}
	}
	return nil, fmt.Errorf("engine: no source counts for %q", n)
}
