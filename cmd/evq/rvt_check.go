package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/evq-project/evq/engine/rvt"
)

func (a *app) rvtCheckCommand() *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:   "check A B",
		Short: "Compare two of RVT's trees, or two of their files, element by element",
		Long: `Check compares frames element by element, and times, maps and labels value by value, and names the first that differs
by window, channel, row and column. A and B are both trees, of sequences or whole data sets, or both files. Manifests
are left out, so that evq's trees can be compared with RVT's own.

Exit codes: 0 equal; 1 different, or unreadable.`,
		Example: `  evq rvt check out/ rvt_out/
  evq rvt check a/event_representations.h5 b/event_representations.h5 --json`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 2 {
				return usage("%s takes two trees or files, not %d; see %s --help", cmd.CommandPath(), len(args), cmd.CommandPath())
			}
			return nil
		},
		ValidArgsFunction: completeFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.rvtCheck(cmd.Context(), args[0], args[1], asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// A checkReport is what rvt check prints. The names of its JSON keys are stable.
type checkReport struct {
	Equal    bool   `json:"equal"`
	File     string `json:"file,omitempty"` // the first that differs
	Where    string `json:"where,omitempty"`
	A        string `json:"a,omitempty"`
	B        string `json:"b,omitempty"`
	Files    int    `json:"files_different"`
	Elements int64  `json:"elements_different"`
	Compared int64  `json:"elements_compared"`
}

func (a *app) rvtCheck(ctx context.Context, left, right string, asJSON bool) error {
	d, err := rvt.Check(ctx, left, right)
	if err != nil {
		return rvtError(err)
	}
	if asJSON {
		err = printJSON(a.out, checkReport{d.Equal(), d.File, d.Where, d.A, d.B, d.Files, d.Elements, d.Compared})
	} else {
		text := d.String()
		if d.Equal() {
			text = fmt.Sprintf("equal; %s of frames compared", counted(d.Compared, "element"))
		}
		_, err = fmt.Fprintln(a.out, text)
	}
	if err == nil && !d.Equal() {
		err = fmt.Errorf("%s and %s differ", left, right)
	}
	return err
}
