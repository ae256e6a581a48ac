package rvt

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ErrBusy reports a folder that another run is writing to.
var ErrBusy = errors.New("another run writes to this folder; wait for it, or choose another folder")

// lockFile marks a folder that a run is writing to. What a killed run leaves of it says that there may be files
// that no manifest knows.
const lockFile = ".evq-rvt.lock"

// errLocked reports a lock that a live process holds.
var errLocked = errors.New("locked")

// A lock is held from takeLock to release.
type lock struct {
	*os.File
	stale bool // a run was killed while it held the lock
}

// takeLock makes dir this run's alone.
func takeLock(dir string) (*lock, error) {
	path := filepath.Join(dir, lockFile)
	for range 100 {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
		stale := errors.Is(err, fs.ErrExist)
		if stale {
			f, err = os.OpenFile(path, os.O_RDWR, 0o666)
			if errors.Is(err, fs.ErrNotExist) {
				continue // released just now
			}
		}
		if err != nil {
			return nil, fmt.Errorf("rvt: locking: %w", err)
		}
		l := &lock{f, stale}
		switch err := holdFile(f, stale); {
		case errors.Is(err, errLocked):
			owner := l.owner()
			_ = f.Close()
			return nil, fmt.Errorf("rvt: %s: %w (process %s)", dir, ErrBusy, owner)
		case err != nil:
			_ = f.Close()
			return nil, fmt.Errorf("rvt: locking %s: %w", dir, err)
		}
		if l.current(path) {
			return l, l.sign()
		}
		_ = f.Close() // its holder removed it between our opening and holding it
	}
	return nil, fmt.Errorf("rvt: %s: %w", dir, ErrBusy)
}

// current reports whether the file that is held is still the one under that name.
func (l *lock) current(path string) bool {
	held, err := l.Stat()
	if err != nil {
		return false
	}
	named, err := os.Stat(path)
	return err == nil && os.SameFile(held, named)
}

// sign writes this process's number into the lock.
func (l *lock) sign() error {
	err := l.Truncate(0)
	if err == nil {
		_, err = l.WriteAt(fmt.Appendf(nil, "%d\n", os.Getpid()), 0)
	}
	if err != nil {
		l.release()
		return fmt.Errorf("rvt: locking: %w", err)
	}
	return nil
}

func (l *lock) owner() string {
	b, err := io.ReadAll(io.NewSectionReader(l, 0, 32))
	if pid := strings.TrimSpace(string(b)); err == nil && pid != "" {
		return pid
	}
	return "unknown"
}

// release lets others write to the folder.
func (l *lock) release() {
	removeHeld(l.File)
}
