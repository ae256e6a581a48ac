package cuda

import (
	"github.com/evq-project/evq/accel"
	"github.com/evq-project/evq/accel/scatter"
)

// A program is what a kernel counts, and the functions that do it.
type program struct {
	planner *scatter.Planner
	width   int     // bytes of a count
	shape   []int64 // of the counts of a window
	element accel.DLType
	steps   []step
}

// A step is a launch over all runs of a batch.
type step struct {
	name     string // of the function
	stage    string // as Trace calls it
	words    []uint32
	function uintptr
}

// gridProgram counts bytes.
func gridProgram(g accel.Grid) program {
	params := scatter.ParamsOf(g)
	p := program{planner: scatter.NewPlanner(g), width: 1, element: accel.DLType{Code: accel.DLUInt, Bits: 8, Lanes: 1},
		shape: []int64{int64(g.Channels()), int64(g.Rows()), int64(g.Columns())},
		steps: []step{{name: "evq_scatter", stage: "count", words: params.Words()}}}
	if params.Clips() {
		p.steps = append(p.steps, step{name: "evq_clip", stage: "clip", words: params.ClipWords()})
	}
	return p
}

// tableProgram counts words.
func tableProgram(t accel.Table) program {
	p := program{planner: scatter.NewTablePlanner(t), width: 4, element: accel.DLType{Code: accel.DLUInt, Bits: 32, Lanes: 1},
		shape: []int64{int64(t.Planes()), int64(t.Rows()), int64(t.Columns())},
		steps: []step{{name: "evq_count", stage: "count", words: scatter.TableParamsOf(t).Words()}}}
	if t.Polarity == accel.Signed {
		p.element.Code = accel.DLInt
	}
	return p
}
