package exec

import "github.com/evq-project/evq/io/event"

// A Stream is a scan that has begun, as an operator. Unlike Scan it reads where it is asked to, on the goroutine that
// asks, so that triggers come in step with the events.
type Stream struct{ event.Stream }

func (Stream) String() string { return "stream" }

// Input implements Operator: a stream reads no operator.
func (Stream) Input() Operator { return nil }
