package table

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
)

// allTypes is a record with a column of every type: a row of values, and one of nulls.
func allTypes(t *testing.T) arrow.RecordBatch {
	t.Helper()
	j, err := extensions.NewJSONType(arrow.BinaryTypes.String)
	if err != nil {
		t.Fatal(err)
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{
		{Name: "bool", Type: arrow.FixedWidthTypes.Boolean},
		{Name: "int32", Type: arrow.PrimitiveTypes.Int32},
		{Name: "uint64", Type: arrow.PrimitiveTypes.Uint64},
		{Name: "float32", Type: arrow.PrimitiveTypes.Float32},
		{Name: "decimal", Type: &arrow.Decimal128Type{Precision: 38, Scale: 2}},
		{Name: "blob", Type: arrow.BinaryTypes.Binary},
		{Name: "time", Type: &arrow.TimestampType{Unit: arrow.Microsecond}},
		{Name: "day", Type: arrow.FixedWidthTypes.Date32},
		{Name: "clock", Type: arrow.FixedWidthTypes.Time64us},
		{Name: "list", Type: j},
	}, nil))
	b.Field(0).(*array.BooleanBuilder).Append(true)
	b.Field(1).(*array.Int32Builder).Append(-7)
	b.Field(2).(*array.Uint64Builder).Append(1<<64 - 1)
	b.Field(3).(*array.Float32Builder).Append(0.1)
	b.Field(4).(*array.Decimal128Builder).Append(decimal128.FromI64(-12345))
	b.Field(5).(*array.BinaryBuilder).Append([]byte{0, 255, 10})
	b.Field(6).(*array.TimestampBuilder).Append(1_500_000)
	b.Field(7).(*array.Date32Builder).Append(1)
	b.Field(8).(*array.Time64Builder).Append(3_600_000_000)
	b.Field(9).(*array.ExtensionBuilder).Builder.(*array.StringBuilder).Append(`[1, {"a": "b"}]`)
	for _, f := range b.Fields() {
		f.AppendNull()
	}
	r := b.NewRecordBatch()
	t.Cleanup(r.Release)
	return r
}

func TestTypesAsText(t *testing.T) {
	for format, want := range map[string]string{
		"csv": "bool,int32,uint64,float32,decimal,blob,time,day,clock,list\n" +
			`true,-7,18446744073709551615,0.1,-123.45,AP8K,1970-01-01T00:00:01.5,1970-01-02,01:00:00.000000,"[1, {""a"": ""b""}]"` + "\n,,,,,,,,,\n",
		"jsonl": `{"bool":true,"int32":-7,"uint64":18446744073709551615,"float32":0.1,"decimal":-123.45,"blob":"AP8K","time":"1970-01-01T00:00:01.5",` +
			`"day":"1970-01-02","clock":"01:00:00.000000","list":[1, {"a": "b"}]}` + "\n" +
			`{"bool":null,"int32":null,"uint64":null,"float32":null,"decimal":null,"blob":null,"time":null,"day":null,"clock":null,"list":null}` + "\n",
	} {
		var b bytes.Buffer
		r := allTypes(t)
		s, err := New(&b, format, r.Schema())
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Write(r); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if got := b.String(); got != want {
			t.Errorf("%s:\n got %s\nwant %s", format, got, want)
		}
	}
}

// A BLOB is shown by its size.
func TestTypesForTheEye(t *testing.T) {
	var b bytes.Buffer
	r := allTypes(t)
	s, err := New(&b, "pretty", r.Schema())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Write(r); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "<3 bytes>") {
		t.Errorf("no size of the BLOB:\n%s", b.String())
	}
}

// What is written to Parquet is read back by columns, and of the decimal every bit of its two's complement.
func TestTypesInParquet(t *testing.T) {
	path := filepath.Join(t.TempDir(), "types.parquet")
	r := allTypes(t)
	s, err := Create(path, "", r.Schema(), false)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Write(r); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	p, err := file.NewParquetReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"None", "None", "Int(bitWidth=64, isSigned=false)", "None", "Decimal(precision=38, scale=2)", "None",
		"Timestamp(isAdjustedToUTC=false, timeUnit=microseconds, is_from_converted_type=false, force_set_converted_type=false)",
		"Date", "Time(isAdjustedToUTC=false, timeUnit=microseconds)", "JSON"} {
		if got := p.MetaData().Schema.Column(i).LogicalType().String(); got != want {
			t.Errorf("column %d is %s, want %s", i, got, want)
		}
	}
	c, err := p.RowGroup(0).Column(4)
	if err != nil {
		t.Fatal(err)
	}
	values, levels := make([]parquet.FixedLenByteArray, 2), make([]int16, 2)
	if _, n, err := c.(*file.FixedLenByteArrayColumnChunkReader).ReadBatch(2, values, levels, nil); err != nil || n != 1 {
		t.Fatal(n, err)
	}
	if want := append(bytes.Repeat([]byte{255}, 14), 0xcf, 0xc7); !bytes.Equal(values[0], want) || levels[1] != 0 {
		t.Errorf("the decimal is % x, levels %v; want % x", values[0], levels, want)
	}
}
