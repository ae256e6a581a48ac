package sql

import (
	"fmt"
	"slices"
	"strings"
)

// refuse finds calls of evq's aggregates with ORDER BY inside or with OVER behind, on which DuckDB crashes (duckdb
// issue 21537): for them it hands a vector of states to the C API that holds fewer than it says. The text is looked at
// rather than the syntax tree, which DuckDB gives of SELECT alone: a view or a COPY would get through. Text within
// text, such as that of query('SELECT …'), is looked at too.
func refuse(tokens []token, aggregates map[string]bool) error {
	for i, t := range tokens {
		if t.kind == isString && mentions(t.text, aggregates) {
			if err := refuse(lex(t.text), aggregates); err != nil {
				return err
			}
		}
		name := strings.ToLower(t.text)
		if t.kind > isName || !aggregates[name] || i+1 == len(tokens) || !tokens[i+1].sign("(") {
			continue
		}
		end := closing(tokens, i+1)
		if ordered(tokens[i+2 : end]) {
			return fmt.Errorf("sql: %w: %s(… ORDER BY …) would crash DuckDB; events need no order here: leave ORDER BY out", ErrRefused, name)
		}
		if windowed(tokens[min(end+1, len(tokens)):]) {
			return fmt.Errorf("sql: %w: %s(…) OVER would crash DuckDB; GROUP BY the window instead, as in GROUP BY t // 50000, or use FROM %s('recording', '50ms')", ErrRefused, name, name)
		}
	}
	return nil
}

func mentions(text string, names map[string]bool) bool {
	text = strings.ToLower(text)
	for n := range names {
		if strings.Contains(text, n) {
			return true
		}
	}
	return false
}

// closing returns the place of the bracket that closes the one at i, or the end.
func closing(tokens []token, i int) int {
	depth := 0
	for ; i < len(tokens); i++ {
		switch {
		case tokens[i].sign("("):
			depth++
		case tokens[i].sign(")"):
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return len(tokens)
}

// ordered reports whether arguments end in an ORDER BY of their own, not of a query among them.
func ordered(args []token) bool {
	depth := 0
	for _, t := range args {
		switch {
		case t.sign("(") || t.sign("[") || t.sign("{"):
			depth++
		case t.sign(")") || t.sign("]") || t.sign("}"):
			depth--
		case depth == 0 && t.is("order"):
			return true
		}
	}
	return false
}

// windowed reports whether OVER follows a call, perhaps behind a clause that may stand between.
func windowed(rest []token) bool {
	for i := 0; i < len(rest); {
		switch t := rest[i]; {
		case t.is("over"):
			return true
		case t.is("filter", "within", "group"):
			if i++; i < len(rest) && rest[i].sign("(") {
				i = closing(rest, i) + 1
			}
		case t.is("ignore", "respect", "nulls", "export_state"):
			i++
		default:
			return false
		}
	}
	return false
}

// harmless are the statements that a session may run which is to read only: what they make is in memory.
var harmless = []string{
	"select", "from", "with", "values", "table", "describe", "desc", "show", "summarize", "explain", "pivot", "unpivot",
	"create", "drop", "insert", "update", "delete", "alter", "truncate", "begin", "start", "commit", "end", "rollback", "abort",
}

// harmful are functions that write files or change settings from within a SELECT.
var harmful = []string{"enable_logging", "disable_logging", "truncate_duckdb_logs", "enable_profiling", "enable_profile", "disable_profiling", "disable_profile", "write_log"}

// readOnly finds what may write a file, load code or reach the network.
func readOnly(tokens []token) error {
	for _, s := range statements(tokens) {
		verb, rest := s[0], s[1:]
		for verb.is("explain") && len(rest) > 0 { // what EXPLAIN ANALYZE explains, it runs
			verb, rest = rest[0], rest[1:]
			if verb.is("analyze") && len(rest) > 0 {
				verb, rest = rest[0], rest[1:]
			}
			if verb.sign("(") && !(len(rest) > 0 && rest[0].is(harmless...)) {
				end := closing(s, len(s)-len(rest)-1)
				if end+1 >= len(s) {
					break
				}
				verb, rest = s[end+1], s[end+2:]
			}
		}
		for verb.sign("(") && len(rest) > 0 {
			verb, rest = rest[0], rest[1:]
		}
		if !verb.is(harmless...) {
			return fmt.Errorf("sql: %w: %s is not allowed in a session that only reads; queries, and tables and views in memory are", ErrRefused, strings.ToUpper(verb.text))
		}
		if verb.is("create") && slices.ContainsFunc(rest[:min(len(rest), 4)], func(t token) bool { return t.is("secret") }) {
			return fmt.Errorf("sql: %w: CREATE SECRET is not allowed in a session that only reads", ErrRefused)
		}
		for i, t := range s {
			if name := strings.ToLower(t.text); t.kind <= isName && slices.Contains(harmful, name) && i+1 < len(s) && s[i+1].sign("(") {
				return fmt.Errorf("sql: %w: %s is not allowed in a session that only reads", ErrRefused, name)
			}
		}
	}
	return nil
}

// statements cuts tokens at semicolons.
func statements(tokens []token) [][]token {
	var out [][]token
	from := 0
	for i, t := range tokens {
		if t.sign(";") {
			if i > from {
				out = append(out, tokens[from:i])
			}
			from = i + 1
		}
	}
	if from < len(tokens) {
		out = append(out, tokens[from:])
	}
	return out
}
