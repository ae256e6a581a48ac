//go:build unix

package atomicfile

import (
	"errors"
	"syscall"
)

// alive reports whether a process runs under the number pid.
func alive(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}
