// Package npyrec reads and writes recordings that are kept in NumPy's files: a structured array with the fields t, x, y and p in a
// .npy or .npz, an array for each of them in a .npz, or a plain array whose columns the caller names.
//
// Arrays are read in blocks of rows, and as data: Python objects are never unpickled. The package knows which array
// holds what and how its values become events; headers and archives are read by io/npy.
//
// Times are microseconds unless the caller or a type such as datetime64[ns] says otherwise; floating-point times need
// the caller's word, for they say no unit.
//
// What is written reads without a caller's word: a packed structured array in a .npy, arrays t, x, y, p, width and height
// in a .npz.
package npyrec

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/npy"
)

// NPY is one array in a file.
var NPY = format.Format{
	Name:       "npy",
	Doc:        "NumPy .npy: a structured array with the fields t, x, y, p, or N rows with --columns",
	Facts:      npyFacts,
	Extensions: []string{".npy"},
	Sniff:      func(f format.File) format.Proof { return sniff(f, npyMagic, arrayOf) },
	Open:       opener("npy", arrayOf),
	Create:     createNPY,
	Writing:    format.Writing{Polarity: true, NoSize: true},
}

// NPZ is an archive of arrays.
var NPZ = format.Format{
	Name:       "npz",
	Doc:        "NumPy .npz: arrays t, x, y, p, or a structured array with these fields",
	Facts:      npzFacts,
	Extensions: []string{".npz"},
	Sniff:      func(f format.File) format.Proof { return sniff(f, "PK\x03\x04", npy.OpenArchive) },
	Open:       opener("npz", npy.OpenArchive),
	Create:     createNPZ,
	Writing:    format.Writing{Polarity: true},
}

// ErrLayout reports arrays that hold no events in a known layout.
var ErrLayout = errors.New("no events in a known layout")

const npyMagic = "\x93NUMPY"

// How much is read at a time, whichever is less.
const (
	bufferRows = 64 << 10
	readSize   = 16 << 20 // bytes: a record may have fields that no event needs
)

// arrayOf is a single array as a list.
func arrayOf(r readerAt, size int64) ([]npy.Stored, error) {
	a, err := npy.OpenArray(r, size)
	return []npy.Stored{a}, err
}

func sniff(f format.File, magic string, read reading) format.Proof {
	head := make([]byte, len(magic))
	if n, _ := f.ReadAt(head, 0); n < len(head) || string(head) != magic {
		return format.Proof{}
	}
	const weak = 0.3 // nothing else claims them, and opening them says best what is wrong
	arrays, err := read(f, f.Size)
	if err != nil {
		if magic == npyMagic {
			return format.Proof{Confidence: weak, Why: err.Error()}
		}
		return format.Proof{Why: err.Error()} // most archives are none of arrays
	}
	l, err := find(arrays, format.Policy{TimeUnit: "us"}.WithDefaults()) // what only the caller can know is asked when it is opened
	switch {
	case err == nil:
		return format.Proof{Confidence: 0.95, Why: "NumPy arrays with events: " + l.what}
	case plain(arrays) != nil: // with --columns it may be one
		return format.Proof{Confidence: weak, Why: err.Error()}
	}
	return format.Proof{Why: err.Error()}
}

func opener(name string, read reading) func(context.Context, format.File, format.Policy) (event.Source, error) {
	return func(_ context.Context, f format.File, p format.Policy) (event.Source, error) {
		p = p.WithDefaults()
		info := event.Info{Name: filepath.Base(f.Path), Format: name, Unit: "us", Polarity: "0/1"}
		if f.Size == 0 {
			return format.NewSource(format.Recording{File: f, Policy: p, Info: info, Decode: func(context.Context, event.Request, *event.Report) (format.Decoder, error) {
				return &decoder{err: io.EOF}, nil
			}}), nil
		}
		arrays, err := read(f, f.Size)
		if err != nil {
			return nil, wrongFile(name, err)
		}
		l, err := find(arrays, p)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if name == "npz" && l.lost != 0 {
			return nil, fmt.Errorf("npz: %s holds %d bytes more or less than it declares; the file is damaged", l.what, max(l.lost, -l.lost))
		}
		info.Unit, info.Polarity, info.Events = l.unit.name, l.encoding, l.rows
		info.Geometry = l.sizeOf(arrays)
		info.Streams = l.others
		info.Fields = []event.Field{{Key: "arrays", Value: l.what}}
		l.end = f.Size
		bytes := readSize
		if p.ReadSize > 0 {
			bytes = p.ReadSize
		}
		size := max(1, min(bufferRows, bytes/l.bytes))
		pool := event.NewPool(int(min(int64(size), max(l.rows, 1))))
		return format.NewSource(format.Recording{File: f, Policy: p, Info: info,
			Decode: func(_ context.Context, _ event.Request, rep *event.Report) (format.Decoder, error) {
				return newDecoder(name, l, p, rep, pool)
			},
		}), nil
	}
}

// wrongFile is the error of a file whose arrays cannot be listed. A header stands at the start of its file, and the
// directory of an archive anywhere.
func wrongFile(name string, err error) error {
	if name == "npy" {
		return &format.SyntaxError{Format: name, Msg: err.Error(), Err: err}
	}
	return fmt.Errorf("%s: %w", name, err)
}

func listed(arrays []npy.Stored) string {
	var names []string
	for _, a := range arrays {
		name := a.Name
		if name == "" {
			name = "the array"
		}
		switch {
		case a.Err != nil:
			name += fmt.Sprintf(" (%v)", a.Err)
		case a.Named:
			var fields []string
			for _, f := range a.Fields {
				fields = append(fields, f.Name)
			}
			name += " with the fields " + strings.Join(fields, ", ")
		default:
			name += fmt.Sprintf(" of type %s and shape %v", a.Fields[0].Descr, a.Shape)
		}
		if names = append(names, name); len(names) == 32 {
			break
		}
	}
	if len(names) == 0 {
		return "nothing"
	}
	return strings.Join(names, "; ")
}
