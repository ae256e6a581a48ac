package sql

import "strings"

// rewrite gives files that are queried by their name to evq where DuckDB would take them itself, so that their columns
// have the same names and types on every way in: FROM 'rec.parquet' becomes FROM evq_store('rec.parquet') AS rec.
// called returns the function that reads a file, or "" to leave it to DuckDB, which asks evq about files that it does
// not know.
func rewrite(text string, tokens []token, called func(path string) string) string {
	var b strings.Builder
	from := 0
	for _, i := range tables(tokens) {
		t := tokens[i]
		function := called(t.text)
		if function == "" {
			continue
		}
		b.WriteString(text[from:t.at])
		b.WriteString(function + "(" + literal(t.text) + ")")
		if !aliased(tokens[i+1:]) {
			b.WriteString(` AS "` + strings.ReplaceAll(stem(t.text), `"`, `""`) + `"`)
		}
		from = t.to
	}
	return b.String() + text[from:]
}

// literal writes text as a string of SQL.
func literal(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// stem returns the name that DuckDB gives a table that is a file: that of the file without its last extension.
func stem(path string) string {
	if i := strings.LastIndexAny(path, `/\`); i >= 0 {
		path = path[i+1:]
	}
	if i := strings.LastIndexByte(path, '.'); i > 0 {
		path = path[:i]
	}
	return path
}

// tables returns the places of the tokens that name a file where a table is expected: behind FROM and JOIN, and behind
// the commas of a FROM.
func tables(tokens []token) []int {
	var out []int
	inFrom := []bool{false} // one for each bracket that is open
	expects := false
	for i, t := range tokens {
		top := len(inFrom) - 1
		switch {
		case t.kind == isString || t.kind == isName:
			if expects && !(i+1 < len(tokens) && (tokens[i+1].sign(".") || tokens[i+1].sign("("))) {
				out = append(out, i)
			}
			expects = false
		case t.sign("("):
			// A bracket where a table is expected may hold a join: FROM ('a.parquet' CROSS JOIN b).
			inFrom = append(inFrom, expects)
		case t.sign(")"):
			if top > 0 {
				inFrom = inFrom[:top]
			}
			expects = false
		case t.is("from", "join"):
			inFrom[top], expects = true, true
		case t.sign(","):
			expects = inFrom[top]
		case t.is("where", "group", "order", "having", "limit", "offset", "union", "except", "intersect", "qualify", "window", "select", "sample", "set"):
			inFrom[top], expects = false, false
		case t.sign(";"):
			inFrom, expects = []bool{false}, false
		default:
			expects = false
		}
	}
	return out
}

// follows are the words behind a table that are no alias of it.
var follows = []string{
	"where", "group", "order", "having", "limit", "offset", "union", "except", "intersect", "qualify", "window", "select",
	"join", "inner", "left", "right", "full", "cross", "natural", "asof", "positional", "semi", "anti", "on", "using",
	"tablesample", "sample", "at", "pivot", "unpivot", "fetch", "for", "with", "from", "returning", "by", "in",
}

// aliased reports whether a table has a name of its own, or stands where none may be given.
func aliased(rest []token) bool {
	if len(rest) == 0 {
		return false
	}
	t := rest[0]
	return t.kind == isName || t.kind == isWord && !t.is(follows...)
}
