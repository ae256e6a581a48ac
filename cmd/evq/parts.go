package main

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/evq-project/evq/engine"
)

// joinFlag declares the flag that makes one recording of the arguments.
func (r *reading) joinFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&r.join, "join", false, "the recordings are the parts of one that a camera split, in order")
}

// joining declares --join on a verb that reads one recording, and checks the verb's arguments: one recording, or all
// the parts of one.
func (r *reading) joining(cmd *cobra.Command) {
	r.joinFlag(cmd)
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		switch {
		case r.join:
			return r.joined(cmd, args)
		case len(args) > 1:
			return usage("%s takes one recording, not %d; --join reads the parts of one, in order", cmd.CommandPath(), len(args))
		}
		return oneArgument(cmd, args)
	}
}

// joined takes the arguments as the parts of one recording, which the first stands for.
func (r *reading) joined(cmd *cobra.Command, args []string) error {
	if err := someArguments(cmd, args); err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, part := range args {
		path := filepath.Clean(part)
		if seen[path] {
			return usage("%s is named twice; name each part of the recording once, in order", part)
		}
		seen[path] = true
	}
	r.parts = args[1:]
	return nil
}

// partNames lists the parts after the first, "" where there are none.
func (r *reading) partNames() string {
	names := make([]string, len(r.parts))
	for i, part := range r.parts {
		names[i] = filepath.Base(part)
	}
	return strings.Join(names, ", ")
}

// sizeOf is how many bytes a recording has, unpacked and joined; 0 where that is not known.
func sizeOf(rec *engine.Recording) int64 {
	if s, ok := rec.Source.(interface{ Size() int64 }); ok {
		return s.Size()
	}
	return 0
}

// place returns the part of a joined recording in which a byte stands, and where in it; "" and the byte where the
// recording is one file.
func (r *reading) place(rec *engine.Recording, offset int64) (part string, at int64) {
	if s, ok := rec.Source.(interface{ Place(int64) (string, int64) }); ok && len(r.parts) > 0 && offset >= 0 {
		return s.Place(offset)
	}
	return "", offset
}

// bytesOf sums the sizes of files as they lie on disk. Standard input has none: its bytes are the recording's.
func bytesOf(rec *engine.Recording, paths ...string) (sum int64, err error) {
	for _, path := range paths {
		if path == "-" {
			return sizeOf(rec), nil
		}
		st, err := os.Stat(path)
		if err != nil {
			return 0, err
		}
		sum += st.Size()
	}
	return sum, nil
}
