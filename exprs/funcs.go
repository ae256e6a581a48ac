package exprs

import (
	"fmt"
	"slices"
)

// Funcs is the list of the functions that text knows. Callers must not change it: a program hands its own to Parse.
var Funcs = []Func{
	{Name: "abs", Usage: "abs(a)", Doc: "a without its sign", Min: 1, Max: 1, Eval: evalAbs, Range: rangeAbs},
	{Name: "min", Usage: "min(a, b, ...)", Doc: "the least of its arguments", Min: 2, Max: 64, Eval: evalMin, Range: rangeMin},
	{Name: "max", Usage: "max(a, b, ...)", Doc: "the greatest of its arguments", Min: 2, Max: 64, Eval: evalMax, Range: rangeMax},
	{Name: "rect", Usage: "rect(x0, y0, x1, y1)", Doc: "the pixel lies in a rectangle, both corners of which belong to it",
		Kind: Predicate, Min: 4, Max: 4, pixels: parseRect},
	{Name: "circle", Usage: "circle(cx, cy, r)", Doc: "the pixel lies within r of cx, cy", Kind: Predicate, Min: 3, Max: 3, pixels: parseCircle},
	{Name: "polygon", Usage: "polygon(x0, y0, x1, y1, x2, y2, ...)",
		Doc:  "the pixel lies in a polygon by the even-odd rule; its border belongs to it",
		Kind: Predicate, Min: 6, Max: 8192, pixels: parsePolygon},
	{Name: "mask", Usage: "mask('file')", Doc: "the pixel is set in an image", Kind: Predicate, Min: 1, Max: 1, pixels: parseMask},
	{Name: "pixel", Usage: "pixel", Doc: "the keys y and x", Kind: Keys, keys: func([]int64) ([]Key, error) {
		return []Key{{"y", Y}, {"x", X}}, nil
	}},
	{Name: "row", Usage: "row", Doc: "the key y", Kind: Keys, keys: func([]int64) ([]Key, error) { return []Key{{"row", Y}}, nil }},
	{Name: "column", Usage: "column", Doc: "the key x", Kind: Keys, keys: func([]int64) ([]Key, error) { return []Key{{"column", X}}, nil }},
	{Name: "tile", Usage: "tile(n)", Doc: "the keys y // n and x // n", Kind: Keys, Min: 1, Max: 1, keys: tile},
}

// funcAbs, funcMin and funcMax stand behind the Go functions of their names.
var funcAbs, funcMin, funcMax = &Funcs[0], &Funcs[1], &Funcs[2]

// Abs is the value without its sign.
func Abs(v Value) Value { return newCall(funcAbs, []Value{v}) }

// Min is the lesser of two values.
func Min(v, w Value) Value { return newCall(funcMin, []Value{v, w}) }

// Max is the greater of two values.
func Max(v, w Value) Value { return newCall(funcMax, []Value{v, w}) }

func evalAbs(dst []int64, args [][]int64) {
	for i, n := range args[0] {
		if n < 0 {
			n = subSat(0, n)
		}
		dst[i] = n
	}
}

func rangeAbs(args []Interval) Interval {
	a := args[0]
	lo, hi := max(a.Lo, subSat(0, a.Lo)), max(a.Hi, subSat(0, a.Hi))
	if a.holds(0) {
		return Interval{0, max(lo, hi)}
	}
	return hull(lo, hi)
}

func evalMin(dst []int64, args [][]int64) {
	copy(dst, args[0])
	for _, a := range args[1:] {
		for i, n := range a {
			dst[i] = min(dst[i], n)
		}
	}
}

func rangeMin(args []Interval) Interval {
	r := args[0]
	for _, a := range args[1:] {
		r = Interval{min(r.Lo, a.Lo), min(r.Hi, a.Hi)}
	}
	return r
}

func evalMax(dst []int64, args [][]int64) {
	copy(dst, args[0])
	for _, a := range args[1:] {
		for i, n := range a {
			dst[i] = max(dst[i], n)
		}
	}
}

func rangeMax(args []Interval) Interval {
	r := args[0]
	for _, a := range args[1:] {
		r = Interval{max(r.Lo, a.Lo), max(r.Hi, a.Hi)}
	}
	return r
}

// constants returns arguments that must be numbers.
func constants(args []operand) ([]int64, error) {
	out := make([]int64, len(args))
	for i, a := range args {
		n, ok := a.val.constant()
		if a.is != isValue || !ok {
			return nil, &SyntaxError{Pos: a.pos, Msg: "a number is needed here; write it out"}
		}
		out[i] = n
	}
	return out, nil
}

func parseRect(args []operand, _ func(string) (*Bitmap, error)) (Expr, error) {
	n, err := constants(args)
	if err != nil {
		return nil, err
	}
	if n[0] > n[2] || n[1] > n[3] {
		return nil, fmt.Errorf("the second corner %d, %d lies before the first %d, %d; swap them", n[2], n[3], n[0], n[1])
	}
	return InRect(n[0], n[1], n[2], n[3]), nil
}

func parseCircle(args []operand, _ func(string) (*Bitmap, error)) (Expr, error) {
	n, err := constants(args)
	if err != nil {
		return nil, err
	}
	return Circle(n[0], n[1], n[2])
}

func parsePolygon(args []operand, _ func(string) (*Bitmap, error)) (Expr, error) {
	n, err := constants(args)
	if err != nil {
		return nil, err
	}
	return Polygon(n...)
}

func parseMask(args []operand, load func(string) (*Bitmap, error)) (Expr, error) {
	switch {
	case args[0].is != isText:
		return nil, &SyntaxError{Pos: args[0].pos, Msg: "the name of an image is needed here; write mask('file.png')"}
	case load == nil:
		return nil, &SyntaxError{Pos: args[0].pos, Msg: "mask images cannot be read here; use rect, circle or polygon"}
	}
	m, err := load(args[0].text)
	if err != nil {
		return nil, err
	}
	named := *m
	named.name = args[0].text
	return Pixels(&named), nil
}

func tile(args []int64) ([]Key, error) {
	if args[0] < 1 {
		return nil, fmt.Errorf("a tile of %d pixels; at least 1 is possible", args[0])
	}
	return []Key{{"tile_y", Y.Div(args[0])}, {"tile_x", X.Div(args[0])}}, nil
}

// withFuncs returns the list and a program's own functions, each found by its name.
func withFuncs(own []Func) ([]Func, error) {
	out := slices.Clone(Funcs)
	for i := range own {
		if err := own[i].check(); err != nil {
			return nil, err
		}
		if slices.ContainsFunc(out, func(f Func) bool { return f.Name == own[i].Name }) {
			return nil, fmt.Errorf("exprs: there are two functions %s; rename one", own[i].Name)
		}
		out = append(out, own[i])
	}
	return out, nil
}
