package stackedhist_test

import (
	"fmt"
	"time"

	"github.com/evq-project/evq/udf/stackedhist"
)

// Three ON events at one pixel and an OFF event at another, in one window of 50 ms with two bins.
func ExampleDense() {
	t := []int64{0, 10_000, 40_000, 50_000}
	x := []uint16{1, 1, 1, 0}
	y := []uint16{0, 0, 0, 1}
	p := []int8{1, 1, 1, 0}
	counts, shape, err := stackedhist.Dense(t, x, y, p, []int64{50_000}, 50*time.Millisecond, 2, 2, stackedhist.Bins(2))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(shape)
	for i, plane := range []string{"OFF, first half", "OFF, second half", "ON, first half", "ON, second half"} {
		fmt.Println(plane, counts[4*i:4*i+2], counts[4*i+2:4*i+4])
	}
	// Output:
	// (1, 4, 2, 2)
	// OFF, first half [0 0] [0 0]
	// OFF, second half [0 0] [1 0]
	// ON, first half [0 2] [0 0]
	// ON, second half [0 1] [0 0]
}

func ExampleNew() {
	h, err := stackedhist.New(stackedhist.Bins(5), stackedhist.Downsample(2), stackedhist.Wrap())
	fmt.Println(h, err)
	// Output: stacked_histogram(bins=5, cutoff=10, downsample=2, overflow=wrap) <nil>
}
