package parquet

import (
	"bytes"
	"encoding/base64"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
)

// keyArrow is the key under which Arrow's libraries keep the schema that a file was written from.
const keyArrow = "ARROW:schema"

// durationSchema is the value of keyArrow that makes t a duration in microseconds. Parquet itself has no such type: to
// readers that do not know the key, t stays the integer that it is.
func durationSchema() (string, error) {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "t", Type: arrow.FixedWidthTypes.Duration_us},
		{Name: "x", Type: arrow.PrimitiveTypes.Int32}, {Name: "y", Type: arrow.PrimitiveTypes.Int32}, {Name: "p", Type: arrow.PrimitiveTypes.Int32},
	}, nil)
	var b bytes.Buffer
	if err := ipc.NewWriter(&b, ipc.WithSchema(schema)).Close(); err != nil { // a stream without batches
		return "", err
	}
	return base64.StdEncoding.EncodeToString(b.Bytes()), nil
}
