// Package nmnist decodes the .bin files of N-MNIST and N-Caltech101, which slayer calls .bs2: records of five bytes without a
// header.
//
// It knows the records and what a scan counts of them; order, off-sensor events and other policies come after it. The
// records are those of Orchard et al., "Converting Static Image Datasets to Spiking Neuromorphic Datasets Using
// Saccades", 2015, and of its reader in event-Python: x, y, then 24 bits whose highest is the polarity (set = ON) and
// the others a big-endian time in microseconds. A record with y = 240 is no event: it says that the clock overflowed, and adds
// 2^13 µs to all times from there on.
//
// A run of 512 zero bytes or more behind a time that is not 0 is a block of the file that was never written: at the end
// of the file it ends the recording, elsewhere it is damage. Nothing else can be told from records.
//
// The size of the sensor is not in the file: 34x34 in N-MNIST, up to 240x180 in N-Caltech101.
package nmnist

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/rawheader"
)

const name = "nmnist"

// Format is the entry for the list of formats.
var Format = format.Format{
	Name:       name,
	Doc:        "N-MNIST and N-Caltech101 .bin: records of five bytes",
	Facts:      facts,
	Extensions: []string{".bin", ".bs2"},
	Sniff:      sniff,
	Open:       open,
}

const (
	// minRecords is how many records prove the format: times of so many random records rise once in 16! = 2·10^13 files.
	minRecords = 16
	maxRecords = 4096 // that a proof looks at
	// confidence is less than that of any format with a first line or a magic number.
	confidence = 0.6
)

// sniff goes by the times of the first records, which never fall: there is nothing else to go by.
func sniff(f format.File) format.Proof {
	switch {
	case f.Size%recordSize != 0:
		return format.Proof{Why: "its size is no multiple of 5 bytes"}
	case f.Size < minRecords*recordSize:
		return format.Proof{Why: fmt.Sprintf("it has fewer than %d records of 5 bytes, too few to prove anything", minRecords)}
	}
	b := make([]byte, min(f.Size, maxRecords*recordSize))
	if n, err := f.ReadAt(b, 0); n < len(b) && !errors.Is(err, io.EOF) {
		return format.Proof{Why: err.Error()}
	} else if n < len(b) {
		return format.Proof{Why: "it is shorter than its size"}
	}
	if isText(b) {
		return format.Proof{Why: "it is text"}
	}
	if !rises(b) {
		return format.Proof{Why: "its times do not rise from record to record of 5 bytes"}
	}
	return format.Proof{
		Confidence: confidence,
		Why:        fmt.Sprintf("its size is a multiple of 5 bytes and the times of its first %d records rise", len(b)/recordSize),
	}
}

// rises reports whether no time is before the one that precedes it, and most are after it.
func rises(b []byte) bool {
	var last, overflow int64
	steps := 0
	for i := 0; i < len(b); i += recordSize {
		if b[i+1] == overflowRow {
			overflow += overflowTime
		}
		t := timeOf(b[i:]) + overflow
		if i > 0 && t < last {
			return false
		}
		if i > 0 && t > last {
			steps++
		}
		last = t
	}
	return steps*2 >= len(b)/recordSize-1
}

// isText reports whether b holds printable characters and white space only.
func isText(b []byte) bool {
	for _, c := range b {
		if (c < ' ' || c > '~') && c != '\n' && c != '\r' && c != '\t' {
			return false
		}
	}
	return true
}

func open(_ context.Context, f format.File, p format.Policy) (event.Source, error) {
	p = p.WithDefaults()
	pool := event.NewPool(int(min(rawheader.BufferSize, f.Size/recordSize+1)))
	return format.NewSource(format.Recording{
		File:   f,
		Policy: p,
		Info: event.Info{
			Name: filepath.Base(f.Path), Format: name, Unit: "us", Polarity: "0/1", Events: -1,
		},
		Decode: func(_ context.Context, _ event.Request, rep *event.Report) (format.Decoder, error) {
			none := &rawheader.Triggers{}
			d := &decoder{Scan: rawheader.Scan{Policy: p, Report: rep, Triggers: none}}
			return rawheader.NewDecoder(rawheader.NewPayload(f, 0, f.Size, recordSize, p.ReadSize), d, pool, none), nil
		},
	}), nil
}
