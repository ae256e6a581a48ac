package main

import (
	"strings"

	"github.com/spf13/cobra"
)

// A value is a flag of any type, read by a function.
type value struct {
	text string // as it was given, or the default
	kind string
	set  func(string) error
}

// String, Type and Set make it a flag.
func (v *value) String() string { return v.text }

// Type is what the help calls the value where its text does not name it.
func (v *value) Type() string { return v.kind }

// Set reads the flag.
func (v *value) Set(s string) error {
	if err := v.set(s); err != nil {
		return err
	}
	v.text = s
	return nil
}

// add declares a flag. Those of the root are every verb's.
func add(cmd *cobra.Command, v *value, name, short, doc string) {
	f := cmd.Flags()
	if cmd.Name() == "evq" {
		f = cmd.PersistentFlags()
	}
	f.VarP(v, name, short, doc)
}

// valueFlag declares a flag whose value parse reads. shown is its default as the help shows it.
func valueFlag[T any](cmd *cobra.Command, to *T, parse func(string) (T, error), name, shown, doc string) {
	add(cmd, &value{text: shown, kind: name, set: func(s string) (err error) {
		v, err := parse(s)
		if err == nil {
			*to = v
		}
		return err
	}}, name, "", doc)
}

// enumFlag declares a flag that takes one of a few words; shells complete them.
func enumFlag[S ~string](cmd *cobra.Command, to *S, name, initial, doc string, words ...string) {
	*to = S(initial)
	add(cmd, &value{text: initial, kind: name, set: func(s string) error {
		*to = S(s)
		return oneOf(s, words)
	}}, name, "", doc+" ("+strings.Join(words, ", ")+")")
	complete(cmd, name, words)
}

// complete lets shells offer words for a flag.
func complete(cmd *cobra.Command, name string, words []string) {
	// It fails only for a flag that does not exist, which a test would find.
	_ = cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}

// completeFiles lets shells offer files for arguments.
func completeFiles(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}
