package npy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/evq-project/evq/io/tensor"
)

const magic = "\x93NUMPY"

// align is to what NumPy aligns the data behind a header.
const align = 64

// blockHeader is the header of n blocks. Its length does not depend on n, so that n can be set at the end.
func blockHeader(l tensor.Layout, n int) []byte {
	longest := dict(l, math.MaxInt)
	return header(dict(l, n), (len(magic)+4+len(longest)+1+align-1)/align*align)
}

// dict is the header's text for n blocks.
func dict(l tensor.Layout, n int) string {
	shape := fmt.Sprintf("(%d,", n)
	for _, d := range l.Shape {
		shape += fmt.Sprintf(" %d,", d)
	}
	if len(l.Shape) > 0 {
		shape = strings.TrimSuffix(shape, ",")
	}
	return fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s), }", l.DType.NPY(), shape)
}

// header is a version 1.0 header of size bytes.
func header(dict string, size int) []byte {
	h := binary.LittleEndian.AppendUint16([]byte(magic+"\x01\x00"), uint16(size-len(magic)-4))
	h = append(h, dict...)
	for len(h) < size-1 {
		h = append(h, ' ')
	}
	return append(h, '\n')
}

// An arrayInfo is what a header says, and where the data begins.
type arrayInfo struct {
	descr  string
	shape  []int64
	offset int64
}

// maxHeader bounds the text of a header; NumPy itself reads no more than 10,000 characters.
const maxHeader = 1 << 16

var (
	descrField = regexp.MustCompile(`['"]descr['"]\s*:\s*(?:['"]([^'"]*)['"]|(\[))`)
	shapeField = regexp.MustCompile(`['"]shape['"]\s*:\s*\(([^)]*)\)`)
	orderField = regexp.MustCompile(`['"]fortran_order['"]\s*:\s*(?:True|False)`)
)

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
			return arrayInfo{}, fmt.Errorf("the header is cut: %w", err)
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
		return arrayInfo{}, fmt.Errorf("the header is cut: %w", err)
	}
	info.offset += length
	return info, info.parse(string(text))
}

// parse reads the fields of the header's text.
func (a *arrayInfo) parse(text string) error {
	descr, shape := descrField.FindStringSubmatch(text), shapeField.FindStringSubmatch(text)
	if descr == nil || shape == nil || !orderField.MatchString(text) {
		return fmt.Errorf("the header %.60q lacks descr, fortran_order or shape; the file is damaged", text)
	}
	if a.descr = descr[1]; descr[2] != "" {
		a.descr = "structured"
	}
	for part := range strings.SplitSeq(shape[1], ",") {
		part = strings.TrimSuffix(strings.TrimSpace(part), "L") // Python 2 wrote 5L
		if part == "" {
			continue
		}
		n, err := strconv.ParseInt(part, 10, 64)
		if err != nil || n < 0 {
			return fmt.Errorf("the shape (%.40s) is not one; the file is damaged", shape[1])
		}
		a.shape = append(a.shape, n)
	}
	return nil
}
