package metal

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/evq-project/evq/accel"
	"github.com/evq-project/evq/accel/acceltest"
	"github.com/evq-project/evq/accel/acceltest/hosted"
	"github.com/evq-project/evq/accel/scatter"
)

// On a Mac the device counts what every device counts.
func TestConformance(t *testing.T) {
	acceltest.Run(t, Device)
	acceltest.RunTables(t, Device.(accel.Tabler))
}

// The text that Metal gets, compiled for the processor, counts what every device counts.
func TestSourceOnTheProcessor(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(dir, "source.metal")
	if err := os.WriteFile(source, []byte(Source()), 0o644); err != nil {
		t.Fatal(err)
	}
	library := hosted.Compile(t, dir, []string{"-std=c++17", "-Wall", "-Wno-attributes", "-I", "testdata/include",
		fmt.Sprintf("-DSOURCE=%q", source)}, "testdata/host.cpp")
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
