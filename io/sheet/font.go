package sheet

import "image"

// Glyphs are three pixels wide and five high, drawn at twice that.
const (
	glyphWidth, glyphHeight = 3, 5
	zoom                    = 2
	labelHeight             = zoom*glyphHeight + 4
	minCell                 = 12 * zoom * (glyphWidth + 1) // room for a label
)

// glyphs holds the rows of each sign, top first; the highest of three bits is the left pixel.
var glyphs = map[rune][glyphHeight]uint8{
	'0': {7, 5, 5, 5, 7}, '1': {2, 6, 2, 2, 7}, '2': {7, 1, 7, 4, 7}, '3': {7, 1, 7, 1, 7}, '4': {5, 5, 7, 1, 1},
	'5': {7, 4, 7, 1, 7}, '6': {7, 4, 7, 5, 7}, '7': {7, 1, 1, 2, 2}, '8': {7, 5, 7, 5, 7}, '9': {7, 5, 7, 1, 7},
	'.': {0, 0, 0, 0, 2}, '-': {0, 0, 7, 0, 0}, 's': {3, 4, 2, 1, 6}, ' ': {},
}

// write draws a text from its upper left corner on; what leaves the picture is cut.
func write(img *image.Paletted, x, y int, text string) {
	for _, r := range text {
		for row, bits := range glyphs[r] {
			for column := range glyphWidth {
				if bits>>(glyphWidth-1-column)&1 == 0 {
					continue
				}
				for i := range zoom * zoom {
					at := image.Pt(x+column*zoom+i%zoom, y+row*zoom+i/zoom)
					if at.In(img.Rect) {
						img.SetColorIndex(at.X, at.Y, label)
					}
				}
			}
		}
		x += (glyphWidth + 1) * zoom
	}
}
