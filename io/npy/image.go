package npy

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// ErrNotImage reports an array that has not two axes of integers or booleans.
var ErrNotImage = errors.New("not an image of integers")

// ReadImage reads an array of shape (rows, columns) of integers or booleans as which pixels are not zero, row by row.
func ReadImage(path string) (set []bool, rows, cols int, err error) {
	f, size, err := open(path)
	if err != nil {
		return nil, 0, 0, err
	}
	defer func() { _ = f.Close() }()
	set, rows, cols, err = readImage(bufio.NewReaderSize(f, 1<<16), size)
	if err != nil {
		return nil, 0, 0, fmt.Errorf("npy: %s: %w", path, err)
	}
	return set, rows, cols, nil
}

// mostRows bounds the rows and the columns: no sensor has more.
const mostRows = 1 << 16

func readImage(r io.Reader, size int64) (set []bool, rows, cols int, err error) {
	info, err := readHeader(r)
	if err != nil {
		return nil, 0, 0, err
	}
	if len(info.shape) != 2 || info.shape[0] > mostRows || info.shape[1] > mostRows || info.shape[0] < 0 || info.shape[1] < 0 {
		return nil, 0, 0, fmt.Errorf("%w: its shape is %v; (rows, columns) up to %d is possible", ErrNotImage, info.shape, mostRows)
	}
	if info.descr == "|b1" {
		info.descr = "|u1"
	}
	rows, cols = int(info.shape[0]), int(info.shape[1])
	values, err := readValues(r, info, info.shape[0]*info.shape[1], size)
	if err != nil {
		return nil, 0, 0, err
	}
	set = make([]bool, len(values))
	for i, v := range values {
		at := i
		if info.fortran { // the rows vary fastest
			at = i%rows*cols + i/rows
		}
		set[at] = v != 0
	}
	return set, rows, cols, nil
}
