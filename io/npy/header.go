package npy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/evq-project/evq/io/tensor"
)

const magic = "\x93NUMPY"

var errCut = errors.New("the header is cut; the file is incomplete or no NumPy array")

// align is to what NumPy aligns the data behind a header.
const align = 64

// growingHeader is the header of an array of n elements of a shape, which is empty where the array has one axis. descr
// is NumPy's type as a header has it, such as '<i8' with its quotes or a list of fields. Its length does not depend on
// n, so that n can be set at the end.
func growingHeader(descr string, shape []int, n int64) []byte {
	text := func(n int64) string {
		axes := fmt.Sprintf("(%d,", n)
		for _, d := range shape {
			axes += fmt.Sprintf(" %d,", d)
		}
		if len(shape) > 0 {
			axes = strings.TrimSuffix(axes, ",")
		}
		return fmt.Sprintf("{'descr': %s, 'fortran_order': False, 'shape': %s), }", descr, axes)
	}
	return header(text(n), (len(magic)+4+len(text(math.MaxInt64))+1+align-1)/align*align)
}

// blockHeader is the header of n blocks.
func blockHeader(l tensor.Layout, n int) []byte {
	return growingHeader(quoted(l.DType), l.Shape, int64(n))
}

// quoted is a type as a header has it.
func quoted(t tensor.DType) string { return "'" + t.NPY() + "'" }

// header is a version 1.0 header of size bytes.
func header(text string, size int) []byte {
	h := binary.LittleEndian.AppendUint16([]byte(magic+"\x01\x00"), uint16(size-len(magic)-4))
	h = append(h, text...)
	for len(h) < size-1 {
		h = append(h, ' ')
	}
	return append(h, '\n')
}

// An arrayInfo is what a header says, and where the data begins.
type arrayInfo struct {
	descr  string // the type, or structured
	fields list   // of a structured type, as the header has them
	shape  []int64
	offset int64

	fortran bool // the first axis varies fastest
}

// structured stands for a type with fields.
const structured = "structured"

// maxHeader bounds the text of a header; NumPy itself reads no more than 10,000 characters.
const maxHeader = 1 << 16

// errNotArray reports a file that is no .npy.
var errNotArray = errors.New("not a .npy file")

// readHeader reads the header from the beginning of a file.
func readHeader(r io.Reader) (arrayInfo, error) {
	var start [12]byte
	if _, err := io.ReadFull(r, start[:10]); err != nil || string(start[:6]) != magic {
		if strings.HasPrefix(string(start[:]), "PK") {
			return arrayInfo{}, fmt.Errorf("%w but an archive (.npz); save the one array with numpy.save", errNotArray)
		}
		return arrayInfo{}, fmt.Errorf("%w; make one with numpy.save", errNotArray)
	}
	info, length := arrayInfo{offset: 10}, int64(binary.LittleEndian.Uint16(start[8:]))
	switch version := start[6]; version {
	case 1:
	case 2, 3:
		if _, err := io.ReadFull(r, start[10:]); err != nil {
			return arrayInfo{}, errCut
		}
		info.offset, length = 12, int64(binary.LittleEndian.Uint32(start[8:]))
	default:
		return arrayInfo{}, fmt.Errorf("the header has version %d; 1 to 3 are known", version)
	}
	if length > maxHeader {
		return arrayInfo{}, fmt.Errorf("the header declares %d bytes; the file is damaged", length)
	}
	text := make([]byte, length)
	if _, err := io.ReadFull(r, text); err != nil {
		return arrayInfo{}, errCut
	}
	info.offset += length
	return info, info.parse(string(text))
}

// parse reads the header's text.
func (a *arrayInfo) parse(text string) error {
	v, err := parseLiteral(text)
	if err != nil {
		return fmt.Errorf("%w; the file is damaged", err)
	}
	d, _ := v.(dict)
	shape, hasShape := d["shape"].(tuple)
	fortran, hasOrder := d["fortran_order"].(bool)
	a.fortran = fortran
	switch descr := d["descr"].(type) {
	case string:
		a.descr = descr
	case list:
		a.descr, a.fields = structured, descr
	default:
		hasShape = false
	}
	if !hasShape || !hasOrder {
		return fmt.Errorf("the header %.60q lacks descr, fortran_order or shape; the file is damaged", text)
	}
	for _, n := range shape {
		n, ok := n.(int64)
		if !ok || n < 0 {
			return fmt.Errorf("the shape %s has an axis that is no length; the file is damaged", brief(shape))
		}
		a.shape = append(a.shape, n)
	}
	return nil
}

// brief is a value of a header in the words of an error: a verb's precision would be that of each number in it.
func brief(v any) string {
	s := fmt.Sprint(v)
	return s[:min(len(s), 60)]
}
