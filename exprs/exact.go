package exprs

import "github.com/evq-project/evq/io/event"

// Exact returns the box that holds just the events that satisfy a predicate. ok is false where there is none: the
// predicate is more than a range of each column.
func Exact(e Expr) (box event.Box, ok bool) {
	if e == True {
		return event.Everything, true
	}
	parts, several := e.(all)
	if !several {
		parts = all{e}
	}
	for _, p := range parts {
		v, s, ok := setOf(p)
		if !ok || len(s) != 1 || !(v.Equal(T) || v.Equal(X) || v.Equal(Y) || v.Equal(P)) {
			return box, false
		}
	}
	box = parts.Box()
	return box, !box.Empty()
}
