package sql

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// allowed are the folders and files that queries may touch; nil allows all. Their links are resolved.
type allowed []string

func newAllowed(paths []string) (allowed, error) {
	if paths == nil {
		return nil, nil
	}
	out := allowed{}
	for _, p := range paths {
		real, err := resolved(p)
		if err != nil {
			return nil, fmt.Errorf("sql: what queries may touch: %w", err)
		}
		out = append(out, real)
	}
	return out, nil
}

func resolved(path string) (string, error) {
	full, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(full)
}

// check reports a path that lies outside. One that does not exist is judged by the folder that would hold it.
func (a allowed) check(path string) error {
	if a == nil {
		return nil
	}
	real, err := resolved(path)
	if os.IsNotExist(err) {
		if real, err = resolved(filepath.Dir(path)); err == nil {
			real = filepath.Join(real, filepath.Base(path))
		}
	}
	if err == nil {
		for _, root := range a {
			if real == root || strings.HasPrefix(real, strings.TrimSuffix(root, string(filepath.Separator))+string(filepath.Separator)) {
				return nil
			}
		}
	}
	return fmt.Errorf("%w: %s lies outside of what this session may touch", ErrRefused, path)
}

// checkPattern reports a pattern of file names whose matches may lie outside: that is all behind the folders before its
// first glob character, which it has, and none of a folder of which only some files are allowed.
func (a allowed) checkPattern(pattern string) error {
	if a == nil {
		return nil
	}
	first := strings.IndexAny(pattern, "*?[")
	if err := a.check(filepath.Dir(pattern[:first] + "*")); err != nil || strings.Contains(pattern[first:], "..") {
		return fmt.Errorf("%w: the files like %s lie outside of what this session may touch", ErrRefused, pattern)
	}
	return nil
}

// split returns the folders and the files.
func (a allowed) split() (folders, files []string) {
	for _, p := range a {
		if st, err := os.Stat(p); err == nil && !st.IsDir() {
			files = append(files, p)
		} else {
			folders = append(folders, p)
		}
	}
	return folders, files
}
