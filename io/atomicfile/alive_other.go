//go:build !unix

package atomicfile

import "os"

// alive reports whether a process runs under the number pid.
func alive(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	_ = p.Release()
	return true
}
