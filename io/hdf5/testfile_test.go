//go:build hdf5 && cgo

package hdf5

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/formattest"
	"gonum.org/v1/hdf5"
)

// types maps the types of columns to those of the library.
var types = map[elem]*hdf5.Datatype{
	{size: 1}: hdf5.T_STD_U8LE, {size: 2}: hdf5.T_STD_U16LE, {size: 4}: hdf5.T_STD_U32LE, {size: 8}: hdf5.T_STD_U64LE,
	{size: 1, signed: true}: hdf5.T_STD_I8LE, {size: 2, signed: true}: hdf5.T_STD_I16LE,
	{size: 4, signed: true}: hdf5.T_STD_I32LE, {size: 8, signed: true}: hdf5.T_STD_I64LE,
	{size: 2, big: true}: hdf5.T_STD_U16BE, {size: 4, big: true}: hdf5.T_STD_U32BE, {size: 8, big: true}: hdf5.T_STD_U64BE,
	{size: 2, signed: true, big: true}: hdf5.T_STD_I16BE, {size: 4, signed: true, big: true}: hdf5.T_STD_I32BE,
	{size: 8, signed: true, big: true}: hdf5.T_STD_I64BE,
}

// A testColumn is a column of a test file.
type testColumn struct {
	elem   elem
	values []int64
}

func u1(v ...int64) testColumn { return testColumn{elem{size: 1}, v} }
func u2(v ...int64) testColumn { return testColumn{elem{size: 2}, v} }
func u4(v ...int64) testColumn { return testColumn{elem{size: 4}, v} }

// testFile writes an HDF5 file: columns of integers by path, such as events/t. more may add to it.
func testFile(t testing.TB, columns map[string]testColumn, more func(h *hdf5.File)) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "test.h5")
	err := locked(func() error {
		h, err := hdf5.CreateFile(path, hdf5.F_ACC_TRUNC)
		if err != nil {
			return err
		}
		defer h.Close()
		g, err := h.CreateGroup("events")
		if err != nil {
			return err
		}
		defer g.Close()
		for name, c := range columns {
			if err := writeRaw(h, name, types[c.elem], len(c.values), stored(c.elem, c.values)); err != nil {
				return err
			}
		}
		if more != nil {
			more(h)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// writeRaw writes a dataset of one dimension whose bytes are as the type stores them.
func writeRaw(h *hdf5.File, name string, typ *hdf5.Datatype, n int, raw []byte) error {
	sp, err := hdf5.CreateSimpleDataspace([]uint{uint(n)}, nil)
	if err != nil {
		return err
	}
	defer sp.Close()
	d, err := h.CreateDataset(name, typ, sp)
	if err != nil || n == 0 {
		return err
	}
	defer d.Close()
	return d.Write(&raw)
}

// plainColumns are three good events.
func plainColumns() map[string]testColumn {
	return map[string]testColumn{"events/t": u4(10, 20, 30), "events/x": u2(1, 2, 3), "events/y": u2(4, 5, 6), "events/p": u1(0, 1, 1)}
}

// with returns the good events with one column exchanged.
func with(name string, c testColumn) map[string]testColumn {
	m := plainColumns()
	m["events/"+name] = c
	return m
}

func openTest(t testing.TB, path string, p format.Policy) (event.Source, error) {
	t.Helper()
	return Format.Open(context.Background(), formattest.Open(t, path), p)
}

// drain decodes a whole recording.
func drain(t testing.TB, path string, p format.Policy) (event.Batch, *event.Report, error) {
	t.Helper()
	s, err := openTest(t, path, p)
	if err != nil {
		return event.Batch{}, nil, err
	}
	return format.Drain(context.Background(), s)
}
