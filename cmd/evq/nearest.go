package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/evq-project/evq/io/formats"
)

// unknown is the error for a word that is none of the names; it offers the nearest.
func unknown(what, word string, names []string) error {
	if n := formats.Nearest(word, names); n != "" {
		return usage("there is no %s %q; did you mean %s?", what, word, n)
	}
	return usage("there is no %s %q; there are %s", what, word, strings.Join(names, ", "))
}

// oneOf checks a word of a small fixed set; its error ends a message that names the flag.
func oneOf(word string, of []string) error {
	if slices.Contains(of, word) {
		return nil
	}
	hint := ""
	if n := formats.Nearest(word, of); n != "" {
		hint = fmt.Sprintf("; did you mean %s?", n)
	}
	return fmt.Errorf("it is one of %s%s", strings.Join(of, ", "), hint)
}
