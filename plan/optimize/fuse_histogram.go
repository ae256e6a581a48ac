package optimize

import (
	"github.com/evq-project/evq/plan"
	"github.com/evq-project/evq/udf"
	"github.com/evq-project/evq/udf/stackedhist"
)

var fuseHistogram = Rule{
	Name: "fuse_histogram",
	Doc:  "bin, group and dense over windows become one stacked histogram",
	Rewrite: func(n plan.Node) plan.Node {
		d, ok := n.(*plan.Dense)
		if !ok {
			return nil
		}
		of, err := d.Grouping()
		if err != nil {
			return nil
		}
		// Without halving the group must keep everything, with it exactly what halving keeps.
		where := of.Group.Where
		if of.Downsample == 1 && where != nil || of.Downsample == 2 && (where == nil || where.String() != plan.Halved().String()) {
			return nil
		}
		h := stackedhist.Histogram{Bins: of.Bin.Bins, Cutoff: d.Cutoff, Downsample: of.Downsample, Rounding: of.Bin.Rounding}
		if d.Wrap {
			h.Overflow = stackedhist.Wrapping
		}
		if of.Bin.Base == plan.WindowTime {
			h.Timebase = stackedhist.OfWindow
		}
		return &plan.Represent{In: of.Bin.In, Reps: []udf.Representation{h}}
	},
}
