package exec

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/evq-project/evq/udf"
)

// Schema returns the Arrow schema of a table.
func Schema(fields []Field) *arrow.Schema {
	out := make([]arrow.Field, len(fields))
	for i, f := range fields {
		out[i] = arrow.Field{Name: f.Name, Type: arrow.PrimitiveTypes.Int64, Nullable: true}
		if f.Float {
			out[i].Type = arrow.PrimitiveTypes.Float64
		}
	}
	return arrow.NewSchema(out, nil)
}

// Record returns rows as an Arrow record, which the caller releases.
func Record(schema *arrow.Schema, r Rows) arrow.RecordBatch {
	cols := make([]arrow.Array, len(r.Cols))
	for i, c := range r.Cols {
		cols[i] = arrowColumn(c)
	}
	out := array.NewRecordBatch(schema, cols, int64(r.N))
	for _, c := range cols {
		c.Release()
	}
	return out
}

func arrowColumn(c udf.Column) arrow.Array {
	var valid []bool
	if c.Nulls != nil {
		valid = make([]bool, len(c.Nulls))
		for i, n := range c.Nulls {
			valid[i] = !n
		}
	}
	if c.Floats != nil {
		b := array.NewFloat64Builder(memory.DefaultAllocator)
		defer b.Release()
		b.AppendValues(c.Floats, valid)
		return b.NewArray()
	}
	b := array.NewInt64Builder(memory.DefaultAllocator)
	defer b.Release()
	b.AppendValues(c.Ints, valid)
	return b.NewArray()
}
