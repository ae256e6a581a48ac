package npy

import (
	"archive/zip"
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// ReadTableIn reads the structured array of that name from a .npz archive, as ReadTable does.
func ReadTableIn(archive, name string) (t *Table, err error) {
	err = member(archive, name, func(r io.Reader, size int64) (err error) {
		t, err = readTable(r, size)
		return err
	})
	return t, err
}

// ReadIntsIn reads the integers of that name from a .npz archive, as ReadInts does.
func ReadIntsIn(archive, name string) (v []int64, err error) {
	err = member(archive, name, func(r io.Reader, size int64) (err error) {
		v, err = readInts(bufio.NewReader(r), size)
		return err
	})
	return v, err
}

// Members returns the names of the arrays in a .npz archive.
func Members(archive string) (names []string, err error) {
	err = openZip(archive, func(z *zip.Reader, _ int64) error {
		names = members(z)
		return nil
	})
	return names, err
}

func members(z *zip.Reader) []string {
	var names []string
	for _, f := range z.File {
		if name, ok := strings.CutSuffix(f.Name, ".npy"); ok {
			names = append(names, name)
		}
	}
	return names
}

// openZip calls read on the directory of an archive, with the size of the file.
func openZip(archive string, read func(z *zip.Reader, size int64) error) error {
	f, size, err := open(archive)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	z, err := readDirectory(f, size)
	if err == nil {
		err = read(z, size)
	}
	if err != nil {
		return fmt.Errorf("npy: %s: %w", archive, err)
	}
	return nil
}

// readDirectory reads the directory of an archive. That of a damaged one is zip.ErrFormat, never an io.EOF, which would
// pass for the end of something.
func readDirectory(r io.ReaderAt, size int64) (*zip.Reader, error) {
	z, err := zip.NewReader(r, size)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = zip.ErrFormat
	}
	if err != nil {
		return nil, fmt.Errorf("%w; an archive made with numpy.savez is needed", err)
	}
	return z, nil
}

// member calls read on one array of an archive.
func member(archive, name string, read func(r io.Reader, size int64) error) error {
	return openZip(archive, func(z *zip.Reader, size int64) error {
		i := slices.IndexFunc(z.File, func(f *zip.File) bool { return f.Name == name+".npy" })
		if i < 0 {
			return fmt.Errorf("there is no array %q; there are %s", name, strings.Join(members(z), ", "))
		}
		if err := readMember(z.File[i], size, read); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return nil
	})
}

func readMember(f *zip.File, archiveSize int64, read func(r io.Reader, size int64) error) error {
	size, err := unpackedSize(f, archiveSize)
	if err != nil {
		return err
	}
	r, err := f.Open()
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()
	if err := read(r, size); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, r) // the checksum is compared at the end
	return err
}

// mostDeflated is more than deflate can make of one byte, which is 1032.
const mostDeflated = 1040

// unpackedSize returns the bytes of a member where those that are packed can unfold to them.
func unpackedSize(f *zip.File, archiveSize int64) (int64, error) {
	packed, size := f.CompressedSize64, f.UncompressedSize64
	if packed > uint64(archiveSize) || size/mostDeflated > packed || f.Method == zip.Store && size != packed {
		return 0, fmt.Errorf("it declares %d bytes, packed as %d, in an archive of %d; the file is damaged", size, packed, archiveSize)
	}
	return int64(size), nil
}
