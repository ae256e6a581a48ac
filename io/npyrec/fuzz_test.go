package npyrec

import (
	"archive/zip"
	"testing"

	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/formattest"
	"github.com/evq-project/evq/io/npy"
)

// known are the errors that a scan may end with beside syntax errors.
var known = []error{ErrLayout, npy.ErrObjects, zip.ErrFormat, zip.ErrAlgorithm, zip.ErrChecksum}

// FuzzReadNPY offers arrays, also with the columns of a matrix named.
func FuzzReadNPY(f *testing.F) {
	formattest.Hostile{Format: NPY, Known: known, Policies: []format.Policy{{}, {Salvage: true, TimeUnit: "s"}, {Columns: []string{"t", "x", "y", "p"}, TimeUnit: "us"}}}.
		Fuzz(f, formattest.Seeds(npyCases)...)
}

// FuzzReadNPZ offers archives.
func FuzzReadNPZ(f *testing.F) {
	formattest.Hostile{Format: NPZ, Known: known}.Fuzz(f, formattest.Seeds(npzCases)...)
}
