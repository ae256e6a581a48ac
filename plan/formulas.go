package plan

import (
	"fmt"
	"strings"

	"github.com/evq-project/evq/exprs"
)

// Having keeps the rows of a table for which a condition holds. A row for which it has no value is left out.
type Having struct {
	In   Node
	Cond *exprs.Formula
}

// Select makes the columns of a table of those of another.
type Select struct {
	In      Node
	Columns []Column
}

// A Column is a formula over the columns of a table, and what its own column is called.
type Column struct {
	Name    string
	Formula *exprs.Formula
}

func (*Having) isNode() {}
func (*Select) isNode() {}

// Kind implements Node.
func (*Having) Kind() Kind { return Rows }

// Kind implements Node.
func (*Select) Kind() Kind { return Rows }

// Input implements Node.
func (n *Having) Input() Node { return n.In }

// Input implements Node.
func (n *Select) Input() Node { return n.In }

// With implements Node.
func (n *Having) With(in Node) Node { c := *n; c.In = in; return &c }

// With implements Node.
func (n *Select) With(in Node) Node { c := *n; c.In = in; return &c }

func (n *Having) String() string { return "having " + n.Cond.String() }

func (n *Select) String() string {
	parts := make([]string, len(n.Columns))
	for i, c := range n.Columns {
		if c.Formula.Op == exprs.OpColumn && c.Formula.Name == c.Name {
			parts[i] = c.Name
		} else {
			parts[i] = named(c.Formula.String(), c.Name)
		}
	}
	return "select " + strings.Join(parts, ", ")
}

// floats tells of each column below a node whether it holds floats.
func floats(n Node) func(name string) (float, ok bool) {
	of := map[string]bool{}
	for _, f := range Fields(n) {
		of[f.Name] = f.Float
	}
	return func(name string) (bool, bool) { float, ok := of[name]; return float, ok }
}

func (n *Having) check() error {
	if n.Cond == nil || !n.Cond.IsCondition() {
		return fmt.Errorf("%w: having a number; compare it, as in count > 100", ErrInvalid)
	}
	return checked(n.Cond, n.In)
}

func (n *Select) check() error {
	seen := map[string]bool{}
	for _, c := range n.Columns {
		switch {
		case c.Formula == nil || c.Formula.IsCondition():
			return fmt.Errorf("%w: column %q is no number", ErrInvalid, c.Name)
		case seen[c.Name]:
			return fmt.Errorf("%w: two columns called %q; name one of them", ErrInvalid, c.Name)
		}
		seen[c.Name] = true
		if err := checked(c.Formula, n.In); err != nil {
			return err
		}
	}
	return nil
}

// checked reports a formula that the columns below do not allow.
func checked(f *exprs.Formula, in Node) error {
	if _, err := f.IsFloat(floats(in)); err != nil {
		return fmt.Errorf("%w: %v: %w", ErrInvalid, f, err)
	}
	return nil
}

// Fields returns the columns that it makes.
func (n *Select) Fields() []Field {
	of := floats(n.In)
	out := make([]Field, len(n.Columns))
	for i, c := range n.Columns {
		float, _ := c.Formula.IsFloat(of) // check says what is wrong
		out[i] = Field{Name: c.Name, Float: float}
	}
	return out
}
