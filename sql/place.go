package sql

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// An admitted query is one that DuckDB may see, with the edits that made it of the text that was given.
type admitted struct {
	given string
	text  string
	edits []edit // of given
}

// A queryError is an error of DuckDB's in words for the reader: without the layers of the driver, and with its place in
// the text that was given rather than in the one that DuckDB saw.
type queryError struct {
	text string
	err  error
}

func (e *queryError) Error() string { return e.text }
func (e *queryError) Unwrap() error { return e.err }

var (
	// driverLayers are what the driver puts before DuckDB's own words.
	driverLayers = regexp.MustCompile(`^database/sql/driver: (?:(?:API error|could not [a-z ]+): )*`)
	// placed is how DuckDB ends an error that has a place: the line, cut with dots where it is long, and a caret below.
	placed = regexp.MustCompile(`(?s)\n+LINE (\d+): ([^\n]*)\n( *)\^\s*$`)
)

// told makes an error of DuckDB's one for the reader.
func (a *admitted) told(err error) error {
	if err == nil {
		return nil
	}
	text := driverLayers.ReplaceAllString(err.Error(), "")
	if m := placed.FindStringSubmatchIndex(text); m != nil {
		if at, ok := place(a.text, text[m[2]:m[3]], text[m[4]:m[5]], m[7]-m[6]); ok {
			text = text[:m[0]] + "\n\n" + pointed(a.given, a.before(at))
		}
	}
	text = strings.TrimPrefix(text, "Binder Error: Error in replacement scan: ")
	if text == err.Error() {
		return err
	}
	return &queryError{text, err}
}

// place returns the offset in a text that DuckDB's excerpt of a line and the width before its caret tell.
func place(text, number, excerpt string, width int) (int, bool) {
	n, err := strconv.Atoi(number)
	start := 0
	for ; err == nil && n > 1; n-- {
		_, next := lineEnd(text, start)
		if next == start || next == len(text) {
			return 0, false
		}
		start = next
	}
	end, _ := lineEnd(text, start)
	line := text[start:end]
	width -= len("LINE : ") + len(number)
	if strings.HasPrefix(excerpt, "...") && !strings.HasPrefix(line, excerpt[:min(len(excerpt), 8)]) {
		excerpt, width = excerpt[3:], width-3
	}
	at := strings.Index(line, excerpt)
	if at < 0 {
		at = strings.Index(line, strings.TrimSuffix(excerpt, "..."))
	}
	if err != nil || at < 0 || width < 0 {
		return 0, false
	}
	for _, r := range line[at:] {
		w := runeWidth(r)
		if width -= w; width < 0 {
			break
		}
		at += utf8.RuneLen(r)
	}
	return start + min(at, len(line)), true
}

// lineEnd returns where the line that holds a place ends, and where the next one begins.
func lineEnd(text string, at int) (end, next int) {
	i := strings.IndexAny(text[at:], "\r\n")
	if i < 0 {
		return len(text), len(text)
	}
	end = at + i
	if strings.HasPrefix(text[end:], "\r\n") {
		return end, end + 2
	}
	return end, end + 1
}

// wide are the runes that terminals show over two columns: those of East Asia, and pictures.
var wide = &unicode.RangeTable{R16: []unicode.Range16{
	{Lo: 0x1100, Hi: 0x115f, Stride: 1}, {Lo: 0x2e80, Hi: 0xa4cf, Stride: 1}, {Lo: 0xac00, Hi: 0xd7a3, Stride: 1}, {Lo: 0xf900, Hi: 0xfaff, Stride: 1},
	{Lo: 0xfe30, Hi: 0xfe6f, Stride: 1}, {Lo: 0xff01, Hi: 0xff60, Stride: 1}, {Lo: 0xffe0, Hi: 0xffe6, Stride: 1},
}, R32: []unicode.Range32{{Lo: 0x1f300, Hi: 0x1f64f, Stride: 1}, {Lo: 0x1f900, Hi: 0x1f9ff, Stride: 1}, {Lo: 0x20000, Hi: 0x3fffd, Stride: 1}}}

// runeWidth is over how many columns a rune is shown.
func runeWidth(r rune) int {
	switch {
	case r < ' ' || unicode.In(r, unicode.Mn, unicode.Me):
		return 0
	case unicode.Is(wide, r):
		return 2
	}
	return 1
}

// before returns where an offset in the text lay before the edits; in what an edit put there, it is where that begins.
func (a *admitted) before(at int) int {
	moved := 0 // how much longer the text became before at
	for _, e := range a.edits {
		from := e.at + moved
		if at < from {
			break
		}
		if at < from+len(e.text) {
			return min(e.at, len(a.given))
		}
		moved += len(e.text) - (e.to - e.at)
	}
	return min(max(at-moved, 0), len(a.given))
}

// shownWidth bounds how much of a line is shown on either side of its caret.
const shownWidth = 60

// pointed shows a place in a text: its line, and a caret below.
func pointed(text string, at int) string {
	start, number := 0, 1
	end, next := lineEnd(text, 0)
	for at > end && next < len(text) && next <= at {
		start, number = next, number+1
		end, next = lineEnd(text, start)
	}
	at = min(at, end) // not between a carriage return and its line feed
	head, tail := []rune(text[start:at]), []rune(text[at:end])
	before, after := "", ""
	if len(head) > shownWidth {
		head, before = head[len(head)-shownWidth:], "..."
	}
	if len(tail) > shownWidth {
		tail, after = tail[:shownWidth], "..."
	}
	lead := fmt.Sprintf("LINE %d: %s", number, before)
	column := len(lead)
	for i, r := range head {
		if r < ' ' {
			head[i], r = ' ', ' '
		}
		column += runeWidth(r)
	}
	return lead + string(head) + string(tail) + after + "\n" + strings.Repeat(" ", column) + "^"
}
