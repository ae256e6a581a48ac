package exec

import (
	"context"
	"fmt"

	"github.com/evq-project/evq/exprs"
	"github.com/evq-project/evq/io/event"
)

// Map moves events. Those that leave the new sensor are dropped.
type Map struct {
	In   EventOp
	Name fmt.Stringer // what it does, as users write it
	By   exprs.Projection

	pool    *event.Pool
	dropped int64
}

func (m *Map) String() string {
	s := m.Name.String()
	if m.By.Geometry.Known() {
		s += fmt.Sprintf(", to %v", m.By.Geometry)
	}
	return s
}

// Input implements Operator.
func (m *Map) Input() Operator { return m.In }

// Close implements Operator.
func (m *Map) Close() error { return m.In.Close() }

// Dropped returns how many events left the sensor so far.
func (m *Map) Dropped() int64 { return m.dropped }

// Next returns the moved events of the next batch that has any.
func (m *Map) Next(ctx context.Context) (event.Batch, error) {
	for {
		b, err := m.In.Next(ctx)
		if err != nil {
			return event.Batch{}, err
		}
		if m.pool == nil {
			m.pool = event.NewPool(b.Len())
		}
		to := m.pool.Get()
		m.dropped += int64(m.By.Apply(b, to))
		b.Release()
		if to.Len() > 0 {
			return to.Batch(), nil
		}
		to.Release()
	}
}
