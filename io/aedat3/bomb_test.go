package aedat3

import (
	"testing"

	"github.com/evq-project/evq/io/formattest"
)

// Every number of a packet's head is extreme in turn, negative counts among them.
func TestHeadsOfExtremeNumbers(t *testing.T) {
	data := file(text31, spec(0, [2]int64{2, 1}), pol(1, 0, first...), imu(3), pol(1, 0, second...))
	for shift := range 2 {
		formattest.Hostile{Format: Format}.Extremes(t, data, len(text31)+2*shift, len(data), 4)
	}
}
