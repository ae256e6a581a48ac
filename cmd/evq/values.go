package main

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/evq-project/evq/io/event"
)

// parseDuration reads a duration such as 50ms. It has a unit and is not negative.
func parseDuration(s string) (time.Duration, error) {
	us, err := event.ParseMicros(s, "")
	switch {
	case err != nil:
		return 0, err
	case us < 0:
		return 0, fmt.Errorf("%q is negative", s)
	case us > math.MaxInt64/1000:
		return 0, fmt.Errorf("%q is too large", s)
	}
	return time.Duration(us) * time.Microsecond, nil
}

// An instant is a time on the recording's clock, or after its first event.
type instant struct {
	us       int64
	relative bool
}

// parseInstant reads 2.5s, 1500000 (µs), or +1s for a second after the first event.
func parseInstant(s string) (instant, error) {
	us, err := event.ParseMicros(s, "us")
	return instant{us, strings.HasPrefix(strings.TrimSpace(s), "+")}, err
}

// on returns the time on the recording's clock.
func (i instant) on(first int64) int64 {
	if !i.relative {
		return i.us
	}
	switch at := first + i.us; {
	case i.us > 0 && at < first:
		return math.MaxInt64
	case i.us < 0 && at > first:
		return math.MinInt64
	default:
		return at
	}
}

// A timeRange is half-open; a side may be open too.
type timeRange struct {
	from, to       instant
	hasFrom, hasTo bool
	text           string
}

func parseTimeRange(s string) (timeRange, error) {
	r := timeRange{text: s}
	from, to, ok := strings.Cut(s, "..")
	if !ok {
		return r, fmt.Errorf("%q is no range; write A..B, such as 1s..2.5s, where either side may be missing", s)
	}
	var err error
	if r.hasFrom = from != ""; r.hasFrom {
		if r.from, err = parseInstant(from); err != nil {
			return r, err
		}
	}
	if r.hasTo = to != ""; r.hasTo {
		if r.to, err = parseInstant(to); err != nil {
			return r, err
		}
	}
	if r.hasFrom && r.hasTo && r.from.relative == r.to.relative && r.from.us > r.to.us {
		return r, fmt.Errorf("%q ends before it starts", s)
	}
	return r, nil
}

// parseSize reads WIDTHxHEIGHT in pixels.
func parseSize(s string) (event.Geometry, error) {
	w, h, ok := strings.Cut(strings.ToLower(s), "x")
	width, err1 := strconv.ParseUint(w, 10, 17)
	height, err2 := strconv.ParseUint(h, 10, 17)
	if !ok || errors.Join(err1, err2) != nil || width < 1 || height < 1 || width > 1<<16 || height > 1<<16 {
		return event.Geometry{}, fmt.Errorf("%q is no size; write WIDTHxHEIGHT in pixels, such as 1280x720", s)
	}
	return event.Geometry{Width: int(width), Height: int(height)}, nil
}

// A rect is a rectangle of pixels, its corners inside.
type rect struct{ x0, y0, x1, y1 int64 }

func parseRect(s string) (rect, error) {
	parts := strings.Split(s, ",")
	v := make([]int64, 4)
	for i, p := range parts {
		n, err := strconv.ParseUint(strings.TrimSpace(p), 10, 16)
		if err != nil || len(parts) != 4 {
			return rect{}, fmt.Errorf("%q is no rectangle; write X0,Y0,X1,Y1, both corners inside, such as 0,0,639,359", s)
		}
		v[i] = int64(n)
	}
	if v[0] > v[2] || v[1] > v[3] {
		return rect{}, fmt.Errorf("%q is empty; the first corner is the upper left one", s)
	}
	return rect{v[0], v[1], v[2], v[3]}, nil
}

var byteUnits = map[string]int64{
	"": 1, "b": 1, "kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40,
	"kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "tib": 1 << 40,
}

// leastMemory is below what reading and writing need at all.
const leastMemory = 16 << 20

// parseBytes reads an amount of memory such as 512MiB.
func parseBytes(s string) (int64, error) {
	n, err := parseScaled(s, byteUnits)
	if err != nil {
		return 0, fmt.Errorf("%q is no amount of memory; write 512MiB or 2GiB", s)
	}
	if n < leastMemory {
		return 0, fmt.Errorf("%q is too little; evq needs 16MiB at least", s)
	}
	return n, nil
}

var countUnits = map[string]int64{"": 1, "k": 1e3, "m": 1e6, "g": 1e9}

// parseCount reads a number of events such as 50000, 50k or 2.5M.
func parseCount(s string) (int64, error) {
	n, err := parseScaled(s, countUnits)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%q is no number of events; write 50000, 50k or 2.5M", s)
	}
	return n, nil
}

// number matches a decimal and what follows it.
var number = regexp.MustCompile(`^([+-]?[0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]*)$`)

var errNumber = errors.New("no number")

func parseScaled(s string, units map[string]int64) (int64, error) {
	m := number.FindStringSubmatch(strings.ReplaceAll(strings.TrimSpace(s), "_", ""))
	if m == nil {
		return 0, errNumber
	}
	scale, ok := units[strings.ToLower(m[2])]
	v, valid := new(big.Rat).SetString(m[1])
	if !ok || !valid {
		return 0, errNumber
	}
	v.Mul(v, big.NewRat(scale, 1))
	if !v.IsInt() || !v.Num().IsInt64() {
		return 0, errNumber
	}
	return v.Num().Int64(), nil
}
