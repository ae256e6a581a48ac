package exprs_test

import (
	"fmt"

	"github.com/evq-project/evq/exprs"
	"github.com/evq-project/evq/io/event"
)

func ExampleParse() {
	e, err := exprs.Parse("t >= 1.5s and (p = on or not circle(320, 240, 100)) and x + 10 < 50")
	if err != nil {
		panic(err)
	}
	fmt.Println(e)
	fmt.Println(exprs.Simplify(e))
	fmt.Println(e.Box())

	_, err = exprs.Parse("x < 640 and polarty = 1")
	fmt.Println(err)
	// Output:
	// t >= 1500000 and (p = 1 or not circle(320, 240, 100)) and x + 10 <= 49
	// t >= 1500000 and (p = 1 or not circle(320, 240, 100)) and x <= 39
	// t>=1500000 x<=39
	// at 12: there is no polarty; columns are t, x, y, p
}

func ExampleParseKeys() {
	keys, err := exprs.ParseKeys("p, tile(16), (t - 5ms) // 1ms as ms")
	if err != nil {
		panic(err)
	}
	for _, k := range keys {
		lo, hi := k.Value.Range(event.Box{T0: 5000, T1: 54999, X1: 639, Y1: 479, P1: 1})
		fmt.Println(k.Name, "=", k.Value, "from", lo, "to", hi)
	}
	// Output:
	// p = p from 0 to 1
	// tile_y = y // 16 from 0 to 29
	// tile_x = x // 16 from 0 to 39
	// ms = (t - 5000) // 1000 from 0 to 49
}

// A filter on turned events, asked of the events as they were recorded.
func ExampleSubstitute() {
	turn, err := exprs.NewTransform("rotate", "90")
	if err != nil {
		panic(err)
	}
	p, err := turn.Project(event.Geometry{Width: 640, Height: 480})
	if err != nil {
		panic(err)
	}
	e := exprs.Substitute(exprs.InRect(0, 0, 99, 99), p.Columns())
	fmt.Println(exprs.Simplify(e), "on", p.Geometry)
	// Output: y between 380 and 479 and x <= 99 on 480x640
}
