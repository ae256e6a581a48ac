package sql

import (
	"context"
	dbsql "database/sql"
	"encoding/json"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// arrowTypes are DuckDB's types as columns of Arrow. What is not listed, such as ENUM, UUID and INTERVAL, is text;
// lists, structs and maps are JSON.
var arrowTypes = map[string]arrow.DataType{
	"BOOLEAN": arrow.FixedWidthTypes.Boolean,
	"TINYINT": arrow.PrimitiveTypes.Int32, "SMALLINT": arrow.PrimitiveTypes.Int32, "INTEGER": arrow.PrimitiveTypes.Int32,
	"UTINYINT": arrow.PrimitiveTypes.Int32, "USMALLINT": arrow.PrimitiveTypes.Int32,
	"UINTEGER": arrow.PrimitiveTypes.Int64, "BIGINT": arrow.PrimitiveTypes.Int64, "UBIGINT": arrow.PrimitiveTypes.Uint64,
	"HUGEINT": &arrow.Decimal128Type{Precision: 38},
	"FLOAT":   arrow.PrimitiveTypes.Float32, "DOUBLE": arrow.PrimitiveTypes.Float64,
	"BLOB": arrow.BinaryTypes.Binary, "VARCHAR": arrow.BinaryTypes.String,
	"TIMESTAMP": &arrow.TimestampType{Unit: arrow.Microsecond}, "TIMESTAMP_S": &arrow.TimestampType{Unit: arrow.Microsecond},
	"TIMESTAMP_MS": &arrow.TimestampType{Unit: arrow.Microsecond}, "TIMESTAMP_NS": &arrow.TimestampType{Unit: arrow.Nanosecond},
	"TIMESTAMPTZ": &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"},
	"DATE":        arrow.FixedWidthTypes.Date32, "TIME": arrow.FixedWidthTypes.Time64us,
}

// arrowType returns the type of a column by DuckDB's name of its type.
func arrowType(name string) (arrow.DataType, error) {
	if t, ok := arrowTypes[name]; ok {
		return t, nil
	}
	switch {
	case strings.HasSuffix(name, "]"), strings.HasPrefix(name, "STRUCT("), strings.HasPrefix(name, "MAP("), strings.HasPrefix(name, "UNION("), name == "JSON":
		return extensions.NewJSONType(arrow.BinaryTypes.String)
	case strings.HasPrefix(name, "DECIMAL("):
		width, scale, _ := strings.Cut(strings.TrimSuffix(name[len("DECIMAL("):], ")"), ",")
		w, err1 := strconv.Atoi(strings.TrimSpace(width))
		s, err2 := strconv.Atoi(strings.TrimSpace(scale))
		if err1 == nil && err2 == nil {
			return &arrow.Decimal128Type{Precision: int32(w), Scale: int32(s)}, nil
		}
	}
	return arrow.BinaryTypes.String, nil
}

// schemaOf returns the columns of rows.
func schemaOf(rows *dbsql.Rows) (*arrow.Schema, error) {
	columns, err := rows.ColumnTypes()
	if err != nil {
		return nil, err
	}
	fields := make([]arrow.Field, len(columns))
	for i, c := range columns {
		t, err := arrowType(c.DatabaseTypeName())
		if err != nil {
			return nil, err
		}
		fields[i] = arrow.Field{Name: c.Name(), Type: t, Nullable: true}
	}
	return arrow.NewSchema(fields, nil), nil
}

// records calls do with the rows as records, each valid until do returns.
func records(ctx context.Context, rows *dbsql.Rows, schema *arrow.Schema, do func(arrow.RecordBatch) error) error {
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	values, to := make([]any, len(schema.Fields())), make([]any, len(schema.Fields()))
	for i := range values {
		to[i] = &values[i]
	}
	n, bytes := 0, 0
	flush := func() error {
		if n == 0 {
			return nil
		}
		rec := b.NewRecordBatch()
		defer rec.Release()
		n, bytes = 0, 0
		return do(rec)
	}
	for rows.Next() {
		if err := rows.Scan(to...); err != nil {
			return err
		}
		for i, v := range values {
			size, err := appendValue(b.Field(i), v)
			if err != nil {
				return fmt.Errorf("sql: column %s: %w", schema.Field(i).Name, err)
			}
			bytes += size
		}
		if n++; n == rowsAtOnce || bytes >= bytesAtOnce {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return flush()
}

// appendValue adds a value of the driver to a column; size is roughly how many bytes it has beside a few.
func appendValue(b array.Builder, v any) (size int, err error) {
	if v == nil {
		b.AppendNull()
		return 0, nil
	}
	switch b := b.(type) {
	case *array.Int32Builder:
		n, err := integerOf(v)
		b.Append(int32(n))
		return 0, err
	case *array.Int64Builder:
		n, err := integerOf(v)
		b.Append(n)
		return 0, err
	case *array.BinaryBuilder:
		blob, ok := v.([]byte)
		b.Append(blob)
		return len(blob), known(ok, v)
	case *array.StringBuilder:
		text := textOf(v)
		b.Append(text)
		return len(text), nil
	case *array.ExtensionBuilder:
		text, err := json.Marshal(jsonOf(v))
		b.Builder.(*array.StringBuilder).Append(string(text))
		return len(text), err
	}
	return 0, appendOther(b, v)
}

func appendOther(b array.Builder, v any) error {
	ok := false
	switch b := b.(type) {
	case *array.BooleanBuilder:
		var x bool
		x, ok = v.(bool)
		b.Append(x)
	case *array.Uint64Builder:
		var x uint64
		x, ok = v.(uint64)
		b.Append(x)
	case *array.Float32Builder:
		var x float32
		x, ok = v.(float32)
		b.Append(x)
	case *array.Float64Builder:
		var x float64
		x, ok = v.(float64)
		b.Append(x)
	case *array.Decimal128Builder:
		t := b.Type().(*arrow.Decimal128Type)
		d, err := decimalOf(v, t)
		b.Append(d)
		return err
	case *array.TimestampBuilder:
		var x time.Time
		if x, ok = v.(time.Time); ok {
			n := x.UnixMicro()
			if b.Type().(*arrow.TimestampType).Unit == arrow.Nanosecond {
				n = x.UnixNano()
			}
			b.Append(arrow.Timestamp(n))
		}
	case *array.Date32Builder:
		var x time.Time
		x, ok = v.(time.Time)
		b.Append(arrow.Date32FromTime(x))
	case *array.Time64Builder:
		var x time.Time
		x, ok = v.(time.Time)
		b.Append(arrow.Time64(x.Sub(time.Date(x.Year(), x.Month(), x.Day(), 0, 0, 0, 0, x.Location())).Microseconds()))
	}
	return known(ok, v)
}

func known(ok bool, v any) error {
	if ok {
		return nil
	}
	return fmt.Errorf("a value of type %T was not expected; convert it with ::VARCHAR", v)
}

func integerOf(v any) (int64, error) {
	switch x := v.(type) {
	case int64:
		return x, nil
	case int32:
		return int64(x), nil
	case int16:
		return int64(x), nil
	case int8:
		return int64(x), nil
	case uint32:
		return int64(x), nil
	case uint16:
		return int64(x), nil
	case uint8:
		return int64(x), nil
	}
	return 0, known(false, v)
}

// decimalOf reads a HUGEINT or a DECIMAL.
func decimalOf(v any, t *arrow.Decimal128Type) (decimal128.Num, error) {
	if x, ok := v.(*big.Int); ok {
		if x.BitLen() > 126 {
			return decimal128.Num{}, fmt.Errorf("%v has more than 38 digits; convert it with ::DOUBLE", x)
		}
		return decimal128.FromBigInt(x), nil
	}
	return decimal128.FromString(textOf(v), t.Precision, t.Scale)
}

// textOf writes a value as DuckDB does.
func textOf(v any) string {
	switch x := plainOf(v).(type) {
	case string:
		return x
	case []byte:
		if len(x) == 16 { // a UUID
			return fmt.Sprintf("%x-%x-%x-%x-%x", x[:4], x[4:6], x[6:8], x[8:10], x[10:])
		}
		return string(x)
	case time.Time:
		return x.Format("2006-01-02 15:04:05.999999999")
	case nil:
		return ""
	case []any, map[string]any:
		text, err := json.Marshal(jsonOf(x))
		if err != nil {
			return fmt.Sprint(x)
		}
		return string(text)
	default:
		return fmt.Sprint(x)
	}
}

// jsonOf makes a value one that encoding/json writes: BLOBs as base64, what JSON has no number for as text.
func jsonOf(v any) any {
	switch x := plainOf(v).(type) {
	case []any:
		out := make([]any, len(x))
		for i, one := range x {
			out[i] = jsonOf(one)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(x))
		for k, one := range x {
			out[k] = jsonOf(one)
		}
		return out
	case float64:
		if x != x || x-x != 0 {
			return nil
		}
		return x
	case float32:
		if x != x || x-x != 0 {
			return nil
		}
		return x
	default:
		return x
	}
}
