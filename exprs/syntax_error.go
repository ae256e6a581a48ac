package exprs

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// A SyntaxError says where text is no expression.
type SyntaxError struct {
	Text string // what was parsed
	Pos  int    // offset in bytes, from 0
	Msg  string
	Err  error // what the caller's own functions said, or nil
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("at %d: %s", e.Pos, e.Msg) }

// Unwrap returns Err.
func (e *SyntaxError) Unwrap() error { return e.Err }

// Caret returns the line of the text that the error is in, and below it a caret under the place. Long lines are cut.
func (e *SyntaxError) Caret() string {
	const around = 60
	pos := min(max(e.Pos, 0), len(e.Text))
	from := strings.LastIndexByte(e.Text[:pos], '\n') + 1
	to := len(e.Text)
	if n := strings.IndexByte(e.Text[pos:], '\n'); n >= 0 {
		to = pos + n
	}
	from, to = max(from, pos-around), min(to, pos+around)
	before := strings.ToValidUTF8(e.Text[from:pos], "")
	line := strings.ReplaceAll(before+strings.ToValidUTF8(e.Text[pos:to], ""), "\t", " ")
	return line + "\n" + strings.Repeat(" ", utf8.RuneCountInString(before)) + "^"
}

// nearest offers the name that differs least from a word, as the end of a sentence; it is empty where none was meant.
func nearest(word string, names []string) string {
	best, least := "", max(1, len(word)/3)+1
	for _, n := range names {
		if d := distance(strings.ToLower(word), n); d < least {
			best, least = n, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %s?", best)
}

// distance counts the bytes to insert, drop or change to make a into b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}
