package engine_test

import (
	"context"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/evq-project/evq/engine"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/format"
)

// toStore writes a recording to a store, keeping what lies off the sensor.
func toStore(t testing.TB, src event.Source, path string) {
	t.Helper()
	if _, err := engine.Convert(context.Background(), src, path, engine.OnOffSensor(format.Keep)); err != nil {
		t.Fatal(err)
	}
}

func int64At(r arrow.RecordBatch, column, row int) int64 {
	return r.Column(column).(*array.Int64).Value(row)
}

// A rewired source puts something of a test's own in front of each of its streams.
type rewired struct {
	event.Source
	wrap func(event.Stream) event.Stream
}

func (r rewired) Scan(ctx context.Context, want event.Request) (event.Stream, error) {
	s, err := r.Source.Scan(ctx, want)
	if err != nil {
		return nil, err
	}
	return r.wrap(s), nil
}
