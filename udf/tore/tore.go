// Package tore is the time-ordered recent event volume: how long ago the last few events of each pixel were, on a
// logarithmic scale.
//
// It turns windows into blocks on the processor; it refuses to know where windows come from.
package tore

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/evq-project/evq/accel"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/tensor"
	"github.com/evq-project/evq/udf"
)

// name is what users type.
const name = "tore"

const (
	maxDepth = 64
	maxTime  = 1 << 50 // microseconds; a float64 holds it and one more
)

// A Volume describes blocks of shape (2, K, H, W) of float32, OFF first: plane k holds, for the event that is the k-th
// from the last at the pixel, max(ln(min(d, Max)+1) - ln(Min+1), 0), where d is the time from it to the window's end
// in microseconds. Without such an event d is Max, so that an empty volume is not zeros but ln((Max+1)/(Min+1)).
//
// Source: Baldwin et al. 2022, Time-Ordered Recent Event (TORE) Volumes for Event Cameras; bald6354/tore_volumes,
// events2ToreFeature, which puts ON first.
type Volume struct {
	K        int   // how many events of each pixel and polarity, 1 to 64
	Min, Max int64 // microseconds: events younger are as young, those older as old
	Memory   udf.Memory
}

// Entry makes the volume available by name.
var Entry = udf.Entry{
	Name:   name,
	Doc:    "how long ago the last k events of each pixel were, on a logarithmic scale: (2, k, H, W) float32, OFF first",
	Source: "Baldwin et al. 2022 (TORE Volumes)",
	Params: []udf.Param{
		{Name: "k", Default: "8", Doc: "events of each pixel and polarity, 1 to 64"},
		{Name: "min", Default: "150us", Doc: "younger events are as young as this"},
		{Name: "max", Default: "5s", Doc: "older events, and none, are as old as this"},
		udf.MemoryParam(udf.Recording),
	},
	New: func(a udf.Args) (udf.Representation, error) {
		v := Volume{Memory: a.Memory()}
		var err error
		if v.K, err = a.Int("k", 1, maxDepth); err != nil {
			return nil, err
		}
		if v.Min, err = a.Micros("min", 0, maxTime); err != nil {
			return nil, err
		}
		if v.Max, err = a.Micros("max", 0, maxTime); err != nil {
			return nil, err
		}
		return v, v.Validate()
	},
}

var _ udf.Rememberer = Volume{}

// String prints the function as users write it: the parameters but for the memory, and that where it is not the
// default.
func (v Volume) String() string {
	args := []string{fmt.Sprintf("k=%d", v.K), fmt.Sprintf("min=%v", time.Duration(v.Min)*time.Microsecond),
		fmt.Sprintf("max=%v", time.Duration(v.Max)*time.Microsecond)}
	if v.Memory != udf.Recording {
		args = append(args, fmt.Sprintf("memory=%v", v.Memory))
	}
	return name + "(" + strings.Join(args, ", ") + ")"
}

// Layout returns the shape of the blocks.
func (v Volume) Layout(g event.Geometry) tensor.Layout {
	return tensor.Layout{Name: name, Shape: tensor.Shape{2, v.K, g.Height, g.Width}, DType: tensor.Float32}
}

// Columns are all of them.
func (v Volume) Columns() event.Columns { return event.AllColumns }

// Remembers implements udf.Rememberer.
func (v Volume) Remembers() bool { return v.Memory == udf.Recording }

// Validate reports parameters that are not possible on any sensor.
func (v Volume) Validate() error {
	switch {
	case v.Memory > udf.Recording:
		return errors.New("tore: a memory that has no name; use the constants")
	case v.K < 1 || v.K > maxDepth:
		return fmt.Errorf("tore: k is %d; 1 to %d are possible", v.K, maxDepth)
	case v.Min < 0 || v.Max <= v.Min || v.Max > maxTime:
		return fmt.Errorf("tore: times from %d to %d us; 0 <= min < max <= 2^50 is possible", v.Min, v.Max)
	}
	return nil
}

// Open readies an encoder for a sensor of size g. It runs on the processor, whatever the device. It takes 2 bytes for
// each pixel; with a memory of the recording 16*K.
func (v Volume) Open(g event.Geometry, _ accel.Device) (udf.Encoder, error) {
	if err := v.Validate(); err != nil {
		return nil, err
	}
	blocks, err := udf.BlocksOf(v, g)
	if err != nil {
		return nil, err
	}
	e := &encoder{Blocks: blocks, volume: v, g: g, floor: math.Log(float64(v.Min + 1))}
	e.none = math.Float32bits(e.value(math.MaxUint64))
	if cells := 2 * g.Width * g.Height; v.Memory == udf.Recording {
		e.times = make([]int64, v.K*cells)
		for i := range e.times {
			e.times[i] = never
		}
	} else {
		e.found = make([]uint8, cells)
	}
	return e, nil
}

func (e *encoder) Encode(ctx context.Context, w event.Windowed, dst []tensor.Block) error {
	if e.times != nil {
		return e.Remember(ctx, w, dst, e.add, e.show)
	}
	return e.Each(ctx, w, dst, e.window)
}

func (e *encoder) OffSensor() int64 { return e.offSensor }
func (e *encoder) Close() error     { return nil }
