//go:build duckdb && !unix

package sql

import "time"

// cpuTime is not known here.
func cpuTime() time.Duration { return 0 }
