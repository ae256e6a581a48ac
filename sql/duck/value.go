//go:build duckdb

package duck

import (
	"fmt"

	"github.com/duckdb/duckdb-go/v2/mapping"
)

// valueOf converts a value of a call.
func valueOf(v mapping.Value) (any, error) {
	if v.Ptr == nil || mapping.IsNullValue(v) {
		return nil, nil
	}
	t := mapping.GetValueType(v) // belongs to the value: not to be destroyed
	switch id := mapping.GetTypeId(t); id {
	case mapping.TypeBoolean:
		return mapping.GetBool(v), nil
	case mapping.TypeTinyInt, mapping.TypeSmallInt, mapping.TypeInteger, mapping.TypeBigInt, mapping.TypeUTinyInt, mapping.TypeUSmallInt, mapping.TypeUInteger:
		return mapping.GetInt64(v), nil
	case mapping.TypeUBigInt, mapping.TypeHugeInt, mapping.TypeFloat, mapping.TypeDouble, mapping.TypeDecimal:
		return mapping.GetDouble(v), nil
	case mapping.TypeVarchar:
		return mapping.GetVarchar(v), nil
	case mapping.TypeList:
		return listOf(v)
	case mapping.TypeStruct:
		return structOf(v, t)
	default:
		return nil, fmt.Errorf("a value of type %d cannot be an argument; use a number, a word, a list or a struct", id)
	}
}

func listOf(v mapping.Value) ([]any, error) {
	out := make([]any, mapping.GetListSize(v))
	for i := range out {
		child := mapping.GetListChild(v, mapping.IdxT(i))
		var err error
		out[i], err = valueOf(child)
		mapping.DestroyValue(&child)
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

func structOf(v mapping.Value, t mapping.LogicalType) (Struct, error) {
	out := make(Struct, mapping.StructTypeChildCount(t))
	for i := range out {
		child := mapping.GetStructChild(v, mapping.IdxT(i))
		value, err := valueOf(child)
		mapping.DestroyValue(&child)
		if err != nil {
			return nil, err
		}
		out[i] = Field{mapping.StructTypeChildName(t, mapping.IdxT(i)), value}
	}
	return out, nil
}
