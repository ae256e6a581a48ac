package dl

import (
	"fmt"
	"syscall"
)

func open(name string) (uintptr, error) {
	handle, err := syscall.LoadLibrary(name)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	return uintptr(handle), nil
}

func symbol(handle uintptr, name string) (uintptr, error) {
	return syscall.GetProcAddress(syscall.Handle(handle), name)
}

// Call calls a C function whose arguments and result are integers and pointers of up to 64 bits, in order. What
// the pointers point to is kept in place until it returns; what those point to in turn is the caller's to pin.
//
//go:uintptrescapes
func Call(function uintptr, args ...uintptr) uintptr {
	r, _, _ := syscall.SyscallN(function, args...)
	return r
}
