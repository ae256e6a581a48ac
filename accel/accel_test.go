package accel

import (
	"errors"
	"strings"
	"testing"
)

func TestGridValidate(t *testing.T) {
	good := Grid{Bins: 10, Width: 1280, Height: 720, Downsample: 2, Cutoff: 10}
	if err := good.Validate(); err != nil {
		t.Fatal(err)
	}
	if c, h, w := good.Channels(), good.Rows(), good.Columns(); c != 20 || h != 360 || w != 640 || good.Len() != 20*360*640 {
		t.Errorf("a block of (%d, %d, %d)", c, h, w)
	}
	for name, change := range map[string]func(*Grid){
		"no bins":       func(g *Grid) { g.Bins = 0 },
		"5000 bins":     func(g *Grid) { g.Bins = 5000 },
		"no width":      func(g *Grid) { g.Width = 0 },
		"height 40000":  func(g *Grid) { g.Height = 40000 },
		"downsample 0":  func(g *Grid) { g.Downsample = 0 },
		"downsample 3":  func(g *Grid) { g.Downsample = 3 },
		"cutoff 0":      func(g *Grid) { g.Cutoff = 0 },
		"cutoff 256":    func(g *Grid) { g.Cutoff = 256 },
		"nothing left":  func(g *Grid) { g.Width = 1 },
		"2^31 and more": func(g *Grid) { g.Bins, g.Width, g.Height = 4096, 1<<15, 1<<15 },
	} {
		g := good
		change(&g)
		if g.Validate() == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}

func TestJobValidate(t *testing.T) {
	g := Grid{Bins: 2, Width: 4, Height: 4, Downsample: 1, Cutoff: 10}
	job := Job{X: make([]uint16, 3), Y: make([]uint16, 3), P: make([]int8, 3), Windows: 1}
	for s, good := range map[Segment]bool{
		{Len: 3}:                    true,
		{Start: 3}:                  true,
		{Start: 1, Len: 3}:          false,
		{Start: 1 << 31, Len: 1}:    false,
		{Start: 4, Len: 1<<32 - 1}:  false,
		{Window: 1, Len: 1}:         false,
		{Bin: 2, Len: 1}:            false,
		{Window: 1 << 31, Bin: 1e6}: false,
	} {
		job.Segments = []Segment{s}
		if err := job.Validate(g); (err == nil) != good {
			t.Errorf("%+v: %v", s, err)
		}
	}
	job.Segments, job.P = nil, nil
	if job.Validate(g) == nil {
		t.Error("columns of unequal length were accepted")
	}
}

type fake struct {
	Device
	name string
	err  error
}

func (f fake) Name() string { return f.name }
func (f fake) Probe() error { return f.err }

func TestPick(t *testing.T) {
	noDriver := errors.New("no driver")
	all := []Device{fake{name: "cuda", err: noDriver}, fake{name: "metal", err: errors.New("not a Mac")}, fake{name: "cpu"}}
	for _, name := range []string{"", Auto, "cpu"} {
		if d, err := Pick(all, name); err != nil || d.Name() != "cpu" {
			t.Errorf("Pick(%q) = %v, %v", name, d, err)
		}
	}
	if _, err := Pick(all, "cuda"); !errors.Is(err, ErrUnavailable) || !errors.Is(err, noDriver) {
		t.Errorf("a device without a driver: %v", err)
	}
	if _, err := Pick(all, "tpu"); !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "[cuda metal cpu]") {
		t.Errorf("an unknown device: %v", err)
	}
	if _, err := Pick(all[:2], Auto); !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "not a Mac") {
		t.Errorf("no device can run: %v", err)
	}
}
