//go:build unix

package acceltest

import (
	"syscall"
	"time"
)

// ProcessorTime returns the time that the process has kept processors busy.
func ProcessorTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
