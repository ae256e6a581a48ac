//go:build !unix

package acceltest

import "time"

// ProcessorTime returns 0: it is not asked for here.
func ProcessorTime() time.Duration { return 0 }
