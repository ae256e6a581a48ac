package check

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"time"

	"github.com/evq-project/evq/accel"
)

// An opener opens the kernels of one case: under test, and for reference.
type opener struct {
	width, size, bins int // bytes of a count, counts of a window
	tested, reference func() (accel.Kernel, error)
}

// chunkBytes is the most counts that are in memory at a time, in bytes; a window may have more.
const chunkBytes = 256 << 20

// measure counts the data by every way, chunk after chunk.
func (o *checker) measure(ctx context.Context, d Data, c *Case, open opener) (err error) {
	c.Events, c.Windows, c.Equal = len(d.X), len(d.Windows), true
	m := measurement{checker: o, Case: c}
	if m.tested, err = open.tested(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.tested.Close()) }()
	if m.reference, err = open.reference(); err != nil {
		return err
	}
	defer m.reference.Close() //nolint:errcheck // the processor has nothing to lose
	window := open.width * open.size
	most := max(chunkBytes/window, 1)
	most = min(most, len(d.Windows))
	want, got := make([]byte, most*window), make([]byte, most*window)
	sum := sha256.New()
	for _, job := range d.jobs(open.bins, most) {
		n := job.Windows * window
		if err := m.chunk(ctx, job, want[:n], got[:n]); err != nil {
			return err
		}
		sum.Write(want[:n])
	}
	c.SHA256 = hex.EncodeToString(sum.Sum(nil))
	for _, s := range c.Stages {
		if s.Name == "clear" || s.Name == "count" || s.Name == "clip" {
			c.Kernel += s.Took
		}
	}
	if o.hardware.Bandwidth > 0 {
		c.Floor = time.Duration(float64(c.Bytes) / o.hardware.Bandwidth * 1e9)
	}
	return nil
}

// A measurement is a case in work.
type measurement struct {
	*checker
	*Case
	tested, reference accel.Kernel
}

// chunk counts one job by every way and compares.
func (m *measurement) chunk(ctx context.Context, job accel.Job, want, got []byte) error {
	took, err := m.best(func() error {
		_, err := m.reference.Scatter(ctx, job, want)
		return err
	})
	if err != nil {
		return err
	}
	m.CPU += took
	took, err = m.best(func() error {
		_, err := m.tested.Scatter(ctx, job, got)
		return err
	})
	if err != nil {
		return err
	}
	m.EndToEnd += took
	m.compare(want, got)
	if err := m.trace(ctx, job, want, got); err != nil {
		return err
	}
	return m.hold(ctx, job, want, got)
}

// compare by sums, so that the report's sum stands for what was compared, and spoils what was.
func (m *measurement) compare(want, got []byte) {
	m.Equal = m.Equal && sha256.Sum256(want) == sha256.Sum256(got)
	clear(got)
	got[0] = ^want[0]
}

// best returns the shortest time of the rounds.
func (m *measurement) best(do func() error) (least time.Duration, err error) {
	for i := range m.Rounds {
		began := time.Now()
		if err := do(); err != nil {
			return 0, err
		}
		if took := time.Since(began); i == 0 || took < least {
			least = took
		}
	}
	return least, nil
}

// trace adds the stages of the round whose stages took least.
func (m *measurement) trace(ctx context.Context, job accel.Job, want, got []byte) error {
	k, ok := m.tested.(accel.Tracer)
	if !ok {
		return nil
	}
	var best []accel.Stage
	least := time.Duration(0)
	for range m.Rounds {
		stages, err := k.Trace(ctx, job, got)
		if err != nil {
			return err
		}
		sum := time.Duration(0)
		for _, s := range stages {
			sum += s.Took
		}
		if best == nil || sum < least {
			best, least = stages, sum
		}
	}
	m.Equal = m.Equal && bytes.Equal(want, got)
	clear(got)
	for _, s := range best {
		m.add(s)
	}
	return nil
}

// add adds to a stage, or appends it.
func (m *measurement) add(s accel.Stage) {
	for i := range m.Stages {
		if m.Stages[i].Name == s.Name {
			m.Stages[i].Took += s.Took
			return
		}
	}
	m.Stages = append(m.Stages, s)
}

// hold leaves the counts on the device, and looks at them there.
func (m *measurement) hold(ctx context.Context, job accel.Job, want, got []byte) error {
	k, ok := m.tested.(accel.Holder)
	if !ok {
		return nil
	}
	took, err := m.best(func() error {
		r, _, err := k.Hold(ctx, job)
		if err != nil {
			return err
		}
		return errors.Join(r.Wait(), r.Close())
	})
	if err != nil {
		return err
	}
	m.Resident += took
	r, _, err := k.Hold(ctx, job)
	if err != nil {
		return err
	}
	if err := errors.Join(r.Read(got), r.Close()); err != nil {
		return err
	}
	m.Equal = m.Equal && bytes.Equal(want, got)
	return nil
}
