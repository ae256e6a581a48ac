package table

import (
	"bufio"
	"encoding/json"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/extensions"
)

// cell appends the text of one value: null where there is none, and quoted text. BLOBs are base64, times ISO 8601.
func cell(dst []byte, c arrow.Array, i int, null string, quote func([]byte, string) []byte) []byte {
	if c.IsNull(i) {
		return append(dst, null...)
	}
	switch c := c.(type) {
	case *array.Int64:
		return strconv.AppendInt(dst, c.Value(i), 10)
	case *array.Int32:
		return strconv.AppendInt(dst, int64(c.Value(i)), 10)
	case *array.Uint64:
		return strconv.AppendUint(dst, c.Value(i), 10)
	case *array.Decimal128:
		return append(dst, c.Value(i).ToString(c.DataType().(*arrow.Decimal128Type).Scale)...)
	case *array.Boolean:
		return strconv.AppendBool(dst, c.Value(i))
	case *array.Float64:
		return number(dst, c.Value(i), 64, null)
	case *array.Float32:
		return number(dst, float64(c.Value(i)), 32, null)
	case *array.String:
		return quote(dst, c.Value(i))
	}
	return quote(dst, c.ValueStr(i))
}

// number appends a float as short as reads back the same.
func number(dst []byte, v float64, bits int, null string) []byte {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return append(dst, null...)
	}
	form := byte('f')
	if a := math.Abs(v); a >= 1e15 || a != 0 && a < 1e-5 {
		form = 'g'
	}
	return strconv.AppendFloat(dst, v, form, -1, bits)
}

// csvText quotes what needs it (RFC 4180).
func csvText(dst []byte, s string) []byte {
	if !strings.ContainsAny(s, ",\"\r\n") {
		return append(dst, s...)
	}
	return append(append(append(dst, '"'), strings.ReplaceAll(s, `"`, `""`)...), '"')
}

func jsonText(dst []byte, s string) []byte {
	b, err := json.Marshal(s)
	if err != nil {
		return append(dst, `""`...) // no string fails
	}
	return append(dst, b...)
}

type csvEncoder struct {
	w    *bufio.Writer
	line []byte
}

func newCSV(w io.Writer, schema *arrow.Schema) (encoder, error) {
	e := &csvEncoder{w: bufio.NewWriter(w)}
	for i, f := range schema.Fields() {
		if i > 0 {
			e.line = append(e.line, ',')
		}
		e.line = csvText(e.line, f.Name)
	}
	_, err := e.w.Write(append(e.line, '\n'))
	return e, err
}

func (e *csvEncoder) write(r arrow.RecordBatch) error {
	for i := range int(r.NumRows()) {
		e.line = e.line[:0]
		for c, col := range r.Columns() {
			if c > 0 {
				e.line = append(e.line, ',')
			}
			e.line = cell(e.line, col, i, "", csvText)
		}
		if _, err := e.w.Write(append(e.line, '\n')); err != nil {
			return err
		}
	}
	return nil
}

func (e *csvEncoder) finish() error { return e.w.Flush() }

// A jsonEncoder writes one object for each row, between and after which there is some text.
type jsonEncoder struct {
	w              *bufio.Writer
	line           []byte
	keys           []string
	before, after  string
	between, empty string
	some           bool
}

func newJSON(w io.Writer, schema *arrow.Schema) (encoder, error) {
	return newObjects(w, schema, "[\n", ",\n", "\n]\n", "[]\n"), nil
}

func newJSONLines(w io.Writer, schema *arrow.Schema) (encoder, error) {
	return newObjects(w, schema, "", "\n", "\n", ""), nil
}

func newObjects(w io.Writer, schema *arrow.Schema, before, between, after, empty string) *jsonEncoder {
	e := &jsonEncoder{w: bufio.NewWriter(w), before: before, between: between, after: after, empty: empty}
	for _, f := range schema.Fields() {
		e.keys = append(e.keys, string(jsonText(nil, f.Name))+":")
	}
	return e
}

func (e *jsonEncoder) write(r arrow.RecordBatch) error {
	for i := range int(r.NumRows()) {
		e.line = append(e.line[:0], e.between...)
		if !e.some {
			e.some, e.line = true, append(e.line[:0], e.before...)
		}
		e.line = append(e.line, '{')
		for c, col := range r.Columns() {
			if c > 0 {
				e.line = append(e.line, ',')
			}
			e.line = jsonCell(append(e.line, e.keys[c]...), col, i)
		}
		if _, err := e.w.Write(append(e.line, '}')); err != nil {
			return err
		}
	}
	return nil
}

// jsonCell appends one value; what is JSON already, such as a list, stays what it is.
func jsonCell(dst []byte, c arrow.Array, i int) []byte {
	if j, ok := c.(*extensions.JSONArray); ok && c.IsValid(i) {
		return append(dst, j.ValueJSON(i)...)
	}
	return cell(dst, c, i, "null", jsonText)
}

func (e *jsonEncoder) finish() error {
	end := e.after
	if !e.some {
		end = e.empty
	}
	if _, err := e.w.WriteString(end); err != nil {
		return err
	}
	return e.w.Flush()
}
