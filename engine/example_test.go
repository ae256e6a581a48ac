package engine_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/evq-project/evq/engine"
	"github.com/evq-project/evq/exprs"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/npy"
	"github.com/evq-project/evq/io/synth"
	"github.com/evq-project/evq/udf/stackedhist"
)

// A recording of any format becomes RVT's stacked histogram in ten lines.
func Example() {
	dir, path := demoRecording()
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary folder

	rec, err := engine.Open(path, engine.OnUnsorted("clamp"), engine.OnOffSensor("keep")) // any format, or a store
	if err != nil {
		log.Fatal(err)
	}
	q := rec.Frame().
		Filter(exprs.X.Lt(640), exprs.P.Eq(1)).      // predicates over one event
		Window(engine.Every(50 * time.Millisecond)). // or engine.Ends(grid, 50*time.Millisecond): RVT's windows
		StackedHistogram(stackedhist.LikeRVT())      // bins 10, cutoff 10, downsample 2, overflow wrap
	err = q.WriteTo(context.Background(), npy.Create(filepath.Join(dir, "rep.npy"))) // or hdf5.Create("rep.h5")
	if err != nil {
		log.Fatal(err)
	}

	layouts, err := q.Layouts()
	if err != nil {
		log.Fatal(err)
	}
	for _, l := range layouts {
		fmt.Println(l.Name, l.Shape, l.DType)
	}
	// Output: stacked_histogram (20, 360, 640) uint8
}

// StackedHistogram is short for binning, grouping and laying out, and both are run in the same way.
func ExampleGrouped_Dense() {
	scene, err := synth.New(synth.Options{Events: 20000, Duration: 20 * time.Millisecond, Size: event.Geometry{Width: 64, Height: 48}})
	if err != nil {
		log.Fatal(err)
	}
	windows := engine.Scan(scene).Window(engine.Every(10 * time.Millisecond))
	short, err := windows.StackedHistogram(stackedhist.Bins(5), stackedhist.Cutoff(20)).Collect(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	long, err := windows.Bin(5).Group(exprs.P, exprs.Y, exprs.X).Dense(engine.Cutoff(20)).Collect(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	same := len(short) == len(long)
	for i := range short {
		same = same && string(short[i].Data) == string(long[i].Data)
	}
	fmt.Println(len(short) > 0, same)
	// Output: true true
}

// demoRecording writes a small EVT3 recording.
func demoRecording() (dir, path string) {
	dir, err := os.MkdirTemp("", "evq")
	if err != nil {
		log.Fatal(err)
	}
	path = filepath.Join(dir, "drive.raw")
	scene, err := synth.New(synth.Options{Events: 200000, Duration: 200 * time.Millisecond, Size: event.Geometry{Width: 1280, Height: 720}})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := engine.Convert(context.Background(), scene, path); err != nil {
		log.Fatal(err)
	}
	return dir, path
}
