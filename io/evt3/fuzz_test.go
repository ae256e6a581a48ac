package evt3

import (
	"testing"

	"github.com/evq-project/evq/io/formattest"
)

// FuzzRead offers whole files, headers and all.
func FuzzRead(f *testing.F) {
	formattest.Hostile{Format: Format}.Fuzz(f, formattest.Seeds(cases)...)
}
