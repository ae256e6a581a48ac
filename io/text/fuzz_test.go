package text

import (
	"testing"

	"github.com/evq-project/evq/io/formattest"
)

// FuzzRead offers whole files: comments, names and lines.
func FuzzRead(f *testing.F) {
	formattest.Hostile{Format: Format}.Fuzz(f, formattest.Seeds(textCases, cases)...)
}

// FuzzReadCSV is FuzzRead for values with separators.
func FuzzReadCSV(f *testing.F) {
	formattest.Hostile{Format: CSV}.Fuzz(f, formattest.Seeds(cases, textCases)...)
}
