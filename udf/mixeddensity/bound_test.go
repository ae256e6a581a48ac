package mixeddensity

import (
	"bytes"
	"testing"
)

// Every value at every place of a word, among values that stay, is bounded as one alone is.
func TestBound(t *testing.T) {
	for cutoff := int8(1); cutoff > 0; cutoff++ { // to 127
		for v := range 256 {
			for at := range 11 {
				got := []byte{0, byte(cutoff), byte(-cutoff), 0, byte(cutoff), 0, byte(-cutoff), 1, 0, 255, byte(cutoff)}
				got[at] = byte(v)
				want := bytes.Clone(got)
				boundEach(want, cutoff)
				bound(got, cutoff)
				if !bytes.Equal(got, want) {
					t.Fatalf("cutoff %d: %d at %d: %v, want %v", cutoff, int8(v), at, got, want)
				}
			}
		}
	}
}
