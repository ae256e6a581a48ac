package exprs

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// A token is a word, a number, a literal or a sign of text.
type token struct {
	is   tokenKind
	pos  int
	text string // as written; words in lower case, literals without their quotes
}

type tokenKind uint8

const (
	isEnd tokenKind = iota
	isWord
	isNumber
	isLiteral
	isSign
)

// words are those with a meaning of their own.
var words = []string{"and", "or", "not", "between", "in", "at", "as", "true", "false", "on", "off", "t", "x", "y", "p"}

// signs are those of the language, longer ones before those they begin with.
var signs = []string{"//", "==", "!=", "<>", "<=", ">=", "=", "<", ">", "+", "-", "*", "%", "&", "(", ")", ","}

// foreign says what to write for signs of other languages.
var foreign = []struct{ sign, write string }{
	{"&&", "and"}, {"||", "or"}, {"!", "not"}, {"/", "// (the quotient is rounded down)"},
}

// maxWord bounds words, numbers and literals.
const maxWord = 4096

func isName(s string) bool {
	for i, c := range []byte(s) {
		if !isLetter(c) && (i == 0 || !isDigit(c)) {
			return false
		}
	}
	return s != "" && len(s) <= 64
}

func reserved(s string) bool { return slices.Contains(words, s) }

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }

// next reads the token at p.at into p.tok.
func (p *parser) next() error {
	for p.at < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.at]) >= 0 {
		p.at++
	}
	rest := p.text[p.at:]
	p.tok = token{pos: p.at}
	switch {
	case rest == "":
		return nil
	case isLetter(rest[0]):
		p.take(isWord, run(rest, func(c byte) bool { return isLetter(c) || isDigit(c) }))
		p.tok.text = strings.ToLower(p.tok.text)
	case isDigit(rest[0]): // with its unit, which may be written µs
		p.take(isNumber, run(rest, func(c byte) bool { return isLetter(c) || isDigit(c) || c == '.' || c >= utf8.RuneSelf }))
	case rest[0] == '\'':
		return p.literal(rest)
	default:
		return p.sign(rest)
	}
	if len(p.tok.text) > maxWord {
		return p.fail(p.tok.pos, "a word of %d bytes; %d are possible", len(p.tok.text), maxWord)
	}
	return nil
}

func (p *parser) take(is tokenKind, n int) {
	p.tok = token{is, p.at, p.text[p.at : p.at+n]}
	p.at += n
}

// run returns how many bytes of s from its start on are such.
func run(s string, such func(byte) bool) int {
	n := 0
	for n < len(s) && such(s[n]) {
		n++
	}
	return n
}

// literal reads text in quotes, in which two quotes stand for one.
func (p *parser) literal(rest string) error {
	for i := 1; i < len(rest) && i <= maxWord; i++ {
		if rest[i] != '\'' {
			continue
		}
		if i+1 < len(rest) && rest[i+1] == '\'' {
			i++
			continue
		}
		p.tok = token{isLiteral, p.at, strings.ReplaceAll(rest[1:i], "''", "'")}
		p.at += i + 1
		return nil
	}
	return p.fail(p.at, "the quote has no end; close it with ' within %d bytes", maxWord)
}

func (p *parser) sign(rest string) error {
	if !strings.HasPrefix(rest, "!=") && !strings.HasPrefix(rest, "//") {
		for _, f := range foreign {
			if strings.HasPrefix(rest, f.sign) && !(p.rows && f.sign == "/") {
				return p.fail(p.at, "%s is no sign here; write %s", f.sign, f.write)
			}
		}
	}
	if p.rows && rest[0] == '/' && !strings.HasPrefix(rest, "//") {
		p.take(isSign, 1)
		return nil
	}
	for _, s := range signs {
		if strings.HasPrefix(rest, s) {
			p.take(isSign, len(s))
			return nil
		}
	}
	r, _ := utf8.DecodeRuneInString(rest)
	return p.fail(p.at, "%q has no meaning; there are words, numbers and %s", r, strings.Join(signs, " "))
}
