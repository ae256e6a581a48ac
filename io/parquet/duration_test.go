package parquet

import (
	"bytes"
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/parquet/file"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/formattest"
)

// A store of durations says so to Arrow's readers, and is the same store to all others.
func TestDuration(t *testing.T) {
	g := event.Geometry{Width: 64, Height: 48}
	want := eventtest.Recording(3, 5000, g)
	for _, timeType := range []string{"", format.TimeInt64, format.TimeDuration} {
		path := filepath.Join(t.TempDir(), "a.parquet")
		s, err := Create(path, format.Header{Geometry: g}, format.CreateOptions{TimeType: timeType})
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(s.Write(t.Context(), want), s.Close()); err != nil {
			t.Fatal(err)
		}
		src := formattest.OpenPath(t, Format, path, format.Policy{})
		if d := eventtest.Diff(eventtest.Drain(t, src, event.All), want); d != "" || len(src.Info().Fields) > 0 {
			t.Errorf("%q: %s; fields %v", timeType, d, src.Info().Fields)
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		r, err := file.NewParquetReader(bytes.NewReader(raw))
		if err != nil {
			t.Fatal(err)
		}
		said := r.MetaData().KeyValueMetadata().FindValue(keyArrow)
		if (said != nil) != (timeType == format.TimeDuration) {
			t.Fatalf("%q: %v", timeType, said)
		}
		if said == nil {
			continue
		}
		b, err := base64.StdEncoding.DecodeString(*said)
		if err != nil {
			t.Fatal(err)
		}
		stream, err := ipc.NewReader(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		if f := stream.Schema().Field(0); f.Name != "t" || !arrow.TypeEqual(f.Type, arrow.FixedWidthTypes.Duration_us) || stream.Schema().NumFields() != 4 {
			t.Errorf("the schema is %v", stream.Schema())
		}
	}
}
