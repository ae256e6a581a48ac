package builtins

import (
	"slices"

	"github.com/evq-project/evq/udf"
	"github.com/evq-project/evq/udf/aggregates"
)

// Aggregates holds every aggregate that the frame, SQL and the command line can name.
var Aggregates = aggregates.All

// LookupAggregate returns the aggregate called name.
func LookupAggregate(name string) (udf.AggregateEntry, bool) { return lookup(Aggregates, name) }

// lookup returns the entry called name.
func lookup[F any](of []udf.EntryOf[F], name string) (udf.EntryOf[F], bool) {
	i := slices.IndexFunc(of, func(e udf.EntryOf[F]) bool { return e.Name == name })
	if i < 0 {
		return udf.EntryOf[F]{}, false
	}
	return of[i], true
}
