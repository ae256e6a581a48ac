package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// complete offers what a word may become: within quotes a file, after a dot at the start of the line a command, else a
// keyword, a function, a table or a column. head and tail are the line
// around it, which stays.
func (s *sqlShell) complete(ctx context.Context, line string, pos int) (head string, offers []string, tail string) {
	runes := []rune(line)
	before, after := string(runes[:pos]), string(runes[pos:])
	if quote := openQuote(before); quote >= 0 {
		return before[:quote+1], filesLike(before[quote+1:]), after
	}
	start := strings.LastIndexFunc(before, func(r rune) bool {
		return r != '_' && r != '.' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}) + 1
	word := before[start:]
	if start == 0 && strings.HasPrefix(word, ".") {
		for _, c := range shellCommands {
			if strings.HasPrefix(c.name, word) {
				offers = append(offers, c.name)
			}
		}
		return "", offers, after
	}
	if word == "" {
		return before, nil, after
	}
	if s.words == nil {
		s.words = s.ask(ctx)
	}
	for _, w := range s.words {
		if len(w) > len(word) && strings.EqualFold(w[:len(word)], word) {
			offers = append(offers, w)
		}
	}
	return before[:start], offers, after
}

// openQuote returns where a quote stands that is not closed, or -1.
func openQuote(text string) int {
	at := -1
	for i := range len(text) {
		if text[i] == '\'' {
			if at < 0 {
				at = i
			} else {
				at = -1
			}
		}
	}
	return at
}

// mostFiles bounds how many files are offered.
const mostFiles = 200

// filesLike returns the files whose path begins with some text, folders with a slash behind.
func filesLike(text string) (all []string) {
	dir, base := filepath.Split(text)
	entries, err := os.ReadDir(filepath.Clean("." + string(filepath.Separator) + dir))
	if filepath.IsAbs(dir) {
		entries, err = os.ReadDir(dir)
	}
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), base) || len(all) == mostFiles {
			continue
		}
		name := dir + e.Name()
		if e.IsDir() {
			name += "/"
		}
		all = append(all, name)
	}
	return all
}

// ask returns keywords, functions, tables and columns.
func (s *sqlShell) ask(ctx context.Context) []string {
	words := []string{"t", "x", "y", "p"}
	for _, f := range s.session.Functions() {
		words = append(words, f.Name)
	}
	// What cannot be asked, such as while the connection fails, is not offered.
	res, err := s.runner.Run(ctx, `SELECT upper(keyword_name) FROM duckdb_keywords() UNION SELECT function_name FROM duckdb_functions() WHERE function_name ~ '^[a-z]'
		UNION SELECT table_name FROM duckdb_tables() UNION SELECT view_name FROM duckdb_views() WHERE NOT internal UNION SELECT column_name FROM duckdb_columns() WHERE NOT internal`)
	if err == nil {
		defer func() { _ = res.Close() }()
		_ = res.Each(ctx, func(rec arrow.RecordBatch) error {
			if text, ok := rec.Column(0).(*array.String); ok {
				for i := range text.Len() {
					words = append(words, strings.Clone(text.Value(i)))
				}
			}
			return nil
		})
	}
	slices.Sort(words)
	return slices.Compact(words)
}
