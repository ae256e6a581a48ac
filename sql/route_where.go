package sql

import (
	"fmt"
	"strings"

	"github.com/evq-project/evq/engine"
	"github.com/evq-project/evq/exprs"
)

// comparisons are the operators that mean the same in both languages, and what they are with their sides swapped.
var comparisons = map[string][2]string{
	"COMPARE_EQUAL":                {"=", "="},
	"COMPARE_NOTEQUAL":             {"!=", "!="},
	"COMPARE_LESSTHAN":             {"<", ">"},
	"COMPARE_LESSTHANOREQUALTO":    {"<=", ">="},
	"COMPARE_GREATERTHAN":          {">", "<"},
	"COMPARE_GREATERTHANOREQUALTO": {">=", "<="},
}

// predicate reads a condition of comparisons of a column with a whole number, and of AND, OR, NOT, BETWEEN and IN.
// Columns are never NULL, so that both languages agree on all of them.
func predicate(s *syntax, table string) (exprs.Expr, error) {
	text, err := condition(s, table)
	if err != nil {
		return nil, err
	}
	return engine.Predicate(text)
}

func condition(s *syntax, table string) (string, error) {
	unknown := fmt.Errorf("its WHERE has more than comparisons of t, x, y and p with whole numbers")
	switch {
	case s.Class == "COMPARISON":
		op, ok := comparisons[s.Type]
		if !ok {
			return "", unknown
		}
		column, way := s.Left.column(table), op[0]
		v, ok := s.Right.integer()
		if column == "" {
			column, way = s.Right.column(table), op[1]
			v, ok = s.Left.integer()
		}
		if column == "" || !ok {
			return "", unknown
		}
		return fmt.Sprintf("%s %s %d", column, way, v), nil
	case s.Type == "COMPARE_BETWEEN" && s.Input != nil:
		column := s.Input.column(table)
		lo, ok1 := s.Lower.integer()
		hi, ok2 := s.Upper.integer()
		if column == "" || !ok1 || !ok2 {
			return "", unknown
		}
		return fmt.Sprintf("(%[1]s >= %[2]d and %[1]s <= %[3]d)", column, lo, hi), nil
	case s.Type == "CONJUNCTION_AND":
		return joined(s.Children, table, " and ")
	case s.Type == "CONJUNCTION_OR":
		return joined(s.Children, table, " or ")
	case s.Type == "OPERATOR_NOT" && len(s.Children) == 1:
		inner, err := condition(&s.Children[0], table)
		return "not (" + inner + ")", err
	case s.Type == "COMPARE_IN" && len(s.Children) > 1:
		column := s.Children[0].column(table)
		var parts []string
		for i := range s.Children[1:] {
			v, ok := s.Children[i+1].integer()
			if column == "" || !ok {
				return "", unknown
			}
			parts = append(parts, fmt.Sprintf("%s = %d", column, v))
		}
		return "(" + strings.Join(parts, " or ") + ")", nil
	}
	return "", unknown
}

func joined(all []syntax, table, by string) (string, error) {
	parts := make([]string, len(all))
	for i := range all {
		var err error
		if parts[i], err = condition(&all[i], table); err != nil {
			return "", err
		}
	}
	return "(" + strings.Join(parts, by) + ")", nil
}
