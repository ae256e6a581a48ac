package engine_test

import (
	"context"
	"strings"
	"testing"

	"github.com/evq-project/evq/engine"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/udf/stackedhist"
)

// Blocks are made in the memory that a query may hold: fewer at a time where they are large, none where one is
// too large, whatever sensor the recording declares.
func TestBlocksFitIntoMemory(t *testing.T) {
	query := func(width, height int) engine.Tensors {
		g := event.Geometry{Width: width, Height: height}
		return engine.Scan(eventtest.Source(eventtest.Recording(6, 10, small), g, 300)).
			Window(engine.WholeRecording()).StackedHistogram(stackedhist.Bins(10))
	}
	for _, c := range []struct {
		width, height int
		want          string
	}{{1000, 60, "64 at a time"}, {1000, 1000, "4 at a time"}, {4000, 2000, "1 at a time"}} {
		text, err := query(c.width, c.height).Explain(engine.Threads(64), engine.Memory(512<<20))
		if err != nil || !strings.Contains(text, c.want) {
			t.Errorf("%dx%d: %v, want %q in\n%s", c.width, c.height, err, c.want, text)
		}
	}
	for _, rules := range [][]engine.Option{nil, {engine.Rules()}} {
		_, err := query(1<<16, 1<<16).Collect(context.Background(), rules...)
		if err == nil || !strings.Contains(err.Error(), "--memory") {
			t.Errorf("a block of 80 GiB: %v", err)
		}
	}
}
