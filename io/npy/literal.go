package npy

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The header of an array is a literal of Python's. It is read here as data: nothing is evaluated, and what a
// header cannot hold, such as a call or a name, is an error.
type (
	list  []any
	tuple []any
	dict  map[string]any
)

// maxDepth bounds how deeply a literal may nest; a header needs five.
const maxDepth = 8

// parseLiteral reads a whole text: strings, integers, True, False and None as string, int64, bool and nil, and
// lists, tuples and dictionaries of them.
func parseLiteral(text string) (any, error) {
	l := literal{text: text}
	v, err := l.value(0)
	if err == nil && l.peek() != 0 {
		err = l.errorf("text behind the end")
	}
	return v, err
}

type literal struct {
	text string
	at   int
}

func (l *literal) errorf(format string, args ...any) error {
	return fmt.Errorf("%s at character %d of the header", fmt.Sprintf(format, args...), l.at)
}

// peek skips white space and returns the next byte, or 0 at the end.
func (l *literal) peek() byte {
	for l.at < len(l.text) && strings.IndexByte(" \t\r\n", l.text[l.at]) >= 0 {
		l.at++
	}
	if l.at == len(l.text) {
		return 0
	}
	return l.text[l.at]
}

// take skips the next byte where it is c.
func (l *literal) take(c byte) bool {
	if l.peek() != c {
		return false
	}
	l.at++
	return true
}

func (l *literal) value(depth int) (any, error) {
	if depth > maxDepth {
		return nil, l.errorf("too deep a nesting")
	}
	switch c := l.peek(); {
	case c == '[':
		items, _, err := l.items('[', ']', depth)
		return list(items), err
	case c == '(':
		items, comma, err := l.items('(', ')', depth)
		if err == nil && len(items) == 1 && !comma {
			return items[0], nil // only in brackets
		}
		return tuple(items), err
	case c == '{':
		return l.dict(depth)
	case c == '\'' || c == '"':
		return l.string()
	case c == '-' || c == '+' || c >= '0' && c <= '9':
		return l.integer()
	}
	return l.word()
}

// items reads values up to the closing bracket, and says whether the last was followed by a comma.
func (l *literal) items(open, end byte, depth int) (items []any, comma bool, err error) {
	l.take(open)
	for !l.take(end) {
		if len(items) > 0 && !comma {
			return nil, false, l.errorf("no comma or %q", end)
		}
		v, err := l.value(depth + 1)
		if err != nil {
			return nil, false, err
		}
		items, comma = append(items, v), l.take(',')
	}
	return items, comma, nil
}

func (l *literal) dict(depth int) (any, error) {
	d := dict{}
	l.take('{')
	for comma := true; !l.take('}'); comma = l.take(',') {
		if !comma {
			return nil, l.errorf("no comma or '}'")
		}
		k, err := l.value(depth + 1)
		if err != nil {
			return nil, err
		}
		key, ok := k.(string)
		if !ok || !l.take(':') {
			return nil, l.errorf("no name with a colon")
		}
		if d[key], err = l.value(depth + 1); err != nil {
			return nil, err
		}
	}
	return d, nil
}

func (l *literal) integer() (any, error) {
	start := l.at
	for l.at++; l.at < len(l.text) && l.text[l.at] >= '0' && l.text[l.at] <= '9'; {
		l.at++
	}
	v, err := strconv.ParseInt(l.text[start:l.at], 10, 64)
	if err != nil {
		return nil, l.errorf("the number %.40s", l.text[start:l.at])
	}
	if l.at < len(l.text) && l.text[l.at] == 'L' { // Python 2 wrote 5L
		l.at++
	}
	return v, nil
}

func (l *literal) word() (any, error) {
	start := l.at
	for l.at < len(l.text) && (l.text[l.at]|0x20 >= 'a' && l.text[l.at]|0x20 <= 'z') {
		l.at++
	}
	switch word := l.text[start:l.at]; word {
	case "True", "False":
		return word == "True", nil
	case "None":
		return nil, nil
	case "u", "b": // the prefix of a string
		if l.at < len(l.text) && (l.text[l.at] == '\'' || l.text[l.at] == '"') {
			return l.string()
		}
	}
	return nil, l.errorf("%.20q", l.text[start:])
}

// errEscape reports an escape that a header does not need.
var errEscape = errors.New("an escape that is not known")

func (l *literal) string() (any, error) {
	quote := l.text[l.at]
	l.at++
	var b strings.Builder
	for l.at < len(l.text) {
		rest := l.text[l.at:]
		switch c := rest[0]; c {
		case quote:
			l.at++
			return b.String(), nil
		case '\\':
			r, tail, err := unescape(rest)
			if err != nil {
				return nil, l.errorf("%v", err)
			}
			b.WriteRune(r)
			l.at += len(rest) - len(tail)
		default:
			b.WriteByte(c)
			l.at++
		}
	}
	return nil, l.errorf("a string without an end")
}

// unescape reads the escape at the beginning of text.
func unescape(text string) (r rune, tail string, err error) {
	if len(text) < 2 {
		return 0, "", errEscape
	}
	digits := 0
	switch c := text[1]; c {
	case '\\', '\'', '"':
		return rune(c), text[2:], nil
	case 'n':
		return '\n', text[2:], nil
	case 't':
		return '\t', text[2:], nil
	case 'r':
		return '\r', text[2:], nil
	case 'x':
		digits = 2
	case 'u':
		digits = 4
	case 'U':
		digits = 8
	}
	if digits == 0 || len(text) < 2+digits {
		return 0, "", errEscape
	}
	v, err := strconv.ParseUint(text[2:2+digits], 16, 32)
	if err != nil || !utf8.ValidRune(rune(v)) {
		return 0, "", errEscape
	}
	return rune(v), text[2+digits:], nil
}
