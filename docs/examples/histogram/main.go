// Command histogram turns a recording into RVT's stacked histogram with the Go library.
//
//	go run -tags hdf5 ./docs/examples/histogram demo/drive.raw demo/rep.h5
package main

import (
	"context"
	"log"
	"os"
	"time"

	"github.com/evq-project/evq/engine"
	"github.com/evq-project/evq/exprs"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/hdf5"
	"github.com/evq-project/evq/udf/stackedhist"
)

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: histogram RECORDING OUT.h5")
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		log.Fatal(err)
	}
}

func run(in, out string) error {
	rec, err := engine.Open(in, engine.OnUnsorted(format.Clamp), engine.OnOffSensor(format.Keep))
	if err != nil {
		return err
	}
	defer rec.Close() //nolint:errcheck // only read
	q := rec.Frame().
		Filter(exprs.X.Lt(1000)).
		Window(engine.Every(50 * time.Millisecond)).
		StackedHistogram(stackedhist.LikeRVT()) // bins 10, cutoff 10, downsample 2, counts wrap at 256
	return q.WriteTo(context.Background(), hdf5.Create(out, hdf5.Force()))
}
