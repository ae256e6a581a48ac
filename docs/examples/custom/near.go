package main

import (
	"math"

	"github.com/evq-project/evq/exprs"
)

// Near is a predicate: near(a, b, r) holds where a and b are the sides of a right angle whose third side is at most r.
var Near = exprs.Func{
	Name:  "near",
	Usage: "near(a, b, r)",
	Doc:   "a and b are not further than r from 0, 0",
	Kind:  exprs.Predicate,
	Min:   3,
	Max:   3,
	Test: func(keep []bool, args [][]int64) {
		a, b, r := args[0], args[1], args[2]
		for i, k := range keep {
			keep[i] = k && a[i]*a[i]+b[i]*b[i] <= r[i]*r[i]
		}
	},
}

// Ring is an integer: how far a, b is from 0, 0, rounded down. It can be compared, and be a group key.
var Ring = exprs.Func{
	Name:  "ring",
	Usage: "ring(a, b)",
	Doc:   "the distance of a, b from 0, 0, rounded down",
	Min:   2,
	Max:   2,
	Eval: func(dst []int64, args [][]int64) {
		for i, a := range args[0] {
			dst[i] = int64(math.Hypot(float64(a), float64(args[1][i])))
		}
	},
}
