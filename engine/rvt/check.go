package rvt

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/evq-project/evq/io/hdf5"
	"github.com/evq-project/evq/io/tensor"
)

// A Difference says how two trees differ. The zero value says that they are equal.
type Difference struct {
	File  string // the first file that differs, relative to both trees; "" where two files were compared
	Where string // the place in it: "window 3, channel 7, row 12, column 100", "labels[4].x", "shape"; "only in a" or "b" where the other lacks the file
	A, B  string // what stands there

	Files    int   // that differ
	Elements int64 // of frames, that differ
	Compared int64 // elements of frames that were compared
}

// Equal reports whether there is no difference.
func (d Difference) Equal() bool { return d.Files == 0 }

// String is one line.
func (d Difference) String() string {
	if d.Equal() {
		return "equal"
	}
	place := d.Where
	if d.File != "" {
		place = d.File + ": " + d.Where
	}
	if d.A != "" || d.B != "" {
		place += fmt.Sprintf(": %s in a, %s in b", d.A, d.B)
	}
	if d.Elements > 1 {
		place += fmt.Sprintf("; %d of %d elements of frames differ", d.Elements, d.Compared)
	}
	if d.Files > 1 {
		place += fmt.Sprintf("; %d files differ", d.Files)
	}
	return place
}

// note records a difference of a file where it is the first.
func (d *Difference) note(file, where, a, b string) {
	if d.Files++; d.Files == 1 {
		d.File, d.Where, d.A, d.B = file, where, a, b
	}
}

// Check compares two trees, of sequences or whole data sets, or two files: frames element by element, times, maps
// and labels value by value, and shapes and types; in times, maps and labels the width and sign of integers do not
// count. It reads a frame at a time on several goroutines and counts every element that differs. Manifests and
// hidden files are left out, so that a tree of RVT's own compares with one of evq's. The error is that something
// could not be read.
func Check(ctx context.Context, a, b string) (Difference, error) {
	var d Difference
	filesA, dirA, err := treeFiles(a)
	if err != nil {
		return d, fmt.Errorf("rvt: %w", err)
	}
	filesB, dirB, err := treeFiles(b)
	if err != nil {
		return d, fmt.Errorf("rvt: %w", err)
	}
	if dirA != dirB {
		return d, wrong("%s and %s: one is a folder and one a file", a, b)
	}
	if !dirA {
		return d, d.compare(ctx, "", a, b)
	}
	all := slices.Concat(filesA, filesB)
	slices.Sort(all)
	for _, f := range slices.Compact(all) {
		switch {
		case !slices.Contains(filesB, f):
			d.note(f, "only in a", "", "")
		case !slices.Contains(filesA, f):
			d.note(f, "only in b", "", "")
		default:
			if err := d.compare(ctx, f, filepath.Join(a, f), filepath.Join(b, f)); err != nil {
				return d, err
			}
		}
	}
	return d, nil
}

// treeFiles lists the files below a folder that Check compares.
func treeFiles(root string) (files []string, folder bool, err error) {
	st, err := os.Stat(root)
	if err != nil || !st.IsDir() {
		return nil, false, err
	}
	err = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		hidden := strings.HasPrefix(e.Name(), ".") && path != root
		if e.IsDir() && hidden {
			return filepath.SkipDir
		}
		if e.IsDir() || hidden || e.Name() == manifestFile {
			return nil
		}
		relative, err := filepath.Rel(root, path)
		files = append(files, relative)
		return err
	})
	return files, true, err
}

// compare compares one file with another.
func (d *Difference) compare(ctx context.Context, file, a, b string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	switch strings.ToLower(filepath.Ext(a)) {
	case ".h5", ".hdf5":
		return d.frames(ctx, file, a, b)
	case ".npy":
		return d.arrays(file, a, b)
	case ".npz":
		return d.archives(file, a, b)
	}
	return d.bytes(file, a, b)
}

