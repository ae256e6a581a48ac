package main

import (
	"bytes"
	"fmt"
	"image/color"
	"path/filepath"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// A bar is one program in a chart.
type bar struct {
	name   string
	own    bool // evq's, in another colour
	values spread
	label  string
}

var (
	ownColour   = color.RGBA{R: 0x1f, G: 0x77, B: 0x8b, A: 0xff}
	otherColour = color.RGBA{R: 0xd0, G: 0x7b, B: 0x3c, A: 0xff}
	inkColour   = color.RGBA{R: 0x33, G: 0x33, B: 0x33, A: 0xff}
	lineColour  = color.RGBA{R: 0xdd, G: 0xdd, B: 0xdd, A: 0xff}
)

// draw writes the two charts and the table, and returns their names.
func (r *benchResults) draw(dir string) ([]string, error) {
	var times, memory []bar
	for _, row := range r.done() {
		name := row.Name
		if row.Windows != r.Windows {
			name += fmt.Sprintf(" (%d windows)", row.Windows)
		}
		w, m := row.wall(), row.memory()
		times = append(times, bar{name, row.Own, w, fmt.Sprintf("%.2f s", w.median)})
		if m.max > 0 {
			m = spread{m.min / (1 << 20), m.max / (1 << 20), m.max / (1 << 20)}
			memory = append(memory, bar{name, row.Own, m, fmt.Sprintf("%.0f MiB", m.max)})
		}
	}
	table := filepath.Join(dir, r.Kind+".md")
	written := []string{table}
	if err := writeWhole(table, []byte(r.markdown())); err != nil {
		return nil, err
	}
	for _, c := range []struct {
		file, title, axis string
		bars              []bar
		whiskers          bool
	}{
		{"_time.png", "time", "wall time in s: median, least and most", times, true},
		{"_memory.png", "memory", "largest peak of resident memory in MiB", memory, false},
	} {
		if len(c.bars) == 0 {
			continue
		}
		png, err := drawBars(fmt.Sprintf("evq bench %s, %s: %s", r.Kind, c.title, r.Input), c.axis, c.bars, c.whiskers)
		if err != nil {
			return nil, err
		}
		path := filepath.Join(dir, r.Kind+c.file)
		if err := writeWhole(path, png); err != nil {
			return nil, err
		}
		written = append(written, path)
	}
	return written, nil
}

// drawBars draws horizontal bars, the first on top, each with its label.
func drawBars(title, axis string, bars []bar, whiskers bool) ([]byte, error) {
	p := plot.New()
	p.Title.Text, p.X.Label.Text = title, axis
	p.Title.Padding, p.X.Padding = vg.Points(8), 0
	p.X.Min = 0
	bars = slices.Clone(bars)
	slices.Reverse(bars) // the axis runs upwards
	var names []string
	var right float64
	for _, b := range bars {
		names = append(names, b.name)
		right = max(right, b.values.max)
	}
	grid := plotter.NewGrid()
	grid.Horizontal.Width, grid.Vertical.Color = 0, lineColour
	p.Add(grid)
	for i, b := range bars {
		if err := addBar(p, i, b, right, whiskers); err != nil {
			return nil, err
		}
	}
	p.NominalY(names...)
	p.Y.Min, p.Y.Max = -0.6, float64(len(bars))-0.4
	p.X.Max = max(right*1.18, 1e-9) // room for the labels
	for _, style := range []*text.Style{&p.Title.TextStyle, &p.X.Label.TextStyle, &p.X.Tick.Label, &p.Y.Tick.Label} {
		style.Font.Variant = "Sans"
	}
	const margin = 12
	canvas := vgimg.NewWith(vgimg.UseWH(20*vg.Centimeter, vg.Length(3+1.1*float64(len(bars)))*vg.Centimeter), vgimg.UseDPI(144))
	p.Draw(draw.Crop(draw.New(canvas), margin, -margin, margin, -margin))
	var out bytes.Buffer
	_, err := vgimg.PngCanvas{Canvas: canvas}.WriteTo(&out)
	return out.Bytes(), err
}

// addBar draws the bar at height i.
func addBar(p *plot.Plot, i int, b bar, right float64, whiskers bool) error {
	shape, err := plotter.NewBarChart(plotter.Values{b.values.median}, vg.Points(18))
	if err != nil {
		return err
	}
	shape.Horizontal, shape.XMin, shape.LineStyle.Width = true, float64(i), 0
	if shape.Color = otherColour; b.own {
		shape.Color = ownColour
	}
	p.Add(shape)
	if whiskers {
		at := plotter.XYs{{X: b.values.median, Y: float64(i)}}
		bounds := plotter.XErrors{{Low: b.values.min - b.values.median, High: b.values.max - b.values.median}}
		w, err := plotter.NewXErrorBars(struct {
			plotter.XYs
			plotter.XErrors
		}{at, bounds})
		if err != nil {
			return err
		}
		w.LineStyle.Color = inkColour
		p.Add(w)
	}
	label, err := plotter.NewLabels(plotter.XYLabels{
		XYs:    plotter.XYs{{X: b.values.max + right*0.01, Y: float64(i)}},
		Labels: []string{b.label},
	})
	if err != nil {
		return err
	}
	style := font.From(plot.DefaultFont, 10)
	style.Variant = "Sans"
	label.TextStyle[0] = text.Style{Color: inkColour, Font: style, XAlign: draw.XLeft, YAlign: draw.YCenter, Handler: plot.DefaultTextHandler}
	p.Add(label)
	return nil
}
