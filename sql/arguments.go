package sql

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/evq-project/evq/io/formats"
	"github.com/evq-project/evq/sql/duck"
	"github.com/evq-project/evq/udf"
)

// Arguments are those of one call, by name. A list stays one until it is read.
type arguments struct {
	function string
	given    map[string]any
	taken    map[string]bool
}

// newArguments puts the positional arguments behind the first names under those names; options, a struct or the text
// key=value,key=value, may come last.
func newArguments(function string, a duck.Args, positions ...string) (*arguments, error) {
	out := &arguments{function, map[string]any{}, map[string]bool{}}
	for i, v := range a.Positional {
		switch options, ok := optionsOf(v); {
		case ok && i > 0 && i == len(a.Positional)-1:
			for _, f := range options {
				if err := out.set(f.Name, f.Value); err != nil {
					return nil, err
				}
			}
		case i < len(positions):
			if err := out.set(positions[i], v); err != nil {
				return nil, err
			}
		case i > 0 && i == len(a.Positional)-1 && strings.Contains(wordOf(v), "="):
			return nil, fmt.Errorf("%s: %q is not of the form key=value,key=value; write lists as {'roi': [0, 0, 9, 9]}, or name := value", function, wordOf(v))
		default:
			return nil, fmt.Errorf("%s: argument %d is one too many; call it %s", function, i+1, callOf(function, positions))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(a.Named)) {
		if err := out.set(name, a.Named[name]); err != nil {
			return nil, err
		}
	}
	for _, p := range positions[:1] {
		if out.given[p] == nil {
			return nil, fmt.Errorf("%s: the %s is missing; call it %s", function, p, callOf(function, positions))
		}
	}
	return out, nil
}

func callOf(function string, positions []string) string {
	return fmt.Sprintf("%s('%s' …, name := value …, or {'name': value} or 'name=value,…' at the end)", function, strings.Join(positions, "', '"))
}

// optionsOf reads a struct, or text of the form key=value,key=value.
func optionsOf(v any) (duck.Struct, bool) {
	switch v := v.(type) {
	case duck.Struct:
		return v, true
	case string:
		key, _, ok := strings.Cut(v, "=")
		if !ok || strings.ContainsFunc(strings.TrimSpace(key), func(r rune) bool { return r != '_' && (r < 'a' || r > 'z') && (r < '0' || r > '9') }) {
			return nil, false
		}
		_, args, err := udf.ParseCall("options:" + v)
		if err != nil {
			return nil, false
		}
		var out duck.Struct
		for _, k := range slices.Sorted(maps.Keys(args)) {
			out = append(out, duck.Field{Name: k, Value: args[k]})
		}
		return out, true
	}
	return nil, false
}

func (a *arguments) set(name string, v any) error {
	name = strings.ToLower(name)
	if alias, ok := aliases[name]; ok {
		name = alias
	}
	if _, twice := a.given[name]; twice {
		return fmt.Errorf("%s: %s is given twice", a.function, name)
	}
	if v != nil { // NULL stands for the default
		a.given[name] = v
	}
	return nil
}

// aliases are names for those that SQL reserves: window := would have to be written "window" :=.
var aliases = map[string]string{"every": "window", "between": "time", "times": "time", "predicate": "where"}

// has reports whether an argument was given, and takes it.
func (a *arguments) has(name string) bool {
	a.taken[name] = true
	_, ok := a.given[name]
	return ok
}

// text returns an argument as the words of evq, "" where it was not given.
func (a *arguments) text(name string) string {
	a.taken[name] = true
	return wordOf(a.given[name])
}

// texts returns an argument that may be a list.
func (a *arguments) texts(name string) []string {
	a.taken[name] = true
	switch v := a.given[name].(type) {
	case nil:
		return nil
	case []any:
		out := make([]string, len(v))
		for i, one := range v {
			out[i] = wordOf(one)
		}
		return out
	default:
		return []string{wordOf(v)}
	}
}

func wordOf(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case []any:
		parts := make([]string, len(v))
		for i, one := range v {
			parts[i] = wordOf(one)
		}
		return strings.Join(parts, ",")
	default:
		return fmt.Sprint(v)
	}
}

// truth returns an argument that is true or false.
func (a *arguments) truth(name string) (bool, error) {
	if !a.has(name) {
		return false, nil
	}
	v, err := strconv.ParseBool(a.text(name))
	if err != nil {
		return false, fmt.Errorf("%s: %s is true or false, not %q", a.function, name, a.text(name))
	}
	return v, nil
}

// params takes the arguments of a function of package udf.
func (a *arguments) params(of []udf.Param) udf.Args {
	out := udf.Args{}
	for _, p := range of {
		if a.has(p.Name) {
			out[p.Name] = a.text(p.Name)
		}
	}
	return out
}

// rest reports an argument that nothing took.
func (a *arguments) rest() error {
	known := slices.Sorted(maps.Keys(a.taken))
	for _, name := range slices.Sorted(maps.Keys(a.given)) {
		if a.taken[name] {
			continue
		}
		if near := formats.Nearest(name, known); near != "" {
			return fmt.Errorf("%s has no argument %q; did you mean %s?", a.function, name, near)
		}
		return fmt.Errorf("%s has no argument %q; it has %s", a.function, name, strings.Join(known, ", "))
	}
	return nil
}

// wrong names the function and the argument an error belongs to.
func (a *arguments) wrong(name string, err error) error {
	return fmt.Errorf("%s: %s: %w", a.function, name, err)
}
