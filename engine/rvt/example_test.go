package rvt_test

import (
	"context"
	"fmt"
	"time"

	"github.com/evq-project/evq/engine/rvt"
)

// One recording, with its labels, at even steps.
func ExampleSequence() {
	r, err := rvt.Sequence(context.Background(), "val/drive_td.h5", rvt.Options{
		Dataset: rvt.Gen4, Labels: "val/drive_bbox.npy", Grid: rvt.Even, Step: 50 * time.Millisecond, Verify: true, Out: "out/val/drive",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Frames, r.Shape, r.Labels, r.Warnings)
}

// A whole data set, two sequences at a time. What an earlier run completed is left as it is.
func ExampleSequences() {
	s, err := rvt.Sequences(context.Background(), "gen4", "out", rvt.Options{Dataset: rvt.Gen4}, rvt.DatasetOptions{Jobs: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, q := range s.Sequences {
		if q.Status == rvt.Failed {
			fmt.Println(q.Split, q.Name, q.Err)
		}
	}
}
