package rawheader

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/evq-project/evq/io/event"
)

// A Version says which words a payload holds, and which field of the header says so.
type Version struct {
	Name string // as in a header's format field: EVT2, EVT21, EVT3; "" where nothing says it
	Why  string // the field that decided
	Sure bool   // the header names the format; otherwise it follows from the camera's model
}

// evtNames maps the values of the evt field to names.
var evtNames = map[string]string{"2.0": "EVT2", "2.1": "EVT21", "3.0": "EVT3", "4.0": "EVT4", "2": "EVT2", "3": "EVT3", "4": "EVT4"}

// Version returns the format of the payload: format decides, then evt, then the camera's system_ID.
func (h Header) Version() Version {
	if v, ok := h.Field("format"); ok && v != "" {
		name, _, _ := strings.Cut(v, ";")
		name = strings.ToUpper(strings.ReplaceAll(strings.TrimSpace(name), ".", ""))
		return Version{Name: name, Why: "the header's format field says " + v, Sure: true}
	}
	if v, ok := h.Field("evt"); ok {
		if name, ok := evtNames[v]; ok {
			return Version{Name: name, Why: "the header's evt field says " + v, Sure: true}
		}
	}
	if s, ok := h.system(); ok {
		return Version{Name: s.name, Why: fmt.Sprintf("the header's system_ID %d is a camera that writes %s", s.id, s.name)}
	}
	return Version{}
}

// Geometry returns the sensor's size: from format, else from geometry, else from width and height fields, else from the
// camera's system_ID, else unknown. Fields that contradict each other are an error.
func (h Header) Geometry() (event.Geometry, error) {
	byFormat, err := h.formatGeometry()
	if err != nil {
		return event.Geometry{}, err
	}
	byField, err := h.fieldGeometry()
	if err != nil {
		return event.Geometry{}, err
	}
	switch {
	case byFormat.Known() && byField.Known() && byFormat != byField:
		return event.Geometry{}, fmt.Errorf("the header's format says %v and its geometry %v; pass the right one by --size", byFormat, byField)
	case byFormat.Known():
		return byFormat, nil
	case byField.Known():
		return byField, nil
	}
	if s, ok := h.system(); ok {
		return s.geometry, nil
	}
	return event.Geometry{}, nil
}

func (h Header) formatGeometry() (g event.Geometry, err error) {
	v, _ := h.Field("format")
	_, options, _ := strings.Cut(v, ";")
	for option := range strings.SplitSeq(options, ";") {
		key, value, _ := strings.Cut(option, "=")
		switch strings.ToLower(strings.TrimSpace(key)) {
		case "width":
			g.Width, err = side("format width", value)
		case "height":
			g.Height, err = side("format height", value)
		}
		if err != nil {
			return event.Geometry{}, err
		}
	}
	return g, nil
}

func (h Header) fieldGeometry() (g event.Geometry, err error) {
	if v, ok := h.Field("geometry"); ok {
		w, hh, _ := strings.Cut(strings.ToLower(v), "x")
		if g.Width, err = side("geometry", w); err != nil {
			return event.Geometry{}, err
		}
		if g.Height, err = side("geometry", hh); err != nil {
			return event.Geometry{}, err
		}
		return g, nil
	}
	for _, s := range []struct {
		key string
		to  *int
	}{{"width", &g.Width}, {"height", &g.Height}} {
		if v, ok := h.Field(s.key); ok {
			if *s.to, err = side(s.key, v); err != nil {
				return event.Geometry{}, err
			}
		}
	}
	return g, nil
}

// side parses one side of the sensor; pixels are addressed by 16 bits.
func side(field, v string) (int, error) {
	n, err := strconv.Atoi(strings.TrimSpace(v))
	if err != nil || n < 1 || n > 1<<16 {
		return 0, fmt.Errorf("the header's %s is %q and no size in pixels; pass the right one by --size WIDTHxHEIGHT", field, v)
	}
	return n, nil
}

// A system is a camera's model: what it writes when the header does not say.
type system struct {
	id       int
	name     string
	geometry event.Geometry
}

var (
	vga = event.Geometry{Width: 640, Height: 480}
	hd  = event.Geometry{Width: 1280, Height: 720}
)

// systems are the cameras by system_ID (OpenEB, device_system_id.h and psee_raw_file_header.cpp).
var systems = []system{
	{0x15, "EVT2", vga}, {0x17, "EVT2", vga}, {0x19, "EVT2", vga}, {0x1c, "EVT2", vga}, {0x1d, "EVT2", vga},
	{0x21, "EVT2", vga}, {0x22, "EVT2", vga}, {0x23, "EVT2", vga}, {0x29, "EVT2", vga},
	{0x1a, "EVT2", hd}, {0x1f, "EVT2", hd}, {0x27, "EVT2", hd},
	{0x1e, "EVT3", hd}, {0x2e, "EVT3", hd}, {0x30, "EVT3", hd}, {0x31, "EVT3", hd}, {0x32, "EVT3", hd},
	{0x28, "EVT3", vga},
}

func (h Header) system() (system, bool) {
	v, _ := h.Field("system_ID")
	id, err := strconv.Atoi(v)
	if err != nil {
		return system{}, false
	}
	for _, s := range systems {
		if s.id == id {
			return s, true
		}
	}
	return system{}, false
}

// Claim judges whether the payload is of the format that headers call name: how sure that is from 0 to 1, what says
// so or speaks against it, and what else the header says.
func (h Header) Claim(name string) (confidence float64, why string, properties []event.Field) {
	v := h.Version()
	switch {
	case h.Payload == 0:
		return 0, "no header of lines that start with \"% \"", nil
	case v.Name == "":
		return 0, "the header has no format, evt or known system_ID", nil
	case v.Name != name:
		return 0, v.Why, nil
	}
	confidence = 0.9
	if v.Sure {
		confidence = 0.99
	}
	if g, err := h.Geometry(); err != nil {
		properties = append(properties, event.Field{Key: "geometry", Value: err.Error()})
	} else if g.Known() {
		properties = append(properties, event.Field{Key: "geometry", Value: g.String()})
	}
	return confidence, v.Why, append(properties, h.Fields...)
}
