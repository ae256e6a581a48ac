// Package evt2 decodes and encodes Prophesee's EVT2 recordings: 32-bit words of one event each, and a time base between
// them.
//
// It knows the words and what a scan counts of them; order, off-sensor events and other policies come after it. The
// words are those of docs.prophesee.ai, "EVT 2.0 format", and of OpenEB's evt2_event_types.h; where decoders differ,
// the package follows these rules:
//
//   - Nothing has a time before the first TIME_HIGH: events before it are lost and counted.
//   - A TIME_HIGH that decreases by at least half its range is the end of the range (+2^34 µs), once; a smaller decrease
//     is a glitch, taken as it is.
//   - Words of other things (OTHERS, IMU and their CONTINUED words) and of reserved types are skipped and counted.
//   - A run of 512 zero bytes or more is a block of the file that was never written: no pixel sends 128 equal events in a
//     microsecond. At the end of the file it ends the recording; elsewhere it is damage, and the events behind it up to
//     the next TIME_HIGH have no time. Nothing else can be told from words: each of them means something.
package evt2

import "github.com/evq-project/evq/io/rawheader"

const wordSize = 4

// layout is what sets EVT2 apart.
var layout = rawheader.Layout{
	Name:       "evt2",
	Doc:        "Prophesee RAW, EVT2: 32-bit words of one event each",
	Facts:      facts,
	Extensions: []string{".evt2"},
	Header:     "EVT2",
	Version:    "2.0",
	WordSize:   wordSize,
	PerWord:    1,
	Room:       1,
	MaxChannel: rawheader.MaxChannel2,
	Decoder:    newDecoder,
	Encoder:    newEncoder,
}

// Format is the entry for the list of formats.
var Format = layout.Format()
