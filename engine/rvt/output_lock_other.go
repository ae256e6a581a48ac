//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package rvt

import (
	"os"
	"strconv"
	"strings"
)

// holdFile takes a lock that exists already only where the process that made it is gone.
func holdFile(f *os.File, exists bool) error {
	if !exists {
		return nil
	}
	b := make([]byte, 32)
	n, _ := f.ReadAt(b, 0)
	pid, err := strconv.Atoi(strings.TrimSpace(string(b[:n])))
	if err != nil || pid == os.Getpid() {
		return errLocked
	}
	p, err := os.FindProcess(pid)
	if err != nil {
		return nil //nolint:nilerr // there is no such process
	}
	_ = p.Release()
	return errLocked
}

// removeHeld closes the lock first: files that are open cannot be removed everywhere.
func removeHeld(f *os.File) {
	_ = f.Close()
	_ = os.Remove(f.Name())
}
