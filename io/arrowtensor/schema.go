package arrowtensor

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/evq-project/evq/io/tensor"
)

// window is the column of the window's number.
const window = "window"

// The metadata of a column of blocks, beside that of the extension type.
const (
	keyRepresentation = "representation" // the layout's name
	keyShape          = "shape"          // such as [20,360,640]
	keyDType          = "dtype"          // such as uint8
	tensorType        = "arrow.fixed_shape_tensor"
)

// elementTypes are Arrow's types of elements.
var elementTypes = map[tensor.DType]arrow.DataType{
	tensor.Uint8: arrow.PrimitiveTypes.Uint8, tensor.Int8: arrow.PrimitiveTypes.Int8,
	tensor.Uint32: arrow.PrimitiveTypes.Uint32, tensor.Int32: arrow.PrimitiveTypes.Int32,
	tensor.Int64: arrow.PrimitiveTypes.Int64, tensor.Float32: arrow.PrimitiveTypes.Float32,
}

// schemaOf is the schema of windows with a block of each layout.
func schemaOf(layouts []tensor.Layout) (*arrow.Schema, error) {
	var fields []arrow.Field
	for _, name := range []string{window, tensor.WindowStart, tensor.WindowEnd, tensor.WindowEvents} {
		fields = append(fields, arrow.Field{Name: name, Type: arrow.PrimitiveTypes.Int64})
	}
	for i, name := range tensor.Names(layouts) {
		l := layouts[i]
		if l.Shape.Len() > math.MaxInt32 {
			return nil, fmt.Errorf("blocks of %v elements fit into no list (up to 2^31-1); choose another shape", l.Shape)
		}
		shape, err := json.Marshal(append(tensor.Shape{}, l.Shape...)) // never null
		if err != nil {
			return nil, err
		}
		meta := arrow.MetadataFrom(map[string]string{
			ipc.ExtensionTypeKeyName: tensorType, ipc.ExtensionMetadataKeyName: `{"shape":` + string(shape) + `}`,
			keyRepresentation: l.Name, keyShape: string(shape), keyDType: l.DType.String(),
		})
		fields = append(fields, arrow.Field{Name: name, Type: listOf(l), Metadata: meta})
	}
	return arrow.NewSchema(fields, nil), nil
}

func listOf(l tensor.Layout) arrow.DataType {
	return arrow.FixedSizeListOf(int32(l.Shape.Len()), elementTypes[l.DType])
}

// record is the batch of a whole window. Its columns are the memory of the blocks.
func (s *sink) record() arrow.RecordBatch {
	first := s.blocks[0]
	columns := make([]arrow.Array, 0, s.schema.NumFields())
	for _, v := range []int64{int64(first.Index), first.Start, first.End, first.Events} {
		raw := binary.LittleEndian.AppendUint64(nil, uint64(v))
		columns = append(columns, array.MakeFromData(values(arrow.PrimitiveTypes.Int64, 1, raw)))
	}
	for _, b := range s.blocks {
		list := s.schema.Field(len(columns)).Type.(*arrow.FixedSizeListType)
		elements := values(list.Elem(), int(list.Len()), b.Data)
		data := array.NewData(list, 1, []*memory.Buffer{nil}, []arrow.ArrayData{elements}, 0, 0)
		columns = append(columns, array.MakeFromData(data))
	}
	return array.NewRecordBatch(s.schema, columns, 1)
}

// values is an array of n numbers without a copy.
func values(t arrow.DataType, n int, raw []byte) arrow.ArrayData {
	return array.NewData(t, n, []*memory.Buffer{nil, memory.NewBufferBytes(raw)}, nil, 0, 0)
}
