package builtins

import (
	"github.com/evq-project/evq/udf"
	"github.com/evq-project/evq/udf/background"
	"github.com/evq-project/evq/udf/decimate"
	"github.com/evq-project/evq/udf/dedup"
	"github.com/evq-project/evq/udf/drop"
	"github.com/evq-project/evq/udf/hotpixel"
	"github.com/evq-project/evq/udf/ratelimit"
	"github.com/evq-project/evq/udf/refractory"
	"github.com/evq-project/evq/udf/stc"
	"github.com/evq-project/evq/udf/trail"
)

// Filters holds every filter with memory that the frame, SQL and the command line can name.
var Filters = []udf.FilterEntry{
	hotpixel.Entry,
	refractory.Entry,
	background.Entry,
	stc.Entry,
	trail.Entry,
	ratelimit.Entry,
	decimate.Entry,
	drop.Entry,
	dedup.Entry,
}

// LookupFilter returns the filter called name.
func LookupFilter(name string) (udf.FilterEntry, bool) { return lookup(Filters, name) }
