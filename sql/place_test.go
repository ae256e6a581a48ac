package sql

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// asDuckDB ends an error as DuckDB does, whose lines are cut around the place where they are long.
func asDuckDB(text string, at int) string {
	start := strings.LastIndexByte(text[:at], '\n') + 1
	line, _, _ := strings.Cut(strings.ReplaceAll(text[start:], "\r", ""), "\n")
	column, lead := len([]rune(text[start:at])), ""
	if r := []rune(line); len(r) > 80 {
		from := max(column-40, 0)
		if from > 0 {
			lead = "..."
		}
		line, column = lead+string(r[from:min(from+80, len(r))])+"...", column-from+len(lead)
	}
	head := fmt.Sprintf("LINE %d: ", strings.Count(text[:start], "\n")+1)
	return "database/sql/driver: could not prepare query: Binder Error: no\n\n" + head + line + "\n" + strings.Repeat(" ", len(head)+column) + "^"
}

// The place of an error is that in the text which was given, wherever edits made it longer or shorter.
func TestPlaces(t *testing.T) {
	reader := func(path string) string {
		if strings.HasSuffix(path, ".parquet") {
			return "memory.main.evq_store"
		}
		return ""
	}
	long := strings.Repeat("x + ", 60)
	for _, given := range []string{
		"SELECT WRONG FROM 'a.parquet'", "FROM 'a.parquet' WHERE WRONG", "SELECT 1\nFROM 'ü ß.parquet' a,\n events('é', 3, 4) b WHERE WRONG = 3",
		"SELECT " + long + "1 FROM 'a.parquet', 'b.parquet' WHERE " + long + "WRONG AND " + long + "1 = 1", "FROM blocks('é', WRONG)",
		"SELECT 'WRONG' -- x\r\nFROM 'a.parquet' LIMIT WRONG",
	} {
		edits := rewrite(lex(given), reader, map[string]int{"events": 3, "blocks": 2})
		a := &admitted{given, edited(given, edits), edits}
		cause := errors.New(asDuckDB(a.text, strings.LastIndex(a.text, "WRONG")))
		err := a.told(cause)
		lines := strings.Split(err.Error(), "\n")
		last := lines[len(lines)-2:]
		shown, caret := []rune(last[0]), len([]rune(last[1]))-1
		at := strings.LastIndex(given, "WRONG")
		line := fmt.Sprintf("LINE %d: ", strings.Count(given[:at], "\n")+1)
		if lines[0] != "Binder Error: no" || !strings.HasPrefix(last[0], line) || caret+5 > len(shown) || string(shown[caret:caret+5]) != "WRONG" || !errors.Is(err, cause) {
			t.Errorf("%s\n%v", given, err)
		}
		if strings.Contains(err.Error(), "evq_store") || strings.Contains(err.Error(), "argument_") {
			t.Errorf("%s\n shows the text that DuckDB saw:\n%v", given, err)
		}
	}
}
