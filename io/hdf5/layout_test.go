package hdf5

import (
	"slices"
	"strings"
	"testing"

	"github.com/evq-project/evq/io/format"
)

func TestGroupPlace(t *testing.T) {
	for _, tt := range []struct{ datasets, want string }{
		{"t x y p", "/g/{t,x,y,p}"},
		{"height p t width x y", "/g/{t,x,y,p}"},
		{"ts xs ys ps", "/g/{ts,xs,ys,ps}"},
		{"X Y Timestamp Polarity", "/g/{Timestamp,X,Y,Polarity}"},
		{"timestamps x y on", "/g/{timestamps,x,y,on}"},
		{"time t x y polarities", "/g/{t,x,y,polarities}"},
		{"ms_map_idx p t ts_map_ovc x y", "/g/{t,x,y,p}"},
		{"t x y", ""},
		{"t x p image", ""},
	} {
		p, ok := groupPlace("/g", strings.Fields(tt.datasets))
		if ok != (tt.want != "") || ok && p.String() != tt.want {
			t.Errorf("%s: %s, want %q", tt.datasets, p, tt.want)
		}
	}
}

func TestMatrixPlace(t *testing.T) {
	float, whole := elem{size: 8, float: true}, elem{size: 4}
	for _, tt := range []struct {
		name  string
		elem  elem
		order []string
		want  string
	}{
		{"/davis/left/events", float, nil, "x,y,t,p"},
		{"/events", whole, nil, "t,x,y,p"},
		{"/events", whole, []string{"x", "y", "p", "t"}, "x,y,p,t"},
		{"/images", whole, nil, ""},
	} {
		p, ok, err := matrixPlace(tt.name, tt.elem, tt.order)
		if err != nil || ok != (tt.want != "") || ok && !strings.HasSuffix(p.String(), "with columns "+tt.want) {
			t.Errorf("%s: %s, want %s: %v", tt.name, p, tt.want, err)
		}
	}
	for _, order := range [][]string{{"t", "x"}, {"t", "t", "x", "y"}, {"t", "x", "y", "p", "z"}} {
		if _, _, err := matrixPlace("/events", whole, order); err == nil {
			t.Errorf("the order %v is accepted", order)
		}
	}
}

func TestChoose(t *testing.T) {
	places := []place{{path: "/b"}, {path: "/davis/left/events"}, {path: "/a"}, {path: "/CD/events"}}
	arrange(places)
	var got []string
	for _, p := range places {
		got = append(got, p.path)
	}
	if !slices.Equal(got, []string{"/CD/events", "/davis/left/events", "/b", "/a"}) {
		t.Errorf("order %v", got)
	}
	for _, tt := range []struct {
		p    format.Policy
		want int
	}{{format.Policy{}, 0}, {format.Policy{Stream: -1}, 0}, {format.Policy{Stream: 0, StreamGiven: true}, 0}, {format.Policy{Stream: 3, StreamGiven: true}, 3}} {
		if k, err := choose(places, tt.p); err != nil || k != tt.want {
			t.Errorf("%+v: %d: %v", tt.p, k, err)
		}
	}
	if _, err := choose(places, format.Policy{Stream: 4, StreamGiven: true}); err == nil || !strings.Contains(err.Error(), "/davis/left/events") {
		t.Errorf("stream 4 of 4: %v", err)
	}
}

func TestMapped(t *testing.T) {
	paths, err := mapped(map[string]string{"t": "a/time", "x": "/b"})
	if err != nil || paths != [numColumns]string{"/a/time", "/b"} {
		t.Errorf("%q: %v", paths, err)
	}
	for _, m := range []map[string]string{{"z": "a"}, {"t": ""}} {
		if _, err := mapped(m); err == nil || !strings.Contains(err.Error(), "--h5-map") {
			t.Errorf("%v: %v", m, err)
		}
	}
}
