package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
)

func (a *app) explainCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "explain QUERY",
		Short: "Print how a query would run: its plan, the rules that changed it, its operators",
		Long: `Explain prints the plan of a query as it was written, the optimiser's rules that changed it, the plan after them,
and the operators that would run. The query itself does not run.`,
		Example: `  evq explain tensor drive.parquet --window 50ms --repr rvt
  evq explain tensor drive.raw --time 1s..2s --polarity on --repr stacked_histogram --rules none`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			return unknown("query to explain", args[0], []string{"tensor"})
		},
	}
	q := &query{app: a}
	tensor := &cobra.Command{
		Use:   "tensor REC --repr NAME[:k=v,...]",
		Short: "Print how evq tensor would run",
		Example: `  evq explain tensor drive.parquet --window 50ms --repr rvt
  evq explain tensor drive.parquet --roi 0,0,639,359 --repr stacked_histogram --rules -fuse_histogram`,
		Args:              oneArgument,
		ValidArgsFunction: completeFiles,
		RunE:              func(cmd *cobra.Command, args []string) error { return a.explain(cmd.Context(), args[0], q) },
	}
	// A query's own line can be explained as it stands: where its blocks would go is accepted and left unused.
	(&blockOutput{app: a}).flags(tensor)
	q.flags(tensor)
	cmd.AddCommand(tensor)
	return cmd
}

func (a *app) explain(ctx context.Context, path string, q *query) error {
	m := a.newMeter()
	defer q.close()
	if err := q.open(ctx, path, m); err != nil {
		return err
	}
	text, err := q.tensors.Explain(q.options...)
	if err != nil {
		return named(path, err)
	}
	_, err = fmt.Fprint(a.out, text)
	return err
}
