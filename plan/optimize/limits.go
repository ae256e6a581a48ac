package optimize

import "github.com/evq-project/evq/plan"

var pushLimits = Rule{
	Name: "push_limits",
	Doc:  "a limit of blocks becomes one of windows, a sort learns how many rows are wanted, and of two limits the smaller stays",
	Rewrite: func(n plan.Node) plan.Node {
		l, ok := n.(*plan.Limit)
		if !ok {
			return nil
		}
		switch in := l.In.(type) {
		case *plan.Limit:
			return &plan.Limit{In: in.In, N: min(l.N, in.N)}
		case *plan.Represent:
			if len(in.Reps) == 1 {
				return in.With(&plan.Limit{In: in.In, N: l.N})
			}
		case *plan.Sort:
			if l.N > 0 && (in.N == 0 || in.N > l.N) {
				return l.With(&plan.Sort{In: in.In, By: in.By, N: l.N})
			}
		}
		return nil
	},
}