// frames compares the dataset data of two files.
func (d *Difference) frames(ctx context.Context, file, pathA, pathB string) error {
	a, err := hdf5.OpenBlocks(pathA, framesData)
	if err != nil {
		return fmt.Errorf("rvt: %w", err)
	}
	defer func() { _ = a.Close() }()
	b, err := hdf5.OpenBlocks(pathB, framesData)
	if err != nil {
		return fmt.Errorf("rvt: %w", err)
	}
	defer func() { _ = b.Close() }()
	la, lb := a.Layout(), b.Layout()
	if la.DType != lb.DType {
		d.note(file, "type", la.DType.String(), lb.DType.String())
		return nil
	}
	shape := func(n int, s tensor.Shape) string { return append(tensor.Shape{n}, s...).String() }
	if !la.Shape.Equal(lb.Shape) || a.Len() != b.Len() {
		d.note(file, "shape", shape(a.Len(), la.Shape), shape(b.Len(), lb.Shape))
		return nil
	}
	c := frameComparison{a: a, b: b, window: a.Len()}
	if err := parallel(ctx, a.Len(), 0, c.worker); err != nil {
		return fmt.Errorf("rvt: %w", err)
	}
	d.Compared += int64(a.Len()) * int64(la.Shape.Len())
	if c.differ > 0 {
		d.Elements += c.differ
		d.note(file, place(c.window, c.at, la.Shape), c.inA, c.inB)
	}
	return nil
}

// A frameComparison finds the first element that differs, and counts them.
type frameComparison struct {
	a, b *hdf5.Blocks

	mu       sync.Mutex
	differ   int64
	window   int // of the first difference
	at       int // element in its block
	inA, inB string
}

func (c *frameComparison) worker() func(int) error {
	l := c.a.Layout()
	x, y := make([]byte, l.Bytes()), make([]byte, l.Bytes())
	return func(i int) error {
		if err := errors.Join(c.a.Read(i, x), c.b.Read(i, y)); err != nil {
			return err
		}
		if bytes.Equal(x, y) {
			return nil
		}
		size, n, first := l.DType.Size(), int64(0), -1
		for at := 0; at < len(x); at += size {
			if !bytes.Equal(x[at:at+size], y[at:at+size]) {
				if n++; first < 0 {
					first = at
				}
			}
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.differ += n; i < c.window {
			c.window, c.at = i, first/size
			c.inA, c.inB = element(l.DType, x[first:]), element(l.DType, y[first:])
		}
		return nil
	}
}

// place names an element of a block: channel, row and column where it has these axes.
func place(window, at int, shape tensor.Shape) string {
	index := make([]int, len(shape))
	for k := len(shape) - 1; k >= 0; k-- {
		index[k], at = at%shape[k], at/shape[k]
	}
	out := fmt.Sprintf("window %d", window)
	names := []string{"channel", "row", "column"}
	if len(shape) < len(names) {
		names = names[len(names)-len(shape):]
	}
	for k, i := range index {
		name := fmt.Sprintf("axis %d", k)
		if len(shape) <= len(names) {
			name = names[k]
		}
		out += fmt.Sprintf(", %s %d", name, i)
	}
	return out
}

// element prints the first element of b.
func element(t tensor.DType, b []byte) string {
	switch t {
	case tensor.Uint8:
		return strconv.Itoa(int(b[0]))
	case tensor.Int8:
		return strconv.Itoa(int(int8(b[0])))
	case tensor.Uint32:
		return strconv.FormatUint(uint64(binary.LittleEndian.Uint32(b)), 10)
	case tensor.Int32:
		return strconv.Itoa(int(int32(binary.LittleEndian.Uint32(b))))
	case tensor.Int64:
		return strconv.FormatInt(int64(binary.LittleEndian.Uint64(b)), 10)
	}
	return strconv.FormatFloat(float64(math.Float32frombits(binary.LittleEndian.Uint32(b))), 'g', -1, 32)
}

// bytes compares files of another kind.
func (d *Difference) bytes(file, pathA, pathB string) error {
	a, err := os.Open(pathA)
	if err != nil {
		return fmt.Errorf("rvt: %w", err)
	}
	defer func() { _ = a.Close() }()
	b, err := os.Open(pathB)
	if err != nil {
		return fmt.Errorf("rvt: %w", err)
	}
	defer func() { _ = b.Close() }()
	x, y := make([]byte, 1<<16), make([]byte, 1<<16)
	for at := 0; ; at += len(x) {
		n, errA := io.ReadFull(a, x)
		m, errB := io.ReadFull(b, y)
		if !bytes.Equal(x[:n], y[:m]) {
			i := 0
			for i < min(n, m) && x[i] == y[i] {
				i++
			}
			d.note(file, fmt.Sprintf("byte %d", at+i), "", "")
			return nil
		}
		if errA != nil || errB != nil {
			return unlessEnd(errors.Join(errA, errB))
		}
	}
}

func unlessEnd(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return fmt.Errorf("rvt: %w", err)
}
