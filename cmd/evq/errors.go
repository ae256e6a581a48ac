package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/evq-project/evq/io/formats"
	"github.com/evq-project/evq/plan"
)

// The exit codes.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitLosses      = 3
	exitInterrupted = 130 // 128 + SIGINT, as shells have it
)

// A usageError is the user's, not the recording's.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usage(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// errLosses ends a verb that is done and has printed what was lost.
var errLosses = errors.New("done, with losses")

var errInterrupted = errors.New("interrupted")

func exitCode(ctx context.Context, err error) int {
	var use usageError
	switch {
	case err == nil, errors.Is(err, syscall.EPIPE): // a reader such as head has seen enough
		return exitOK
	case errors.Is(err, errLosses):
		return exitLosses
	case errors.As(err, &use), errors.Is(err, plan.ErrInvalid):
		return exitUsage
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		return exitInterrupted
	}
	return exitFailed
}

var longFlag = regexp.MustCompile(`--([a-z][a-z0-9-]*)`)

// flagError turns what the flag library says into wrong use, and offers the nearest flag.
func flagError(cmd *cobra.Command, err error) error {
	msg := err.Error()
	if name, ok := strings.CutPrefix(msg, "unknown flag: --"); ok {
		var names []string
		for _, m := range longFlag.FindAllStringSubmatch(cmd.Flags().FlagUsages(), -1) {
			names = append(names, m[1])
		}
		hint := ""
		if n := formats.Nearest(name, names); n != "" {
			hint = fmt.Sprintf("; did you mean --%s?", n)
		}
		return usage("%s has no flag --%s%s", cmd.CommandPath(), name, hint)
	}
	return usageError{err}
}

var unknownVerb = regexp.MustCompile(`^unknown command "(.*)" for`)

// verbError turns the command library's error for an unknown verb into ours, which offers the nearest.
func verbError(root *cobra.Command, err error) error {
	if err == nil {
		return nil
	}
	m := unknownVerb.FindStringSubmatch(err.Error())
	if m == nil {
		return err
	}
	var names []string
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return unknown("verb", m[1], names)
}

// oneArgument is the argument check of verbs that read one recording.
func oneArgument(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return usage("%s takes one recording, not %d; see %s --help", cmd.CommandPath(), len(args), cmd.CommandPath())
	}
	return nil
}

func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usage("%s takes no argument %q; see %s --help", cmd.CommandPath(), args[0], cmd.CommandPath())
	}
	return nil
}
