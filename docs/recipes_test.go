package docs_test

import (
	"context"
	"path/filepath"
	"time"

	"github.com/evq-project/evq/engine"
	"github.com/evq-project/evq/engine/rvt"
	"github.com/evq-project/evq/exprs"
	"github.com/evq-project/evq/udf/aggregates"
	"github.com/evq-project/evq/udf/eventcount"
	"github.com/evq-project/evq/udf/hotpixel"
	"github.com/evq-project/evq/udf/refractory"
	"github.com/evq-project/evq/udf/timesurface"
	"github.com/evq-project/evq/udf/voxelgrid"
)

// The Go side of docs/cookbook.md: the page shows each function as it stands here, and TestCookbook runs it beside its
// command. So they are written to be read.

func perHalfSecond(rec *engine.Recording) engine.Table {
	return rec.Frame().
		Window(engine.Every(500*time.Millisecond)).
		Group(). // a window is one group
		Agg(engine.Agg(aggregates.Count), engine.Agg(aggregates.Rate))
}

func heatMap(rec *engine.Recording) engine.Tensors {
	return rec.Frame().Window(engine.WholeRecording()).Represent(eventcount.Count{})
}

func loudest(rec *engine.Recording) engine.Table {
	return rec.Frame().
		Group(exprs.Y, exprs.X). // counts, where Agg asks for nothing else
		OrderBy(engine.Order{Column: "count", Desc: true}).
		Limit(3)
}

func withoutHotPixels(rec *engine.Recording) engine.Table {
	return rec.Frame().
		Apply(hotpixel.New(hotpixel.Percentile(99.9))).
		Group().
		Agg(engine.Agg(aggregates.Count), engine.Agg(aggregates.Distinct, exprs.Y, exprs.X).As("pixels"))
}

func inRectangle(rec *engine.Recording) engine.Table {
	return rec.Frame().
		Filter(exprs.InRect(16, 12, 47, 35)).
		Window(engine.Every(500 * time.Millisecond)).
		Group(exprs.P).
		Table
}

func polarityOfTiles(rec *engine.Recording) engine.Table {
	return rec.Frame().
		Group(exprs.Y.Div(32), exprs.X.Div(32)).
		Named("tile_y", "tile_x").
		Agg(engine.Agg(aggregates.Count),
			engine.Agg(aggregates.Sum, exprs.P).As("on_events"),
			engine.Agg(aggregates.Mean, exprs.P).As("on_share"))
}

func perBin(rec *engine.Recording) engine.Table {
	return rec.Frame().
		Window(engine.Every(time.Second)).
		Bin(4).
		Group(exprs.P).
		Table
}

func afterTriggers(ctx context.Context, rec *engine.Recording) (engine.Table, error) {
	starts, err := rec.TriggerTimes(ctx, 0, true, false) // channel 0, rising edges
	if err != nil {
		return engine.Table{}, err
	}
	ends := make([]int64, len(starts))
	for i, t := range starts {
		ends[i] = t + 5000
	}
	return rec.Frame().
		Window(engine.Intervals(starts, ends, "triggers")).
		Group().
		Agg(engine.Agg(aggregates.Count), engine.Agg(aggregates.First, exprs.T).As("first_t")), nil
}

func atLabels(rec *engine.Recording) (engine.Tensors, error) {
	labels, err := rvt.ReadLabels("labels.npy")
	if err != nil {
		return engine.Tensors{}, err
	}
	var times []int64
	for _, l := range labels { // several boxes may have one time
		if n := len(times); n == 0 || times[n-1] != l.T {
			times = append(times, l.T)
		}
	}
	return rec.Frame().
		Window(engine.Ends(times, 50*time.Millisecond)).
		StackedHistogram(), nil
}

func forE2VID(rec *engine.Recording) engine.Tensors {
	grid := voxelgrid.Grid{Bins: 5, Variant: voxelgrid.BMinus1, Normalize: voxelgrid.E2VID}
	return rec.Frame().Window(engine.Count(5000, 0)).Represent(grid)
}

func surfaces(rec *engine.Recording) (engine.Tensors, error) {
	surface, err := engine.Represent("time_surface:tau=20ms,memory=recording") // by name, as in the command
	if err != nil {
		return engine.Tensors{}, err
	}
	return rec.Frame().Window(engine.Every(100 * time.Millisecond)).Represent(surface), nil
}

