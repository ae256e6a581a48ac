package sql

import (
	"strings"

	"github.com/evq-project/evq/sql/duck"
)

// An edit puts text in the place of part of a query.
type edit struct {
	at, to int
	text   string
}

// edited makes edits, which are in order and do not overlap.
func edited(text string, edits []edit) string {
	var b strings.Builder
	from := 0
	for _, e := range edits {
		b.WriteString(text[from:e.at] + e.text)
		from = e.to
	}
	return b.String() + text[from:]
}

// rewrite gives files that are queried by their name to evq where DuckDB would take them itself, so that their columns
// have the same names and types on every way in: FROM 'rec.parquet' becomes FROM evq_store('rec.parquet') AS rec.
// reader returns the function that reads a file, or "" to leave it to DuckDB, which asks evq about files that it does
// not know.
//
// It also names the positional arguments of evq's table functions, after the first: to DuckDB they have only that one.
func rewrite(tokens []token, reader func(path string) string, functions map[string]int) (edits []edit) {
	for _, i := range tables(tokens) {
		t := tokens[i]
		if i+1 < len(tokens) && tokens[i+1].sign("(") {
			if most := functions[strings.ToLower(t.text)]; most > 0 {
				edits = append(edits, named(tokens, i+1, most)...)
			}
			continue
		}
		if t.kind == isWord {
			continue
		}
		function := reader(t.text)
		if function == "" {
			continue
		}
		call := function + "(" + literal(t.text) + ")"
		if !aliased(tokens[i+1:]) {
			call += ` AS "` + strings.ReplaceAll(stem(t.text), `"`, `""`) + `"`
		}
		edits = append(edits, edit{t.at, t.to, call})
	}
	return edits
}

// named writes names before the arguments of the call whose bracket stands at open. A call without any is given NULL,
// so that it is evq that says what is missing.
func named(tokens []token, open, most int) []edit {
	end := closing(tokens, open)
	if end == open+1 {
		return []edit{{tokens[open].to, tokens[open].to, "NULL"}}
	}
	var edits []edit
	depth, number := 0, 0
	for i := open + 1; i < end; i++ {
		t := tokens[i]
		if depth == 0 && t.kind == isWord && (i == open+1 || tokens[i-1].sign(",")) && hasName(tokens[i:end]) {
			edits = append(edits, edit{t.at, t.to, `"` + t.text + `"`}) // so that window and time may be names
		}
		switch {
		case t.sign("(") || t.sign("[") || t.sign("{"):
			depth++
		case t.sign(")") || t.sign("]") || t.sign("}"):
			depth--
		case depth == 0 && t.sign(",") && i+1 < end && !hasName(tokens[i+1:end]):
			if number++; number < most {
				at := tokens[i+1].at
				edits = append(edits, edit{at, at, duck.Positional(number) + " := "})
			}
		}
	}
	return edits
}

// hasName reports whether an argument is written name := value, or with another of the signs for it.
func hasName(arg []token) bool {
	return len(arg) > 2 && arg[0].kind <= isName && (arg[1].sign(":") && arg[2].sign("=") || arg[1].sign("="))
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

// tables returns the places of the tokens that name a table or a file: behind FROM and JOIN, and behind the commas of a
// FROM. Of tables with a schema it is the last of the names.
func tables(tokens []token) []int {
	var out []int
	inFrom := []bool{false} // one for each bracket that is open
	expects := false
	for i, t := range tokens {
		top := len(inFrom) - 1
		switch {
		case expects && t.is("lateral"):
		case expects && (t.kind <= isString && !t.is(keywords...)):
			if i+1 < len(tokens) && tokens[i+1].sign(".") {
				break
			}
			out = append(out, i)
			expects = false
		case expects && t.sign("."):
		case t.sign("("):
			// A bracket where a table is expected may hold a join: FROM ('a.parquet' CROSS JOIN b).
			inFrom = append(inFrom, expects)
		case t.sign(")"):
			if top > 0 {
				inFrom = inFrom[:top]
			}
			expects = false
		case t.is("from", "join", "call"):
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

// keywords are the words that may stand where a table is expected, and are none.
var keywords = []string{"select", "from", "values", "with", "where", "pivot", "unpivot", "describe", "show", "summarize"}

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
