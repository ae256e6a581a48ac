// Package builtins lists the representations evq offers by name. A new one adds one line here.
package builtins

import (
	"slices"

	"github.com/evq-project/evq/udf"
	"github.com/evq-project/evq/udf/mixeddensity"
	"github.com/evq-project/evq/udf/stackedhist"
)

// All holds every representation that the frame, SQL and the command line can name.
var All = []udf.Entry{
	stackedhist.Entry,
	stackedhist.RVTPreset,
	mixeddensity.Entry,
}

// Lookup returns the representation called name.
func Lookup(name string) (udf.Entry, bool) {
	i := slices.IndexFunc(All, func(e udf.Entry) bool { return e.Name == name })
	if i < 0 {
		return udf.Entry{}, false
	}
	return All[i], true
}
