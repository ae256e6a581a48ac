package sql

import "strings"

// A token is a word, a literal or a sign of a query.
type token struct {
	kind   tokenKind
	text   string // of words in lower case; of names and strings what they say; else as written
	at, to int    // where it stands
}

type tokenKind uint8

const (
	isWord   tokenKind = iota // a keyword or a plain name
	isName                    // "a name"
	isString                  // 'text', or $$text$$
	isSign                    // anything else, one byte each
)

// is reports whether the token is one of some words, which are in lower case.
func (t token) is(words ...string) bool {
	if t.kind != isWord {
		return false
	}
	for _, w := range words {
		if t.text == w {
			return true
		}
	}
	return false
}

func (t token) sign(s string) bool { return t.kind == isSign && t.text == s }

// lex cuts a query into tokens as DuckDB does; comments are none. What is not closed reaches to the end.
func lex(text string) []token {
	var out []token
	for i := 0; i < len(text); {
		start, c := i, text[i]
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v':
			i++
			continue
		case strings.HasPrefix(text[i:], "--"):
			i = after(text, i, "\n")
			continue
		case strings.HasPrefix(text[i:], "/*"):
			i = comment(text, i)
			continue
		case c == '\'':
			s, to := quoted(text, i, '\'', false)
			out, i = append(out, token{isString, s, start, to}), to
		case (c == 'e' || c == 'E') && i+1 < len(text) && text[i+1] == '\'':
			s, to := quoted(text, i+1, '\'', true)
			out, i = append(out, token{isString, s, start, to}), to
		case c == '"':
			s, to := quoted(text, i, '"', false)
			out, i = append(out, token{isName, s, start, to}), to
		case c == '$' && dollar(text[i:]) != "":
			mark := dollar(text[i:])
			to := after(text, i+len(mark), mark)
			s := strings.TrimSuffix(text[i+len(mark):to], mark)
			out, i = append(out, token{isString, s, start, to}), to
		case letter(c):
			for i++; i < len(text) && (letter(text[i]) || digit(text[i]) || text[i] == '$'); i++ {
			}
			out = append(out, token{isWord, strings.ToLower(text[start:i]), start, i})
		case digit(c):
			for i++; i < len(text) && (letter(text[i]) || digit(text[i]) || text[i] == '.'); i++ {
			}
			out = append(out, token{isSign, text[start:i], start, i})
		default:
			i++
			out = append(out, token{isSign, text[start:i], start, i})
		}
	}
	return out
}

func letter(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

// after returns where the next mark ends, at or behind from.
func after(text string, from int, mark string) int {
	if i := strings.Index(text[from:], mark); i >= 0 {
		return from + i + len(mark)
	}
	return len(text)
}

// comment returns the end of a comment, which may hold others.
func comment(text string, from int) int {
	depth := 0
	for i := from; i < len(text); {
		switch {
		case strings.HasPrefix(text[i:], "/*"):
			depth, i = depth+1, i+2
		case strings.HasPrefix(text[i:], "*/"):
			if depth, i = depth-1, i+2; depth == 0 {
				return i
			}
		default:
			i++
		}
	}
	return len(text)
}

// quoted reads what stands between quotes, which are doubled to stand for themselves; slashes says that a backslash
// takes the next byte's meaning away.
func quoted(text string, from int, quote byte, slashes bool) (s string, to int) {
	var b strings.Builder
	for i := from + 1; i < len(text); i++ {
		switch {
		case slashes && text[i] == '\\' && i+1 < len(text):
			i++
		case text[i] == quote && i+1 < len(text) && text[i+1] == quote:
			i++
		case text[i] == quote:
			return b.String(), i + 1
		}
		b.WriteByte(text[i])
	}
	return b.String(), len(text)
}

// dollar returns the mark that a dollar-quoted string begins and ends with, or "".
func dollar(text string) string {
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] == '$':
			return text[:i+1]
		case !letter(text[i]) && !(i > 1 && digit(text[i])):
			return ""
		}
	}
	return ""
}
