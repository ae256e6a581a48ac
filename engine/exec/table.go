package exec

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// A TableBuilder collects groups as one Arrow record: window, start and end, bin where there is one, the
// keys, and the count, all int64. The caller of Record releases the record.
type TableBuilder struct {
	cols  []*array.Int64Builder
	names []string
	keys  int
	bins  bool
}

// NewTableBuilder makes a builder for groups by the named keys.
func NewTableBuilder(keys []string, bins bool) *TableBuilder {
	names := []string{"window", "window_start", "window_end"}
	if bins {
		names = append(names, "bin")
	}
	names = append(append(names, keys...), "count")
	t := &TableBuilder{names: names, keys: len(keys), bins: bins}
	for range names {
		t.cols = append(t.cols, array.NewInt64Builder(memory.DefaultAllocator))
	}
	return t
}

// Append adds the rows of one window.
func (t *TableBuilder) Append(g Groups) {
	for i, n := range g.Counts {
		row := []int64{int64(g.Window.Index), g.Window.Start, g.Window.End}
		if t.bins {
			row = append(row, int64(g.Bins[i]))
		}
		for _, k := range g.Keys {
			row = append(row, k[i])
		}
		row = append(row, n)
		for c, v := range row {
			t.cols[c].Append(v)
		}
	}
}

// Record returns what was appended.
func (t *TableBuilder) Record() arrow.RecordBatch {
	fields := make([]arrow.Field, len(t.names))
	cols := make([]arrow.Array, len(t.names))
	for i, name := range t.names {
		fields[i] = arrow.Field{Name: name, Type: arrow.PrimitiveTypes.Int64}
		cols[i] = t.cols[i].NewArray()
	}
	n := int64(cols[0].Len())
	return array.NewRecordBatch(arrow.NewSchema(fields, nil), cols, n)
}
