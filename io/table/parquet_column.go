package table

import (
	"encoding/binary"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

// decimalBytes is how many bytes a decimal has, the most significant first.
const decimalBytes = 16

// parquetField returns the column that values of a field are written to. Every column may hold nulls.
func parquetField(f arrow.Field) (schema.Node, error) {
	var physical parquet.Type
	logical, length := schema.LogicalType(schema.NoLogicalType{}), -1
	switch t := f.Type.(type) {
	case *arrow.BooleanType:
		physical = parquet.Types.Boolean
	case *arrow.Int32Type:
		physical = parquet.Types.Int32
	case *arrow.Date32Type:
		physical, logical = parquet.Types.Int32, schema.DateLogicalType{}
	case *arrow.Int64Type:
		physical = parquet.Types.Int64
	case *arrow.Uint64Type:
		physical, logical = parquet.Types.Int64, schema.NewIntLogicalType(64, false)
	case *arrow.Float32Type:
		physical = parquet.Types.Float
	case *arrow.Float64Type:
		physical = parquet.Types.Double
	case *arrow.StringType:
		physical, logical = parquet.Types.ByteArray, schema.StringLogicalType{}
	case *extensions.JSONType:
		physical, logical = parquet.Types.ByteArray, schema.JSONLogicalType{}
	case *arrow.BinaryType:
		physical = parquet.Types.ByteArray
	case *arrow.TimestampType:
		physical, logical = parquet.Types.Int64, schema.NewTimestampLogicalType(t.TimeZone != "", parquetUnit(t.Unit))
	case *arrow.Time64Type:
		physical, logical = parquet.Types.Int64, schema.NewTimeLogicalType(false, parquetUnit(t.Unit))
	case *arrow.Decimal128Type:
		physical, logical, length = parquet.Types.FixedLenByteArray, schema.NewDecimalLogicalType(t.Precision, t.Scale), decimalBytes
	default:
		return nil, fmt.Errorf("%w: column %s is of %v; convert it to text or a number", ErrFormat, f.Name, f.Type)
	}
	return schema.NewPrimitiveNodeLogical(f.Name, parquet.Repetitions.Optional, logical, physical, length, -1)
}

// parquetUnit is the unit of a time; seconds, which Parquet lacks, are written as milliseconds by nobody here.
func parquetUnit(u arrow.TimeUnit) schema.TimeUnitType {
	switch u {
	case arrow.Nanosecond:
		return schema.TimeUnitNanos
	case arrow.Microsecond:
		return schema.TimeUnitMicros
	}
	return schema.TimeUnitMillis
}

// writeColumn appends the values of a column, those that are there.
func writeColumn(w file.ColumnChunkWriter, c arrow.Array) error {
	levels := make([]int16, c.Len())
	for i := range levels {
		if c.IsValid(i) {
			levels[i] = 1
		}
	}
	var err error
	switch w := w.(type) {
	case *file.BooleanColumnChunkWriter:
		_, err = w.WriteBatch(values(c, c.(*array.Boolean).Value), levels, nil)
	case *file.Int32ColumnChunkWriter:
		_, err = w.WriteBatch(values(c, int32At(c)), levels, nil)
	case *file.Int64ColumnChunkWriter:
		_, err = w.WriteBatch(values(c, int64At(c)), levels, nil)
	case *file.Float32ColumnChunkWriter:
		_, err = w.WriteBatch(values(c, c.(*array.Float32).Value), levels, nil)
	case *file.Float64ColumnChunkWriter:
		_, err = w.WriteBatch(values(c, c.(*array.Float64).Value), levels, nil)
	case *file.ByteArrayColumnChunkWriter:
		_, err = w.WriteBatch(values(c, bytesAt(c)), levels, nil)
	case *file.FixedLenByteArrayColumnChunkWriter:
		_, err = w.WriteBatch(values(c, decimalAt(c.(*array.Decimal128))), levels, nil)
	}
	return err
}

// The functions below read value i of a column as Parquet stores it; parquetField has let no other types through.

func int32At(c arrow.Array) func(int) int32 {
	if c, ok := c.(*array.Date32); ok {
		return func(i int) int32 { return int32(c.Value(i)) }
	}
	return c.(*array.Int32).Value
}

func int64At(c arrow.Array) func(int) int64 {
	switch c := c.(type) {
	case *array.Uint64:
		return func(i int) int64 { return int64(c.Value(i)) }
	case *array.Timestamp:
		return func(i int) int64 { return int64(c.Value(i)) }
	case *array.Time64:
		return func(i int) int64 { return int64(c.Value(i)) }
	}
	return c.(*array.Int64).Value
}

func bytesAt(c arrow.Array) func(int) parquet.ByteArray {
	switch c := c.(type) {
	case *array.Binary:
		return func(i int) parquet.ByteArray { return c.Value(i) }
	case *extensions.JSONArray:
		return func(i int) parquet.ByteArray { return parquet.ByteArray(c.ValueJSON(i)) }
	}
	text := c.(*array.String)
	return func(i int) parquet.ByteArray { return parquet.ByteArray(text.Value(i)) }
}

func decimalAt(c *array.Decimal128) func(int) parquet.FixedLenByteArray {
	return func(i int) parquet.FixedLenByteArray {
		v, b := c.Value(i), make([]byte, decimalBytes)
		binary.BigEndian.PutUint64(b, uint64(v.HighBits()))
		binary.BigEndian.PutUint64(b[8:], v.LowBits())
		return b
	}
}

func values[T any](c arrow.Array, at func(int) T) []T {
	out := make([]T, 0, c.Len())
	for i := range c.Len() {
		if c.IsValid(i) {
			out = append(out, at(i))
		}
	}
	return out
}
