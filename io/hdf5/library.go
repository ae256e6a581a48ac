//go:build hdf5 && cgo

package hdf5

// #include <hdf5.h>
import "C"

import "fmt"

// Built says whether this build has the HDF5 library.
const Built = true

// LibraryVersion returns the version of the HDF5 library that runs, such as 1.10.8; "" where there is none.
func LibraryVersion() string {
	library.Lock()
	defer library.Unlock()
	var major, minor, release C.uint
	if C.H5get_libversion(&major, &minor, &release) < 0 {
		return ""
	}
	return fmt.Sprintf("%d.%d.%d", major, minor, release)
}