func twoAtOnce(rec *engine.Recording) engine.Tensors {
	return rec.Frame().
		Window(engine.Every(250*time.Millisecond)).
		Represent(eventcount.Count{}, timesurface.Surface{Tau: 50_000})
}

func refracted(rec *engine.Recording) engine.Table {
	return rec.Frame().
		Apply(refractory.Filter{Period: 2000}).
		Group(exprs.P).
		Table
}

func merged(cam0, cam1 *engine.Recording) engine.Table {
	return engine.Merge(cam0, cam1).Frame().
		Window(engine.Every(250 * time.Millisecond)).
		Group().
		Table
}

func smaller(ctx context.Context, rec *engine.Recording, out string) error {
	q := rec.Frame().Map(
		exprs.Crop{X0: 16, Y0: 8, X1: 47, Y1: 39},
		exprs.Downsample{N: 2, Sum: true})
	_, err := engine.Convert(ctx, q.Source(), out)
	return err
}

func busiest(rec *engine.Recording) engine.Table {
	return rec.Frame().
		Window(engine.Every(10 * time.Millisecond)).
		Group().
		OrderBy(engine.Order{Column: "count", Desc: true}).
		Limit(3)
}

func firstAtPixel(rec *engine.Recording) engine.Table {
	return rec.Frame().
		Group(exprs.Y, exprs.X).
		Agg(engine.Agg(aggregates.First, exprs.T).As("first_t"), engine.Agg(aggregates.First, exprs.P).As("first_p")).
		OrderBy(engine.Order{Column: "first_t"}).
		Limit(3)
}

func flicker(rec *engine.Recording) engine.Table {
	return rec.Frame().
		Filter(exprs.P.Eq(1)).
		Map(exprs.Downsample{N: 8, Sum: true}). // a tile becomes a pixel,
		Apply(refractory.Filter{Period: 2000}). // and each of its bursts one event
		Group(exprs.Y, exprs.X).
		Agg(engine.Agg(aggregates.Count).As("bursts"),
			engine.Agg(aggregates.First, exprs.T).As("first_t"),
			engine.Agg(aggregates.Last, exprs.T).As("last_t")).
		OrderBy(engine.Order{Column: "bursts", Desc: true}).
		Limit(2)
}

func perRecording(pattern string, run func(path string, q engine.Table) error) error {
	paths, err := filepath.Glob(pattern)
	if err != nil {
		return err
	}
	for _, path := range paths {
		rec, err := engine.Open(path)
		if err != nil {
			return err
		}
		err = run(path, rec.Frame().Group().Agg(
			engine.Agg(aggregates.Count), engine.Agg(aggregates.Min, exprs.T), engine.Agg(aggregates.Max, exprs.T)))
		_ = rec.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

func byCount(rec *engine.Recording) engine.Table {
	return rec.Frame().
		Window(engine.Count(10_000, 0)).
		Group().
		Agg(engine.Agg(aggregates.Rate), engine.Agg(aggregates.Mean, exprs.P).As("on_share"))
}

func behindMask(rec *engine.Recording) (engine.Table, error) {
	outside, err := engine.Predicate("not mask('mask.png')")
	if err != nil {
		return engine.Table{}, err
	}
	return rec.Frame().Filter(outside).Group(exprs.P).Table, nil
}

// asking is the example of docs/query.md.
func asking(rec *engine.Recording) (engine.Table, error) {
	middle, err := exprs.Circle(32, 24, 10)
	if err != nil {
		return engine.Table{}, err
	}
	return rec.Frame().
		Filter(middle).
		Window(engine.Every(500*time.Millisecond)).
		Group(exprs.P).
		Agg(engine.Agg(aggregates.Count), engine.Agg(aggregates.Mean, exprs.X).As("cx")), nil
}

func oneSided(rec *engine.Recording) (engine.Table, error) {
	columns, err := engine.Aggregates("count, sum(p)/count as on_share")
	if err != nil {
		return engine.Table{}, err
	}
	condition, err := engine.Having("count >= 10 and not on_share between 0.3 and 0.7")
	if err != nil {
		return engine.Table{}, err
	}
	return rec.Frame().
		Group(exprs.Y.Div(8), exprs.X.Div(8)).
		Named("tile_y", "tile_x").
		Having(condition).
		Agg(columns...), nil
}
