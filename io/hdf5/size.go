package hdf5

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/evq-project/evq/io/event"
)

// sizeIn finds the sensor's size in attributes: geometry 1280x720, or format ECF;height=720;width=1280.
func sizeIn(fields []event.Field) event.Geometry {
	for _, f := range fields {
		var g event.Geometry
		switch f.Key {
		case "geometry":
			if _, err := fmt.Sscanf(f.Value, "%dx%d", &g.Width, &g.Height); err != nil {
				continue
			}
		case "format":
			for part := range strings.SplitSeq(f.Value, ";") {
				key, v, _ := strings.Cut(part, "=")
				n, err := strconv.Atoi(v)
				switch {
				case err != nil:
				case key == "width":
					g.Width = n
				case key == "height":
					g.Height = n
				}
			}
		}
		if sensible(g.Width, g.Height) {
			return g
		}
	}
	return event.Geometry{}
}

// sensible reports whether numbers can be the size of a sensor.
func sensible(w, h int) bool { return w > 0 && h > 0 && w <= 1<<16 && h <= 1<<16 }
