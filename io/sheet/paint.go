package sheet

import (
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"math"

	"github.com/evq-project/evq/io/tensor"
)

const (
	maxWidth = 320 // of a tile, pixels
	border   = 2   // between tiles
	shades   = 15  // of red and of blue
)

// Indexes of the palette; shade k of blue is -k from white, of red +k.
const (
	white = shades
	line  = 2*shades + 1
	label = 2*shades + 2
)

// palette runs from full blue over white to full red; then come the border's grey and the label's.
func palette() color.Palette {
	p := make(color.Palette, 0, 2*shades+3)
	for k := -shades; k <= shades; k++ {
		pale := uint8(215 * (shades - max(k, -k)) / shades)
		c := color.RGBA{pale, pale, 0xff, 0xff}
		switch {
		case k == 0:
			c = color.RGBA{0xff, 0xff, 0xff, 0xff}
		case k > 0:
			c = color.RGBA{0xf0, pale, pale, 0xff}
		}
		p = append(p, c)
	}
	return append(p, color.RGBA{0xd0, 0xd0, 0xd0, 0xff}, color.RGBA{0x30, 0x30, 0x30, 0xff})
}

// A tile is the picture of one block.
type tile struct {
	pix []uint8 // palette indexes
	end int64   // of the window, microseconds
}

// A painter draws blocks of one layout. It keeps its sums for the next.
type painter struct {
	layout        tensor.Layout
	signs         []float64 // of each plane
	rows, columns int       // of a plane
	step          int       // pixels of a plane for one of the tile
	width, height int       // of the tile
	sums          []float64
}

// newPainter finds how blocks of a layout are drawn.
func newPainter(l tensor.Layout) (*painter, error) {
	d := len(l.Shape)
	if d < 2 || l.Shape.Len() == 0 {
		return nil, fmt.Errorf("sheet: blocks of shape %v have no picture; rows and columns are needed", l.Shape)
	}
	p := &painter{layout: l, rows: l.Shape[d-2], columns: l.Shape[d-1]}
	p.signs = signs(l, l.Shape[:d-2].Len())
	p.step = max(1, (p.columns+maxWidth-1)/maxWidth, (p.rows+maxWidth-1)/maxWidth)
	p.width, p.height = (p.columns+p.step-1)/p.step, (p.rows+p.step-1)/p.step
	p.sums = make([]float64, p.width*p.height)
	return p, nil
}

// signs says which planes are OFF. Sums carry their sign themselves; of counts and surfaces the first half of
// the channels is OFF, or the first of the two before rows and columns.
func signs(l tensor.Layout, planes int) []float64 {
	s := make([]float64, planes)
	pairs := len(l.Shape) == 4 && l.Shape[1] == 2
	unsigned := l.DType == tensor.Uint8 || l.DType == tensor.Uint32 || l.Name == "time_surface" || l.Name == "sae"
	halves := len(l.Shape) == 3 && planes%2 == 0 && unsigned
	for i := range s {
		s[i] = 1
		if pairs && i%2 == 0 || halves && i < planes/2 {
			s[i] = -1
		}
	}
	return s
}

// paint draws a block: the sum of its planes, ON minus OFF.
func (p *painter) paint(b tensor.Block) tile {
	clear(p.sums)
	size := p.layout.DType.Size()
	for plane, sign := range p.signs {
		for y := range p.rows {
			row := b.Data[(plane*p.rows+y)*p.columns*size:][:p.columns*size]
			p.add(p.sums[y/p.step*p.width:][:p.width], row, sign)
		}
	}
	t := tile{pix: make([]uint8, len(p.sums)), end: b.End}
	scale := typical(p.sums)
	for i, v := range p.sums {
		t.pix[i] = shade(v, scale)
	}
	return t
}

// add adds one row of one plane to the row of the tile it lies in.
func (p *painter) add(sums []float64, row []byte, sign float64) {
	if p.layout.DType == tensor.Uint8 { // most of it is zero
		for x, v := range row {
			if v != 0 {
				sums[x/p.step] += sign * float64(v)
			}
		}
		return
	}
	for x := range p.columns {
		sums[x/p.step] += sign * element(row, x, p.layout.DType)
	}
}

// element reads value i; what is not a number counts as 0.
func element(row []byte, i int, d tensor.DType) float64 {
	at := row[i*d.Size():]
	switch d {
	case tensor.Int8:
		return float64(int8(at[0]))
	case tensor.Uint32:
		return float64(binary.LittleEndian.Uint32(at))
	case tensor.Int32:
		return float64(int32(binary.LittleEndian.Uint32(at)))
	case tensor.Int64:
		return float64(int64(binary.LittleEndian.Uint64(at)))
	case tensor.Float32:
		if v := float64(math.Float32frombits(binary.LittleEndian.Uint32(at))); !math.IsNaN(v) && !math.IsInf(v, 0) {
			return v
		}
		return 0
	}
	return float64(at[0])
}

// typical is twice the mean size of what is not zero: what is drawn in full colour.
func typical(sums []float64) float64 {
	var sum, n float64
	for _, v := range sums {
		if v != 0 {
			sum, n = sum+math.Abs(v), n+1
		}
	}
	if n == 0 {
		return 1
	}
	return 2 * sum / n
}

// shade returns the colour of a value; anything but zero is well visible.
func shade(v, scale float64) uint8 {
	if v == 0 {
		return white
	}
	k := int(math.Round(shades * min(1, 0.5+0.5*math.Abs(v)/scale)))
	if v < 0 {
		k = -k
	}
	return uint8(white + k)
}

// sheet lays out the tiles in rows, about 16 to 10.
func (p *painter) sheet(tiles []tile) image.Image {
	across := int(math.Round(math.Sqrt(float64(len(tiles)) * 1.6 * float64(p.cellHeight()) / float64(p.cellWidth()))))
	across = max(1, min(across, len(tiles)))
	down := max(1, (len(tiles)+across-1)/across)
	img := image.NewPaletted(image.Rect(0, 0, across*p.cellWidth()+border, down*p.cellHeight()+border), palette())
	for i := range img.Pix {
		img.Pix[i] = line
	}
	for i := range across * down {
		x, y := i%across*p.cellWidth()+border, i/across*p.cellHeight()+border
		fill(img, x, y, p.cellWidth()-border, p.cellHeight()-border, white)
		if i < len(tiles) {
			for row := range p.height {
				copy(img.Pix[img.PixOffset(x+(p.cellWidth()-border-p.width)/2, y+row):], tiles[i].pix[row*p.width:][:p.width])
			}
			cell := img.SubImage(image.Rect(x, y, x+p.cellWidth()-border, y+p.cellHeight()-border)).(*image.Paletted)
			write(cell, x+2, y+p.height+2, fmt.Sprintf("%.3f s", float64(tiles[i].end)/1e6))
		}
	}
	return img
}

// cellWidth is a tile's width with the border before it; narrow tiles leave room for the label.
func (p *painter) cellWidth() int { return max(p.width, minCell) + border }

// cellHeight is a tile's height with the border before it and the label below it.
func (p *painter) cellHeight() int { return p.height + labelHeight + border }

func fill(img *image.Paletted, x, y, w, h int, c uint8) {
	for row := range h {
		at := img.Pix[img.PixOffset(x, y+row):][:w]
		for i := range at {
			at[i] = c
		}
	}
}
