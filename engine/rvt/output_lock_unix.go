//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package rvt

import (
	"errors"
	"os"
	"syscall"
)

// holdFile locks an open file until it is closed or the process ends, however it ends.
func holdFile(f *os.File, _ bool) error {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case errors.Is(err, syscall.EWOULDBLOCK):
			return errLocked
		case errors.Is(err, syscall.ENOSYS), errors.Is(err, syscall.ENOTSUP), errors.Is(err, syscall.ENOLCK):
			return nil // a file system without locks: the folder is shared at the user's risk
		}
		return err
	}
}

// removeHeld removes the lock while it is still held, so that nobody takes over a file without a name.
func removeHeld(f *os.File) {
	_ = os.Remove(f.Name())
	_ = f.Close()
}
