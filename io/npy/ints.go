package npy

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
)

// ErrNotIntegers reports an array of another type or with more than one axis.
var ErrNotIntegers = errors.New("not a list of integers")

// ErrNotGrid reports a list of times that cannot be a grid.
var ErrNotGrid = errors.New("not a grid of times")

// ReadInts reads an array of any integer type and byte order with one axis, or none (one value).
func ReadInts(path string) ([]int64, error) {
	f, size, err := open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	v, err := readInts(bufio.NewReaderSize(f, 1<<16), size)
	if err != nil {
		return nil, fmt.Errorf("npy: %s: %w", path, err)
	}
	return v, nil
}

// open opens a regular file; others, such as pipes, have no size to check a header against.
func open(path string) (f *os.File, size int64, err error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, 0, err
	}
	if !st.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("npy: %s is not a regular file", path)
	}
	f, err = os.Open(path)
	return f, st.Size(), err
}

// Grid reads a list of times, such as the ends of windows, which must hold at least one and never decrease.
func Grid(path string) ([]int64, error) {
	v, err := ReadInts(path)
	if err != nil {
		return nil, err
	}
	if len(v) == 0 {
		return nil, fmt.Errorf("npy: %s: %w: it is empty", path, ErrNotGrid)
	}
	for i := 1; i < len(v); i++ {
		if v[i] < v[i-1] {
			return nil, fmt.Errorf("npy: %s: %w: index %d is %d, after %d; sort them", path, ErrNotGrid, i, v[i], v[i-1])
		}
	}
	return v, nil
}

// readInts reads from a file of the given size, by which the declared length is checked before memory is
// taken for it.
func readInts(r io.Reader, size int64) ([]int64, error) {
	info, err := readHeader(r)
	if err != nil {
		return nil, err
	}
	n, err := info.length()
	if err != nil {
		return nil, err
	}
	return readValues(r, info, n, size)
}

// readValues reads the n values that follow a header.
func readValues(r io.Reader, info arrayInfo, n, size int64) ([]int64, error) {
	width, decode, err := integer(info.descr)
	if err != nil {
		return nil, err
	}
	if n > (size-info.offset)/int64(width) {
		return nil, fmt.Errorf("it declares %d values of %d bytes, and %d bytes follow; the file is cut or damaged", n, width, size-info.offset)
	}
	out := make([]int64, n)
	var raw [8]byte
	for i := range out {
		if _, err := io.ReadFull(r, raw[:width]); err != nil {
			return nil, fmt.Errorf("value %d: %w", i, err)
		}
		v, ok := decode(raw[:width])
		if !ok {
			return nil, fmt.Errorf("value %d is %d, which is more than an int64 holds", i, uint64(v))
		}
		out[i] = v
	}
	return out, nil
}

// length returns the number of values of an array with at most one axis.
func (a arrayInfo) length() (int64, error) {
	switch len(a.shape) {
	case 0:
		return 1, nil
	case 1:
		return a.shape[0], nil
	}
	return 0, fmt.Errorf("%w: it has %d axes, %v; save its ravel()", ErrNotIntegers, len(a.shape), a.shape)
}

// integer returns the width of an integer type and how one is decoded; ok is false where it does not fit.
func integer(descr string) (width int, decode func([]byte) (v int64, ok bool), err error) {
	if len(descr) != 3 || !strings.Contains("<>|=", descr[:1]) || !strings.Contains("iu", descr[1:2]) || !strings.Contains("1248", descr[2:]) {
		return 0, nil, fmt.Errorf("%w: the type is %q; save it with astype('int64')", ErrNotIntegers, descr)
	}
	width = int(descr[2] - '0')
	big, signed := descr[0] == '>', descr[1] == 'i'
	return width, func(b []byte) (int64, bool) {
		var room [8]byte
		var u uint64
		if big {
			copy(room[8-width:], b)
			u = binary.BigEndian.Uint64(room[:])
		} else {
			copy(room[:], b)
			u = binary.LittleEndian.Uint64(room[:])
		}
		if !signed {
			return int64(u), u <= math.MaxInt64
		}
		shift := 64 - 8*width
		return int64(u<<shift) >> shift, true
	}, nil
}
