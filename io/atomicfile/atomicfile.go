// Package atomicfile makes files that appear under their name only when they are whole.
//
// A file is written under a temporary name beside its final one, synced, and renamed. What is left after a
// crash has the temporary name, and the next run on the same name removes it. A name that is a symbolic link
// stands for the file that it leads to.
package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ErrExists reports that the final name is taken and overwriting was not asked for.
var ErrExists = errors.New("output exists; use --force (in Go, Force) to overwrite it")

// A File is a file on its way. Write to it, then Commit; Abort drops it and does nothing after Commit.
type File struct {
	*os.File
	final   string
	force   bool
	written int64
	done    bool
}

// Create starts the file that will be called name. Without force it refuses a name that is taken.
func Create(name string, force bool) (*File, error) {
	if err := Check(name, force); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(TempName(name), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, fmt.Errorf("creating %s: %w", name, err)
	}
	return &File{File: f, final: name, force: force}, nil
}

// Check refuses a name that is taken unless force is set, and removes temporary files that runs which no
// longer live left behind.
func Check(name string, force bool) error {
	if st, err := os.Stat(name); err == nil {
		switch {
		case st.IsDir():
			return fmt.Errorf("%s is a folder", name)
		case !st.Mode().IsRegular(): // renaming would put a file in place of a device or a pipe
			return fmt.Errorf("%s is no file but a device or a pipe; write to a file", name)
		}
		if !force {
			return fmt.Errorf("%s: %w", name, ErrExists)
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	dir, base := filepath.Split(resolve(name))
	if dir == "" {
		dir = "."
	}
	if _, err := os.Stat(dir); err != nil {
		return fmt.Errorf("%s: the folder %s does not exist", name, dir)
	}
	stale, err := os.ReadDir(dir)
	if err != nil {
		return nil //nolint:nilerr // a folder that can be written but not listed is fine
	}
	for _, e := range stale {
		if pid, ok := ownerOf(e.Name(), base); ok && !alive(pid) {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
	return nil
}

// resolve follows symbolic links, which need not lead anywhere yet: the file that they name is replaced, not they.
func resolve(name string) string {
	const most = 40 // what systems allow
	for range most {
		to, err := os.Readlink(name)
		if err != nil {
			return name
		}
		if !filepath.IsAbs(to) {
			dir, _ := filepath.Split(name)
			to = dir + to // not cleaned: dir may hold links itself
		}
		name = to
	}
	return name
}

// TempName is the name under which this process writes the file called name.
func TempName(name string) string {
	dir, base := filepath.Split(resolve(name))
	return filepath.Join(dir, fmt.Sprintf(".%s.%d.partial", base, os.Getpid()))
}

// ownerOf returns the process that wrote a temporary file for the name base.
func ownerOf(entry, base string) (pid int, ok bool) {
	rest, ok := strings.CutPrefix(entry, "."+base+".")
	if !ok {
		return 0, false
	}
	rest, ok = strings.CutSuffix(rest, ".partial")
	if !ok {
		return 0, false
	}
	_, err := fmt.Sscanf(rest, "%d", &pid)
	return pid, err == nil && fmt.Sprint(pid) == rest
}

// Write implements io.Writer. Its error says how much has been written: a full disk is the most likely one.
func (f *File) Write(b []byte) (int, error) {
	n, err := f.File.Write(b)
	f.written += int64(n)
	if err != nil {
		err = fmt.Errorf("writing %s: failed after %d bytes: %w", f.final, f.written, err)
	}
	return n, err
}

// Commit syncs the file and gives it its name. Without force, a name that another run took since Create is ErrExists, and
// keeps that run's file.
func (f *File) Commit() error {
	if f.done {
		return nil
	}
	if err := errors.Join(f.Sync(), f.File.Close()); err != nil {
		_ = f.Abort()
		return fmt.Errorf("writing %s: %w", f.final, err)
	}
	f.done = true
	return Place(f.Name(), f.final, f.force)
}

// Place is Rename, but that without force a name which is taken stays as it is, and is ErrExists.
func Place(temp, final string, force bool) error {
	if force {
		return Rename(temp, final)
	}
	// Unlike a rename, a link replaces nothing. Where the file system has none, looking first must do.
	to := resolve(final)
	err := os.Link(temp, to)
	if err == nil {
		_ = os.Remove(temp) // what is left of a run that dies here, the next removes
		syncFolder(to)
		return nil
	}
	if _, taken := os.Lstat(to); taken == nil || errors.Is(err, fs.ErrExist) {
		_ = os.Remove(temp)
		return fmt.Errorf("another run made %s meanwhile: %w", final, ErrExists)
	}
	return Rename(temp, final)
}

// Rename gives a complete, closed temporary file its final name and makes that durable.
func Rename(temp, final string) error {
	final = resolve(final)
	if err := os.Rename(temp, final); err != nil {
		_ = os.Remove(temp)
		return fmt.Errorf("naming %s: %w", final, err)
	}
	syncFolder(final)
	return nil
}

// syncFolder makes a file's name durable, where the file system can sync a folder.
func syncFolder(name string) {
	if d, err := os.Open(filepath.Dir(name)); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}

// Abort closes and removes the file.
func (f *File) Abort() error {
	if f.done {
		return nil
	}
	f.done = true
	_ = f.File.Close()
	return os.Remove(f.Name())
}
