// Package dl opens shared libraries at run time and calls what is in them, without cgo. It refuses to know what
// the libraries are for.
package dl

import (
	"errors"
	"fmt"
)

var (
	// ErrOpen reports a library that is not there, or is none.
	ErrOpen = errors.New("cannot open the library")
	// ErrSymbol reports a function that a library does not have.
	ErrSymbol = errors.New("the library lacks a function")
)

// A Library is an open shared library. It stays open as long as the process runs: a driver's threads and exit
// handlers would not survive less.
type Library struct {
	name   string
	handle uintptr
}

// Open opens the first library that the system finds: a path, or a name to look for where the system keeps
// libraries. The error says for each why not, and is ErrOpen.
func Open(names ...string) (Library, error) {
	why := ErrOpen
	for _, name := range names {
		handle, err := open(name)
		if err == nil {
			return Library{name, handle}, nil
		}
		why = fmt.Errorf("%w: %w", why, err)
	}
	return Library{}, fmt.Errorf("dl: %w", why)
}

// Symbol returns the address of a function; the error is ErrSymbol.
func (l Library) Symbol(name string) (uintptr, error) {
	address, err := symbol(l.handle, name)
	if err != nil || address == 0 {
		return 0, fmt.Errorf("dl: %s: %w: %s", l.name, ErrSymbol, name)
	}
	return address, nil
}

// String returns the name that the library was opened by.
func (l Library) String() string { return l.name }
