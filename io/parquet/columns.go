package parquet

import (
	"fmt"
	"strings"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

// The event columns, in the order of the arrays that are indexed by them.
const (
	colT = iota
	colX
	colY
	colP
	numColumns
)

var columnNames = [numColumns]string{"t", "x", "y", "p"}

// columns say where a file keeps the event columns: the index of each. Stores of evq have them in order;
// other files may have them anywhere, in other integer types, and other columns between them.
type columns struct {
	at       [numColumns]int
	unsigned bool // t is unsigned: values of the upper half do not fit into int64
}

// findColumns looks for the event columns in a schema.
func findColumns(s *schema.Schema) (columns, error) {
	c := columns{at: [numColumns]int{-1, -1, -1, -1}}
	var seen []string
	for i := range s.NumColumns() {
		path := s.Column(i).Path()
		seen = append(seen, path)
		for k, name := range columnNames {
			if path == name {
				c.at[k] = i
			}
		}
	}
	for k, i := range c.at {
		if i < 0 {
			return c, fmt.Errorf("parquet: no column %s; the file has %s; rename its columns to t, x, y, p",
				columnNames[k], strings.Join(seen, ", "))
		}
		if err := checkColumn(k, s.Column(i)); err != nil {
			return c, err
		}
	}
	if l, ok := s.Column(c.at[colT]).LogicalType().(schema.IntLogicalType); ok {
		c.unsigned = !l.IsSigned()
	}
	return c, nil
}

// checkColumn refuses types that cannot hold the column k, or that mean something else than plain numbers.
func checkColumn(k int, c *schema.Column) error {
	typ, logical := c.PhysicalType(), c.LogicalType()
	plain := logical.IsNone() || !logical.IsValid()
	if _, isInt := logical.(schema.IntLogicalType); isInt {
		plain = true
	}
	ok := false
	switch k {
	case colT:
		stamp, isStamp := logical.(schema.TimestampLogicalType)
		ok = typ == parquet.Types.Int64 && (plain || isStamp && stamp.TimeUnit() == schema.TimeUnitMicros)
	case colP:
		ok = typ == parquet.Types.Boolean || plain && (typ == parquet.Types.Int32 || typ == parquet.Types.Int64)
	default:
		ok = plain && (typ == parquet.Types.Int32 || typ == parquet.Types.Int64)
	}
	if ok && c.MaxRepetitionLevel() == 0 {
		return nil
	}
	want := "integers"
	if k == colT {
		want = "64-bit integers or timestamps in microseconds"
	}
	return fmt.Errorf("parquet: column %s has type %s %s; make it %s", c.Name(), typ, logical, want)
}
