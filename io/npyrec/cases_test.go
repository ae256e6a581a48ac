package npyrec

import (
	"archive/zip"
	"strings"
	"testing"

	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/formattest"
)

// Values that are no event are errors which name the array and the index.
func TestValuesAreNamedByIndex(t *testing.T) {
	three := func(t, x, p any) []byte {
		shape := "(3,)"
		return archive(zip.Deflate, member{"t", array("<u8", shape, false, t)}, member{"x", array("<f8", shape, false, x)},
			member{"y", array("|u1", shape, false, []uint8{5, 6, 7})}, member{"p", array("|u1", shape, false, p)})
	}
	times, pixels, polarities := []uint64{7, 8, 9}, []float64{1, 2, 3}, []uint8{0, 1, 1}
	for name, c := range map[string]struct {
		data []byte
		want []string
	}{
		"polarity 2":          {three(times, pixels, []uint8{0, 1, 2}), []string{"p[2]", "nonzero"}},
		"a fraction":          {three(times, []float64{0.5, 65535, 1}, polarities), []string{"x[0]", "0.5", "scale and round"}},
		"a time of 2^63":      {three([]uint64{7, 1 << 63, 9}, pixels, polarities), []string{"t[1]"}},
		"a pixel beyond uint": {three(times, []float64{1, 65536, 1}, polarities), []string{"x[1]", "65535"}},
	} {
		src, err := NPZ.Open(t.Context(), formattest.File(c.data), format.Policy{})
		if err == nil {
			_, _, err = format.Drain(t.Context(), src)
		}
		for _, w := range c.want {
			if err == nil || !strings.Contains(err.Error(), w) {
				t.Errorf("%s: the error %v does not say %q", name, err, w)
			}
		}
	}
}
