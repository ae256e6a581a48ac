package engine_test

import (
	"context"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/evq-project/evq/io/convert"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/parquet"
)

// toStore writes a recording to a store, keeping what lies off the sensor.
func toStore(t testing.TB, src event.Source, path string) {
	t.Helper()
	create := func() (event.Sink, error) {
		return parquet.Create(path, format.Header{Geometry: src.Geometry()}, format.CreateOptions{})
	}
	if _, err := convert.Run(context.Background(), src, create, convert.Options{OffSensorGiven: true}); err != nil {
		t.Fatal(err)
	}
}

func int64At(r arrow.RecordBatch, column, row int) int64 {
	return r.Column(column).(*array.Int64).Value(row)
}
