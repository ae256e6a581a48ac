package cuda

import (
	"errors"
	"time"
	"unsafe"

	"github.com/evq-project/evq/accel"
)

// A clock takes the times of a stream's stages: the driver's events note when the stream comes by. The stages add up over
// batches.
type clock struct {
	events []uintptr
	names  []string // of the stages that end at each event; the first of a batch is none
	stages []accel.Stage
}

// mark notes the end of a stage on the slot's stream. Without a clock it does nothing.
func (s *slot) mark(d *driver, stage string) error {
	c := s.clock
	if c == nil {
		return nil
	}
	if len(c.names) == len(c.events) {
		var event uintptr
		if err := d.call(cuEventCreate, uintptr(unsafe.Pointer(&event)), 0); err != nil {
			return err
		}
		c.events = append(c.events, event)
	}
	c.names = append(c.names, stage)
	return d.call(cuEventRecord, c.events[len(c.names)-1], s.stream)
}

// read adds the stages of a batch that is done.
func (c *clock) read(d *driver) error {
	for i := 1; i < len(c.names); i++ {
		var millis float32
		if err := d.call(cuEventElapsedTime, uintptr(unsafe.Pointer(&millis)), c.events[i-1], c.events[i]); err != nil {
			return err
		}
		c.add(c.names[i], time.Duration(float64(millis)*1e6))
	}
	c.names = c.names[:0]
	return nil
}

// add adds to a stage, or appends it.
func (c *clock) add(name string, took time.Duration) {
	for i := range c.stages {
		if c.stages[i].Name == name {
			c.stages[i].Took += took
			return
		}
	}
	c.stages = append(c.stages, accel.Stage{Name: name, Took: took})
}

// close gives the events back.
func (c *clock) close(d *driver) error {
	var errs []error
	for _, e := range c.events {
		errs = append(errs, d.call(cuEventDestroy, e))
	}
	c.events = nil
	return errors.Join(errs...)
}
