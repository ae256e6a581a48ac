package table

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// A prettyEncoder writes columns wide enough for the rows of the first record; what is longer later widens its column.
type prettyEncoder struct {
	w     *bufio.Writer
	names []string
	text  []bool // columns of text stand to the left
	width []int
	begun bool
}

func newPretty(w io.Writer, schema *arrow.Schema) (encoder, error) {
	e := &prettyEncoder{w: bufio.NewWriter(w)}
	for _, f := range schema.Fields() {
		e.names = append(e.names, f.Name)
		e.text = append(e.text, isText(f.Type))
		e.width = append(e.width, utf8.RuneCountInString(f.Name))
	}
	return e, nil
}

func (e *prettyEncoder) write(r arrow.RecordBatch) error {
	rows := make([][]string, r.NumRows())
	for i := range rows {
		rows[i] = make([]string, len(e.names))
		for c, col := range r.Columns() {
			s := prettyCell(col, i)
			rows[i][c] = s
			e.width[c] = max(e.width[c], utf8.RuneCountInString(s))
		}
	}
	if err := e.begin(); err != nil {
		return err
	}
	for _, row := range rows {
		if err := e.line(row); err != nil {
			return err
		}
	}
	return e.w.Flush()
}

// isText reports whether values are words rather than numbers.
func isText(t arrow.DataType) bool {
	return !arrow.IsPrimitive(t.ID()) && !arrow.IsDecimal(t.ID())
}

// prettyCell returns the text of one value. Of a BLOB only its size is shown: nobody reads one.
func prettyCell(c arrow.Array, i int) string {
	if b, ok := c.(*array.Binary); ok && c.IsValid(i) {
		return fmt.Sprintf("<%d bytes>", len(b.Value(i)))
	}
	s := string(cell(nil, c, i, "", func(dst []byte, s string) []byte { return append(dst, s...) }))
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' {
			return utf8.RuneError // a terminal would obey it
		}
		return r
	}, s)
}

func (e *prettyEncoder) begin() error {
	if e.begun {
		return nil
	}
	e.begun = true
	return e.line(e.names)
}

func (e *prettyEncoder) line(row []string) error {
	var b strings.Builder
	for c, s := range row {
		if c > 0 {
			b.WriteString("  ")
		}
		space := strings.Repeat(" ", max(e.width[c]-utf8.RuneCountInString(s), 0))
		if e.text[c] {
			b.WriteString(s + space)
		} else {
			b.WriteString(space + s)
		}
	}
	_, err := e.w.WriteString(strings.TrimRight(b.String(), " ") + "\n")
	return err
}

func (e *prettyEncoder) finish() error {
	if err := e.begin(); err != nil {
		return err
	}
	return e.w.Flush()
}
