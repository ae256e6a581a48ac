package udf

import (
	"maps"
	"strings"
	"testing"
)

func TestParseCall(t *testing.T) {
	for text, want := range map[string]Args{
		"rvt":               {},
		"rvt:":              {},
		"f:bins=5":          {"bins": "5"},
		"f:a=1, b = x , c=": {"a": "1", "b": "x", "c": ""},
		"f:a=b=c":           {"a": "b=c"},
	} {
		name, args, err := ParseCall(text)
		if before, _, _ := strings.Cut(text, ":"); err != nil || name != before || !maps.Equal(args, want) {
			t.Errorf("ParseCall(%q) = %q, %v, %v", text, name, args, err)
		}
	}
	for _, text := range []string{"f:bins", "f:=5", "f:a=1,", "f:a=1,a=2"} {
		if _, _, err := ParseCall(text); err == nil {
			t.Errorf("ParseCall(%q) was accepted", text)
		}
	}
}

func TestMake(t *testing.T) {
	var got Args
	e := Entry{Name: "f", Params: []Param{{Name: "n", Default: "3"}, {Name: "mode", Default: "a", Choices: []string{"a", "b"}}},
		New: func(a Args) (Representation, error) {
			got = a
			_, err := a.Int("n", 1, 9)
			return nil, err
		}}
	if _, err := e.Make(Args{"mode": "b"}); err != nil || !maps.Equal(got, Args{"n": "3", "mode": "b"}) {
		t.Errorf("%v, %v", got, err)
	}
	for _, bad := range []Args{{"m": "1"}, {"mode": "c"}, {"n": "0"}, {"n": "10"}, {"n": "x"}, {"n": ""}} {
		if _, err := e.Make(bad); err == nil || !strings.HasPrefix(err.Error(), "f") {
			t.Errorf("Make(%v): %v", bad, err)
		}
	}
}
