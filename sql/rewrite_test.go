package sql

import "testing"

// What is a table and what is a call is told from what only looks like it.
func TestRewrite(t *testing.T) {
	reader := func(path string) string {
		if path == "a.parquet" {
			return "store"
		}
		return ""
	}
	functions := map[string]int{"events": 2, "blocks": 4}
	for text, want := range map[string]string{
		"SELECT 1":         "SELECT 1",
		"FROM 'a.parquet'": `FROM store('a.parquet') AS "a"`,
		"from \"a.parquet\" b where 'a.parquet' = c":                           "from store('a.parquet') b where 'a.parquet' = c",
		"FROM 'b.parquet', 'a.parquet' AS c JOIN 'a.parquet' USING (t)":        `FROM 'b.parquet', store('a.parquet') AS c JOIN store('a.parquet') AS "a" USING (t)`,
		"SELECT 'a.parquet', 'a.parquet' FROM b WHERE c IN ('x', 'a.parquet')": "SELECT 'a.parquet', 'a.parquet' FROM b WHERE c IN ('x', 'a.parquet')",
		"FROM (SELECT 1, 'a.parquet' FROM 'a.parquet') GROUP BY ALL":           `FROM (SELECT 1, 'a.parquet' FROM store('a.parquet') AS "a") GROUP BY ALL`,
		"FROM read_parquet('a.parquet')":                                       "FROM read_parquet('a.parquet')",
		"-- FROM 'a.parquet'\nSELECT 1":                                        "-- FROM 'a.parquet'\nSELECT 1",
		"/* a /* FROM 'a.parquet' */ */ SELECT $$FROM 'a.parquet'$$":           "/* a /* FROM 'a.parquet' */ */ SELECT $$FROM 'a.parquet'$$",
		"FROM events('x', '50ms')":                                             "FROM events('x', argument_2 := '50ms')",
		"FROM blocks('x', [1, 2], window := 3, time => (4, 5), {'a': 1})":      `FROM blocks('x', argument_2 := [1, 2], "window" := 3, "time" => (4, 5), argument_3 := {'a': 1})`,
		"FROM EVENTS()": "FROM EVENTS(NULL)",
		"SELECT events('x', 2) FROM b, LATERAL events('x', 2)": "SELECT events('x', 2) FROM b, LATERAL events('x', argument_2 := 2)",
		"FROM main.events('x', 2), m.b":                        "FROM main.events('x', argument_2 := 2), m.b",
		"CALL events('x', 2)":                                  "CALL events('x', argument_2 := 2)",
		"FROM 'a.parquet":                                      `FROM store('a.parquet') AS "a"`,
		"FROM events('x', ":                                    "FROM events('x', ",
	} {
		if got := edited(text, rewrite(lex(text), reader, functions)); got != want {
			t.Errorf("%s\n became %s\n    want %s", text, got, want)
		}
	}
}

func FuzzLex(f *testing.F) {
	f.Add("SELECT 'a' \"b\" $x$c$x$ e'\\'' /* -- */ 1.5e3 FROM events('x', 2)")
	f.Fuzz(func(t *testing.T, text string) {
		tokens := lex(text)
		at := 0
		for _, tok := range tokens {
			if tok.at < at || tok.to <= tok.at || tok.to > len(text) {
				t.Fatalf("%q: token %v after %d", text, tok, at)
			}
			at = tok.to
		}
		if err := refuse(tokens, map[string]bool{"sae": true}); err == nil && len(tokens) == 0 {
			return
		}
		_ = readOnly(tokens)
		edits := rewrite(tokens, func(string) string { return "f" }, map[string]int{"events": 3})
		a := &admitted{text, edited(text, edits), edits}
		for at := range len(a.text) + 1 {
			if b := a.before(at); b < 0 || b > len(text) {
				t.Fatalf("%q: place %d was %d", text, at, b)
			}
			_ = pointed(text, a.before(at))
		}
	})
}
