//go:build (darwin || linux) && (amd64 || arm64)

package dl

import "github.com/ebitengine/purego"

func open(name string) (uintptr, error) {
	return purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_LOCAL)
}

func symbol(handle uintptr, name string) (uintptr, error) { return purego.Dlsym(handle, name) }

// Call calls a C function whose arguments and result are integers and pointers of up to 64 bits, in order. What
// the pointers point to is kept in place until it returns; what those point to in turn is the caller's to pin.
//
//go:uintptrescapes
func Call(function uintptr, args ...uintptr) uintptr {
	r, _, _ := purego.SyscallN(function, args...)
	return r
}
