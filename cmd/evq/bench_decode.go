package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/evq-project/evq/io/event"
)

func (a *app) decodeCommand() *cobra.Command {
	var r reading
	var rounds int
	cmd := &cobra.Command{
		Use:   "decode REC",
		Short: "Time decoding a recording to columns in memory",
		Long: `Decode reads all events of a recording, several times over, under the policies of the flags, and prints the median
speed. The sums of the columns are taken in one more round, which is not timed, so that the result can be compared with
another reader's.`,
		Example: `  evq bench decode drive.raw
  evq bench decode drive.raw --threads 1 --rounds 9 --json`,
		Args:              oneArgument,
		ValidArgsFunction: completeFiles,
	}
	asJSON := cmd.Flags().Bool("json", false, "print JSON")
	cmd.Flags().IntVar(&rounds, "rounds", 5, "read the recording `N` times")
	r.flags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if rounds < 1 {
			return usage("--rounds is a number from 1 on, not %d", rounds)
		}
		return a.benchDecode(cmd.Context(), args[0], &r, rounds, *asJSON)
	}
	return cmd
}

// A decodeResult is what decoding took, medians of all rounds, and what it gave.
type decodeResult struct {
	Events         int64   `json:"events"`
	Wall           float64 `json:"wall_s"`
	CPU            float64 `json:"cpu_s"` // user and system time of the process; 0 where the system does not tell
	MPerSecond     float64 `json:"m_events_per_s"`
	MPerCPUSeconds float64 `json:"m_events_per_cpu_s"`
	SumT           int64   `json:"sum_t"`
	SumX           int64   `json:"sum_x"`
	SumY           int64   `json:"sum_y"`
	SumP           int64   `json:"sum_p"`
}

func (a *app) benchDecode(ctx context.Context, path string, r *reading, rounds int, asJSON bool) error {
	rec, err := a.open(path, r, a.newMeter())
	if err != nil {
		return err
	}
	defer rec.Close() //nolint:errcheck // only read
	want := event.Request{Box: event.Everything, Threads: a.threads}
	var wall, cpu []float64
	for range rounds {
		began, cpuBegan := time.Now(), cpuTime()
		if _, err := event.Each(ctx, rec, want, func(event.Batch) error { return nil }); err != nil {
			return err
		}
		wall, cpu = append(wall, time.Since(began).Seconds()), append(cpu, (cpuTime()-cpuBegan).Seconds())
	}
	slices.Sort(wall)
	slices.Sort(cpu)
	res := decodeResult{Wall: wall[rounds/2], CPU: cpu[rounds/2]}
	if _, err := event.Each(ctx, rec, want, res.add); err != nil {
		return err
	}
	res.MPerSecond = float64(res.Events) / max(res.Wall, 1e-9) / 1e6
	if res.CPU > 0 {
		res.MPerCPUSeconds = float64(res.Events) / res.CPU / 1e6
	}
	if asJSON {
		return json.NewEncoder(a.out).Encode(res)
	}
	_, err = fmt.Fprintf(a.out, "%d events in %.3f s: %.1f M events/s, %.1f M events per CPU second\nsums: t=%d x=%d y=%d p=%d\n",
		res.Events, res.Wall, res.MPerSecond, res.MPerCPUSeconds, res.SumT, res.SumX, res.SumY, res.SumP)
	return err
}

func (r *decodeResult) add(b event.Batch) error {
	r.Events += int64(b.Len())
	for i, t := range b.T() {
		r.SumT += t
		r.SumX += int64(b.X()[i])
		r.SumY += int64(b.Y()[i])
		r.SumP += int64(b.P()[i])
	}
	return nil
}
