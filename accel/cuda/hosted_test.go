package cuda

import (
	"fmt"
	"testing"

	"github.com/evq-project/evq/accel/acceltest"
	"github.com/evq-project/evq/accel/acceltest/hosted"
	"github.com/evq-project/evq/accel/scatter"
)

// The kernel's source, compiled for the processor, counts what every device counts: on one thread of the system and on
// eight at once, with blocks of any size and batches of all windows or of one.
func TestSourceOnTheProcessor(t *testing.T) {
	library := hosted.Compile(t, t.TempDir(), []string{"-std=c++17", "-Wall", "-Werror", "-I", "kernel", "-I", "../scatter/kernel"}, "kernel/host.cpp")
	for _, d := range []hosted.Device{
		{Threads: 256, Workers: 1, Limit: scatter.Limit{Counts: 1 << 30, Events: 1 << 30}},
		{Threads: 3, Workers: 8, Limit: scatter.Limit{Counts: 1, Events: 1}},
	} {
		t.Run(fmt.Sprintf("%d workers", d.Workers), func(t *testing.T) {
			d := hosted.Open(t, library, d)
			acceltest.Run(t, d)
			t.Run("tables", func(t *testing.T) { acceltest.RunTables(t, d) })
		})
	}
}
