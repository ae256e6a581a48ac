//go:build !windows && !((darwin || linux) && (amd64 || arm64))

package dl

import (
	"fmt"
	"runtime"
)

func open(name string) (uintptr, error) {
	return 0, fmt.Errorf("%s: libraries are opened at run time on Linux, macOS and Windows for amd64 and arm64, not on %s/%s",
		name, runtime.GOOS, runtime.GOARCH)
}

func symbol(uintptr, string) (uintptr, error) { return 0, ErrOpen }

// Call is never reached: there is no library to have a function of.
func Call(uintptr, ...uintptr) uintptr { return 0 }
