package rawheader

import "github.com/evq-project/evq/io/event"

// Triggers collects the external triggers that a decoder meets and hands them on in runs.
type Triggers struct {
	To   func([]event.Trigger) error // nil: they are counted only
	Kept []event.Trigger
}

// triggerRun is how many triggers are collected before they are handed on.
const triggerRun = 4096

// Add takes one trigger, read at a byte offset.
func (c *Triggers) Add(tr event.Trigger, rep *event.Report, offset int64) error {
	rep.Count(event.Triggers, 1, offset)
	if c.To == nil {
		return nil
	}
	c.Kept = append(c.Kept, tr)
	if len(c.Kept) < triggerRun {
		return nil
	}
	return c.Flush()
}

// Flush hands on what is kept.
func (c *Triggers) Flush() error {
	if len(c.Kept) == 0 {
		return nil
	}
	err := c.To(c.Kept)
	c.Kept = c.Kept[:0]
	return err
}
