//go:build duckdb

package sql

import "testing"

// Every type of DuckDB's has a column of Arrow's.
func TestValues(t *testing.T) {
	r := runner(t, opened(t, Options{}))
	for text, want := range map[string]string{
		"1::TINYINT": "1", "-1::INTEGER": "-1", "18446744073709551615::UBIGINT": "18446744073709551615", "sum(x) FROM (VALUES (1), (2)) v(x)": "3",
		"1.50::DECIMAL(8, 2)": "1.5", "-0.01::DECIMAL(38, 2)": "-0.01", "true": "true", "0.1::FLOAT": "0.1", "'é'": "é", "NULL": "(null)",
		"'\\x00\\xFF'::BLOB": "AP8=", "DATE '2020-01-02'": "2020-01-02", "TIMESTAMP '2020-01-02 03:04:05.6'": "2020-01-02T03:04:05.6",
		"TIME '01:02:03'": "01:02:03.000000", "INTERVAL '3 days 1 hour'": "3 days 1h0m0s", "'12345678-1234-5678-9abc-123456789abc'::UUID": "12345678-1234-5678-9abc-123456789abc",
		"[1, NULL, 3]": "[1,null,3]", "{'a': 1.5, 'b': [{'c': 'd'}]}": `{"a":1.5,"b":[{"c":"d"}]}`, "MAP {'k': 1}": `{"k":1}`,
		"'b'::ENUM('a', 'b')": "b", "union_value(n := 2)": "2", "['nan'::DOUBLE]": "[null]",
	} {
		_, _, rows, err := rowsOf(r, "SELECT "+text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if rows[0] != want+"|" {
			t.Errorf("%s is %s, want %s", text, rows[0], want)
		}
	}
	if _, _, _, err := rowsOf(r, "SELECT 170141183460469231731687303715884105727::HUGEINT"); err == nil {
		t.Error("a HUGEINT of 39 digits has a value")
	}
}
