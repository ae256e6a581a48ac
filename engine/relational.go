package engine

import (
	"math"

	"github.com/evq-project/evq/plan"
	"github.com/evq-project/evq/udf"
	"github.com/evq-project/evq/udf/aggregates"
	"github.com/evq-project/evq/udf/stackedhist"
)

// counted is the aggregate of groups that are not asked for another.
var counted = plan.Agg{Name: "count", Func: aggregates.Count}

// relational writes a stacked histogram as what it is: windows binned, grouped by polarity, row and column,
// and laid out densely. The rule fuse_histogram turns it into the scatter operator; without the rule it runs
// as a plain hash group. RVT's unchecked flat index is no grouping by row and column, so that it stays as it is.
func relational(windows plan.Node, h stackedhist.Histogram) plan.Node {
	if h.OffSensor == stackedhist.FlatIndex || h.Validate() != nil {
		return &plan.Represent{In: windows, Reps: []udf.Representation{h}}
	}
	bin := &plan.Bin{In: windows, Bins: h.Bins, Rounding: h.Rounding}
	if h.Timebase == stackedhist.OfWindow {
		bin.Base = plan.WindowTime
	}
	group := &plan.Group{In: bin, Keys: plan.PlaneKeys(max(h.Downsample, 1)), Aggs: []plan.Agg{counted}}
	if h.Downsample == 2 {
		group.Where = plan.Halved()
	}
	dense := &plan.Dense{In: group, Cutoff: h.Cutoff, Wrap: h.Overflow == stackedhist.Wrapping}
	if dense.Cutoff == 0 {
		dense.Cutoff = math.MaxUint8
	}
	return dense
}
