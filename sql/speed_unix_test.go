//go:build duckdb && unix

package sql

import (
	"syscall"
	"time"
)

// cpuTime is what this process has used of its CPUs.
func cpuTime() time.Duration {
	var r syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &r) != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
