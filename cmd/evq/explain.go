package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/evq-project/evq/engine"
)

func (a *app) explainCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "explain QUERY",
		Short: "Print how a query would run: its plan, the rules that changed it, its operators",
		Long: `Explain prints the plan of a query as it was written, the optimiser's rules that changed it, the plan after them,
and the operators that would run. The query itself runs only with --analyze, which adds what each operator yielded
and how long its reader waited for it.`,
		Example: `  evq explain tensor drive.parquet --window 50ms --repr rvt
  evq explain tensor drive.raw --time 1s..2s --polarity on --repr stacked_histogram --rules none
  evq explain query drive.parquet --window 1s --group 'tile(16)' --analyze`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			return unknown("query to explain", args[0], []string{"tensor", "query"})
		},
	}
	cmd.AddCommand(a.explainTensor(), a.explainQuery())
	return cmd
}

// An explaining is the flags of explain.
type explaining struct{ analyze bool }

func (e *explaining) flags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&e.analyze, "analyze", false, "run the query, and print what each operator yielded")
}

func (a *app) explainTensor() *cobra.Command {
	q, e := &tensorQuery{input: input{app: a}}, &explaining{}
	cmd := &cobra.Command{
		Use:   "tensor REC --repr NAME[:k=v,...]",
		Short: "Print how evq tensor would run",
		Example: `  evq explain tensor drive.parquet --window 50ms --repr rvt
  evq explain tensor drive.parquet --roi 0,0,639,359 --repr stacked_histogram --rules -fuse_histogram`,
		ValidArgsFunction: completeFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			m := a.newMeter()
			defer q.close()
			if err := q.open(cmd.Context(), args[0], m); err != nil {
				return err
			}
			return a.explain(cmd.Context(), args[0], q.tensors, e, q.options)
		},
	}
	// A query's own line can be explained as it stands: where its blocks would go is accepted and left unused.
	(&blockOutput{app: a}).flags(cmd)
	q.flags(cmd)
	q.reading.joining(cmd)
	e.flags(cmd)
	return cmd
}

func (a *app) explainQuery() *cobra.Command {
	q, e := &groupQuery{input: input{app: a}}, &explaining{}
	cmd := &cobra.Command{
		Use:               "query REC [--group KEYS] [--agg LIST]",
		Short:             "Print how evq query would run",
		Example:           `  evq explain query drive.parquet --window 50ms --bins 10 --group p --analyze`,
		Args:              q.args,
		ValidArgsFunction: completeFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := q.check(); err != nil {
				return err
			}
			paths, err := expand(args)
			if err != nil {
				return err
			}
			if len(paths) > 1 && !q.merge && !q.reading.join {
				return usage("%d recordings are %d queries; explain one of them, or --merge them into one", len(paths), len(paths))
			}
			m := a.newMeter()
			defer q.close()
			if err := q.open(cmd.Context(), paths, m); err != nil {
				return err
			}
			return a.explain(cmd.Context(), strings.Join(paths, " + "), q.rows, e, q.options)
		},
	}
	(&tableOutput{app: a}).flags(cmd)
	q.flags(cmd)
	q.reading.joinFlag(cmd)
	e.flags(cmd)
	return cmd
}

// explain prints how a query would run or, analysed, how it ran.
func (a *app) explain(ctx context.Context, name string, q interface {
	Explain(...engine.Option) (string, error)
	Analyze(context.Context, ...engine.Option) (string, error)
}, e *explaining, opts []engine.Option) error {
	text, err := q.Explain(opts...)
	if err == nil && e.analyze {
		var ran string
		ran, err = q.Analyze(ctx, opts...)
		text += "\n" + ran
	}
	if err != nil {
		return named(name, err)
	}
	_, err = fmt.Fprint(a.out, text)
	return err
}
