package npyrec

import (
	"io"
	"slices"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/npy"
)

// sizeNames are the arrays of one whole number that say the sensor's size.
var sizeNames = [...]string{"width", "height"}

// sizeOf reads the sensor's size out of an archive and takes its arrays from those that are left out; zero where it is
// not there.
func (l *layout) sizeOf(arrays []npy.Stored) (g event.Geometry) {
	var sides [2]int64
	for k, name := range sizeNames {
		i := slices.IndexFunc(arrays, func(a npy.Stored) bool { return a.Name == name })
		if i < 0 || arrays[i].Err != nil || arrays[i].Named || arrays[i].Len() != 1 || len(arrays[i].Shape) > 1 {
			return event.Geometry{}
		}
		a := arrays[i]
		s := series{array: a, field: a.Fields[0], step: a.Record}
		if numeric(s.field, roleX) != nil || !s.only(&sides[k]) || sides[k] < 1 || sides[k] > 1<<16 {
			return event.Geometry{}
		}
	}
	l.others = slices.DeleteFunc(l.others, func(f event.Field) bool { return slices.Contains(sizeNames[:], f.Key) })
	return event.Geometry{Width: int(sides[0]), Height: int(sides[1])}
}

// only reads the only value of an array.
func (s *series) only(v *int64) bool {
	r, err := s.array.Open()
	if err != nil {
		return false
	}
	defer func() { _ = r.Close() }()
	raw := make([]byte, s.step)
	if _, err := io.ReadFull(r, raw); err != nil {
		return false
	}
	var one [1]int64
	if s.whole(one[:], raw) != nil {
		return false
	}
	*v = one[0]
	return true
}
