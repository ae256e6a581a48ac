// Package builtins lists the representations evq offers by name. A new one adds one line here.
package builtins

import (
	"slices"

	"github.com/evq-project/evq/udf"
	"github.com/evq-project/evq/udf/avgsurface"
	"github.com/evq-project/evq/udf/binarep"
	"github.com/evq-project/evq/udf/eventcount"
	"github.com/evq-project/evq/udf/eventframe"
	"github.com/evq-project/evq/udf/mixeddensity"
	"github.com/evq-project/evq/udf/sae"
	"github.com/evq-project/evq/udf/stackedhist"
	"github.com/evq-project/evq/udf/timesurface"
	"github.com/evq-project/evq/udf/tore"
	"github.com/evq-project/evq/udf/voxelgrid"
)

// All holds every representation that the frame, SQL and the command line can name.
var All = []udf.Entry{
	stackedhist.Entry,
	stackedhist.RVTPreset,
	mixeddensity.Entry,
	voxelgrid.Entry,
	eventframe.Entry,
	eventcount.Entry,
	timesurface.Entry,
	avgsurface.Entry,
	sae.Entry,
	binarep.Entry,
	tore.Entry,
}

// Lookup returns the representation called name.
func Lookup(name string) (udf.Entry, bool) {
	i := slices.IndexFunc(All, func(e udf.Entry) bool { return e.Name == name })
	if i < 0 {
		return udf.Entry{}, false
	}
	return All[i], true
}
