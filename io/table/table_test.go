package table

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/file"

	"github.com/evq-project/evq/io/atomicfile"
)

var testSchema = arrow.NewSchema([]arrow.Field{
	{Name: "window", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
	{Name: "mean(x)", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
	{Name: "recording", Type: arrow.BinaryTypes.String, Nullable: true},
}, nil)

func record(ints []int64, floats []float64, text []string, valid []bool) arrow.RecordBatch {
	i, f, s := array.NewInt64Builder(memory.DefaultAllocator), array.NewFloat64Builder(memory.DefaultAllocator), array.NewStringBuilder(memory.DefaultAllocator)
	i.AppendValues(ints, valid)
	f.AppendValues(floats, valid)
	s.AppendValues(text, valid)
	return array.NewRecordBatch(testSchema, []arrow.Array{i.NewArray(), f.NewArray(), s.NewArray()}, int64(len(ints)))
}

// two are two records with a row that has no value, and values that need care.
func two() []arrow.RecordBatch {
	return []arrow.RecordBatch{
		record([]int64{1, 0, math.MinInt64}, []float64{0.1, 0, 1e300}, []string{`a "b", c`, "", "line\nbreak"}, []bool{true, false, true}),
		record([]int64{7}, []float64{-2.5}, []string{"é"}, nil),
	}
}

func written(t *testing.T, format string) string {
	t.Helper()
	var b bytes.Buffer
	s, err := New(&b, format, testSchema)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range two() {
		if err := s.Write(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestCSV(t *testing.T) {
	rows, err := csv.NewReader(strings.NewReader(written(t, "csv"))).ReadAll()
	want := [][]string{{"window", "mean(x)", "recording"}, {"1", "0.1", `a "b", c`}, {"", "", ""},
		{"-9223372036854775808", "1e+300", "line\nbreak"}, {"7", "-2.5", "é"}}
	if err != nil || !reflect.DeepEqual(rows, want) {
		t.Errorf("%q, %v", rows, err)
	}
}

func TestJSON(t *testing.T) {
	var all []map[string]any
	if err := json.Unmarshal([]byte(written(t, "json")), &all); err != nil || len(all) != 4 {
		t.Fatalf("%v, %v", all, err)
	}
	if all[1]["window"] != nil || all[0]["recording"] != `a "b", c` || all[3]["mean(x)"] != -2.5 {
		t.Errorf("%v", all)
	}
	lines := strings.Split(strings.TrimSpace(written(t, "jsonl")), "\n")
	for i, line := range lines {
		var one map[string]any
		if err := json.Unmarshal([]byte(line), &one); err != nil || !reflect.DeepEqual(one, all[i]) {
			t.Errorf("line %d: %s: %v", i, line, err)
		}
	}
	if len(lines) != 4 {
		t.Errorf("%d lines", len(lines))
	}
	var b bytes.Buffer
	s, err := New(&b, "json", testSchema)
	if err != nil || s.Close() != nil || b.String() != "[]\n" {
		t.Errorf("without rows: %q, %v", b.String(), err)
	}
}

// JSON has no number that is none.
func TestNoNaN(t *testing.T) {
	var b bytes.Buffer
	s, err := New(&b, "jsonl", testSchema)
	if err != nil || s.Write(record([]int64{1, 2}, []float64{math.NaN(), math.Inf(1)}, []string{"", ""}, nil)) != nil || s.Close() != nil {
		t.Fatal(err)
	}
	if strings.Count(b.String(), "null") != 2 {
		t.Error(b.String())
	}
}

func TestPretty(t *testing.T) {
	want := `              window  mean(x)  recording
                   1      0.1  a "b", c

-9223372036854775808   1e+300  line
break
                   7     -2.5  é
`
	if got := written(t, "pretty"); got != want {
		t.Errorf("got\n%s", got)
	}
}

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	for _, ext := range Extensions() {
		path := filepath.Join(dir, "a"+ext)
		s, err := Create(path, "", testSchema, false)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range two() {
			if err := s.Write(r); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s is there before it is complete", ext)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := Create(path, "", testSchema, false); !errors.Is(err, atomicfile.ErrExists) {
			t.Errorf("%s was overwritten: %v", ext, err)
		}
	}
	readParquet(t, filepath.Join(dir, "a.parquet"))
	f, err := os.Open(filepath.Join(dir, "a.arrow"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // only read
	r, err := ipc.NewFileReader(f)
	if err != nil || r.NumRecords() != 2 || !r.Schema().Equal(testSchema) {
		t.Errorf("arrow: %v", err)
	}
	if _, err := Create(filepath.Join(dir, "a.xlsx"), "", testSchema, false); !errors.Is(err, ErrFormat) {
		t.Error(err)
	}
	aborted := filepath.Join(dir, "b.csv")
	s, err := Create(aborted, "", testSchema, false)
	if err != nil || s.Abort() != nil {
		t.Fatal(err)
	}
	if files, _ := filepath.Glob(filepath.Join(dir, "*b.csv*")); len(files) > 0 {
		t.Errorf("left behind: %v", files)
	}
}

func readParquet(t *testing.T, path string) {
	t.Helper()
	r, err := file.OpenParquetFile(path, false)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close() //nolint:errcheck // only read
	if r.NumRows() != 4 || r.NumRowGroups() != 1 {
		t.Fatalf("%d rows in %d row groups", r.NumRows(), r.NumRowGroups())
	}
	col, err := r.RowGroup(0).Column(0)
	if err != nil {
		t.Fatal(err)
	}
	v, levels := make([]int64, 4), make([]int16, 4)
	rows, n, err := col.(*file.Int64ColumnChunkReader).ReadBatch(4, v, levels, nil)
	if err != nil || rows != 4 || n != 3 || !reflect.DeepEqual(v[:3], []int64{1, math.MinInt64, 7}) || !reflect.DeepEqual(levels, []int16{1, 0, 1, 1}) {
		t.Errorf("%v %v %v", v, levels, err)
	}
}

func TestAddText(t *testing.T) {
	r := AddText(two()[0], "file", "x.raw")
	defer r.Release()
	if r.NumCols() != 4 || r.ColumnName(0) != "file" || r.Column(0).ValueStr(2) != "x.raw" || r.ColumnName(1) != "window" {
		t.Error(r)
	}
}
