// Package hdf5 reads events from HDF5 files and writes events and blocks to them.
//
// Damage shows in chunks: where one does not unpack, fails its checksum, holds too few rows or was never written. With
// Policy.Salvage the rows of such a chunk are left out of all columns. A file that was cut is salvaged from a copy in
// Policy.TempDir that is filled up to the length it had, as far as what says where its chunks lie is left. Chunks without
// a filter show no damage, and values that no event can have are errors, as they are in whole files.
//
// The HDF5 library opens files and finds chunks; chunks are decoded and encoded in Go, by many goroutines
// (package chunk). The package knows layouts and element types, and nothing of windows or representations.
// Without the build tag hdf5 and cgo it still recognises HDF5 files and says how to get the rest.
package hdf5

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/evq-project/evq/io/format"
)

// Format is HDF5. It reads events in columns: /events/{t,x,y,p}, as the gen4 and 1 Mpx datasets that RVT reads have them,
// DSEC, whose /t_offset is added to t, M3ED, and any other group under usual names; in records: /CD/events of Prophesee's
// files, in ECF or not, with their external triggers, and any other structured dataset; and in rows of four: MVSEC, v2e.
// Policy.DatasetMap names other columns. Times are microseconds where they are integers and seconds where they are floats,
// unless Policy.TimeUnit says otherwise. It writes /events/{t,x,y,p}, or DSEC's layout.
var Format = format.Format{
	Name:       "hdf5",
	Doc:        "HDF5 events (gen4, 1 Mpx, DSEC, Prophesee, M3ED, MVSEC, other names); gzip, lzf, lz4, zstd, blosc, ECF",
	Facts:      facts,
	Extensions: []string{".h5", ".hdf5"},
	Magic:      "\x89HDF\r\n\x1a\n",
	Sniff:      sniff,
	Open:       open,
	Create:     create,
	Writing:    format.Writing{Polarity: true, Layouts: []string{layoutFlat, layoutDSEC}},
}

// The layouts that are written.
const (
	layoutFlat = "flat" // /events/{t,x,y,p}
	layoutDSEC = "dsec" // the same with t of 32 bits from /t_offset on, and /ms_to_idx
)

// ErrNotBuilt reports that evq was built without the HDF5 library.
var ErrNotBuilt = errors.New("built without HDF5; install libhdf5-dev and build with -tags hdf5")

// ErrLayout reports an HDF5 file whose datasets hold no events in a known layout.
var ErrLayout = errors.New("no events in a known layout (t, x, y, p as columns of a group, fields of a dataset, or rows of four)")

// A ValueError reports one stored value that no event can have.
type ValueError struct {
	Dataset string
	Index   int64 // from 0
	Value   string
	Msg     string // why not, and what to do
}

func (e *ValueError) Error() string {
	return fmt.Sprintf("hdf5: %s[%d] = %s: %s", e.Dataset, e.Index, e.Value, e.Msg)
}

var signature = []byte("\x89HDF\r\n\x1a\n")

// findSignature returns where the superblock stands: at 0, 512, 1024, 2048 and so on. -1: not an HDF5 file.
func findSignature(f format.File) int64 {
	var b [8]byte
	for at := int64(0); at+int64(len(b)) <= f.Size; at = max(512, 2*at) {
		if n, err := f.ReadAt(b[:], at); n < len(b) && err != nil && !errors.Is(err, io.EOF) {
			return -1
		}
		if bytes.Equal(b[:], signature) {
			return at
		}
	}
	return -1
}

// sniff recognises any HDF5 file; it is sure only where the library finds events in it.
func sniff(f format.File) format.Proof {
	at := findSignature(f)
	if at < 0 {
		return format.Proof{}
	}
	p := format.Proof{Confidence: 0.5, Why: fmt.Sprintf("the HDF5 signature at %d", at)}
	if f.Path == "" {
		return p
	}
	switch layout, err := describe(f.Path); {
	case err == nil:
		p.Confidence, p.Why = 1, p.Why+" and "+layout
	case !errors.Is(err, ErrNotBuilt):
		p.Why += ", but: " + err.Error()
	}
	return p
}
