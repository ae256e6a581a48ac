package aedat2

import (
	"testing"

	"github.com/evq-project/evq/io/formattest"
)

// FuzzRead offers whole files of version 2, headers and all.
func FuzzRead(f *testing.F) {
	formattest.Hostile{Format: Format}.Fuzz(f, formattest.Seeds(cases)...)
}

// FuzzRead1 offers whole files of version 1.
func FuzzRead1(f *testing.F) {
	formattest.Hostile{Format: Format1}.Fuzz(f, formattest.Seeds(cases1)...)
}
