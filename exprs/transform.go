package exprs

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/evq-project/evq/io/event"
)

// A Transform moves, drops or changes events one by one. The set of transforms is closed.
type Transform interface {
	// String prints the transform as users write it: the name of its entry and its parameter.
	fmt.Stringer
	// Project returns what it does to the events of a sensor of size g, zero where that is not known. Errors wrap
	// ErrSize or ErrTransform.
	Project(g event.Geometry) (Projection, error)
	isTransform()
}

// A TransformEntry makes a transform available by name.
type TransformEntry struct {
	Name  string
	Param string // how its parameter is written; empty where it takes none
	Doc   string
	New   func(param string) (Transform, error)
}

// Transforms is the list of transforms. Callers must not change it.
var Transforms = []TransformEntry{
	{"flip", "x|y", "mirror the image left to right (x) or top to bottom (y)", newFlip},
	{"rotate", "90|180|270", "turn the image clockwise", newRotate},
	{"transpose", "", "swap x and y", newTranspose},
	{"crop", "X0,Y0,X1,Y1", "keep the pixels of a rectangle, both corners inside, and move the first corner to 0,0", newCrop},
	{"downsample", "N[:nearest|sum]", "shrink the image N times: keep one pixel of each N x N (nearest, as torch's nearest-exact), or the events of all of them (sum)", newDownsample},
	{"shift-time", "D", "add a duration to every time, such as -1.5s", newShiftTime},
	{"scale-time", "NUM[/DEN]", "multiply every time by a positive fraction, rounding down", newScaleTime},
	{"merge-polarity", "", "make every event an ON event", newMergePolarity},
}

// ErrSize reports a transform that needs the size of the sensor where it is not known.
var ErrSize = errors.New("the size of the sensor is not known; give it with --size WIDTHxHEIGHT")

// ErrTransform reports a transform that is not possible.
var ErrTransform = errors.New("no such transform")

// NewTransform makes a transform of its name and parameter, such as flip and x. Errors wrap ErrTransform.
func NewTransform(name, param string) (Transform, error) {
	names := make([]string, len(Transforms))
	for i, e := range Transforms {
		if names[i] = e.Name; e.Name == name {
			return e.New(param)
		}
	}
	return nil, fmt.Errorf("%w: %q; there are %s%s", ErrTransform, name, strings.Join(names, ", "), nearest(name, names))
}

// identity is the projection that changes nothing.
func identity(g event.Geometry) Projection { return Projection{T: T, X: X, Y: Y, P: P, Geometry: g} }

func badParam(name, param, write string) error {
	return fmt.Errorf("%w: %s %q; write %s", ErrTransform, name, param, write)
}

func none(name, param string, t Transform) (Transform, error) {
	if param != "" {
		return nil, fmt.Errorf("%w: %s takes no parameter, not %q; leave it out", ErrTransform, name, param)
	}
	return t, nil
}

func newTranspose(param string) (Transform, error) { return none("transpose", param, Transpose{}) }
func newMergePolarity(param string) (Transform, error) {
	return none("merge-polarity", param, MergePolarity{})
}

func newFlip(param string) (Transform, error) {
	switch param {
	case "x":
		return Flip{Vertical: false}, nil
	case "y":
		return Flip{Vertical: true}, nil
	}
	return nil, badParam("flip", param, "x or y")
}

func newRotate(param string) (Transform, error) {
	switch param {
	case "90", "180", "270":
		n, err := strconv.Atoi(param)
		return Rotate{n}, err
	}
	return nil, badParam("rotate", param, "90, 180 or 270")
}

func newCrop(param string) (Transform, error) {
	var n [4]int
	parts := strings.Split(param, ",")
	if len(parts) != len(n) {
		return nil, badParam("crop", param, "X0,Y0,X1,Y1")
	}
	for i, s := range parts {
		c, err := strconv.ParseUint(strings.TrimSpace(s), 10, 16)
		if err != nil {
			return nil, badParam("crop", param, "X0,Y0,X1,Y1, each from 0 to 65535")
		}
		n[i] = int(c)
	}
	if n[0] > n[2] || n[1] > n[3] {
		return nil, badParam("crop", param, "the corner with the lesser x and y first")
	}
	return Crop{n[0], n[1], n[2], n[3]}, nil
}

func newDownsample(param string) (Transform, error) {
	text, mode, given := strings.Cut(param, ":")
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > 1<<16 || given && mode != "nearest" && mode != "sum" {
		return nil, badParam("downsample", param, "N, N:nearest or N:sum, N from 1 to 65536")
	}
	return Downsample{N: n, Sum: mode == "sum"}, nil
}

func newShiftTime(param string) (Transform, error) {
	d, err := event.ParseMicros(param, "us")
	if err != nil {
		return nil, fmt.Errorf("%w: shift-time: %w", ErrTransform, err)
	}
	return ShiftTime{d}, nil
}

func newScaleTime(param string) (Transform, error) {
	num, den, given := strings.Cut(param, "/")
	if !given {
		den = "1"
	}
	n, errN := strconv.ParseInt(num, 10, 64)
	d, errD := strconv.ParseInt(den, 10, 64)
	s := ScaleTime{n, d}
	if errN != nil || errD != nil || !s.valid() {
		return nil, badParam("scale-time", param, "NUM or NUM/DEN, both from 1 to 1000000000")
	}
	return s, nil
}
