//go:build duckdb

package sql

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/duckdb/duckdb-go/v2"
)

// plainOf makes a value of the driver one of Go's own types.
func plainOf(v any) any {
	switch x := v.(type) {
	case duckdb.Decimal:
		return json.Number(x.String())
	case duckdb.UUID:
		return x.String()
	case duckdb.Interval:
		return interval(x)
	case duckdb.Union:
		return plainOf(x.Value)
	case duckdb.OrderedMap:
		out := make(map[string]any, x.Len())
		values := x.Values()
		for i, k := range x.Keys() {
			out[textOf(k)] = values[i]
		}
		return out
	}
	return v
}

// interval writes what of an interval is not zero, such as "2 months 3 days 1h0m0s".
func interval(x duckdb.Interval) string {
	var parts []string
	if x.Months != 0 {
		parts = append(parts, fmt.Sprintf("%d months", x.Months))
	}
	if x.Days != 0 {
		parts = append(parts, fmt.Sprintf("%d days", x.Days))
	}
	if x.Micros != 0 || len(parts) == 0 {
		parts = append(parts, (time.Duration(x.Micros) * time.Microsecond).String())
	}
	return strings.Join(parts, " ")
}
