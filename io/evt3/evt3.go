// Package evt3 decodes and encodes Prophesee's EVT3 recordings: 16-bit words that change a state or emit events.
//
// It knows the words and what a scan counts of them; order, off-sensor events and other policies come after it. The
// words are those of docs.prophesee.ai, "EVT 3.0 format", and of OpenEB's evt3_event_types.h; where decoders differ,
// the package follows these rules:
//
//   - Nothing has a time before the first TIME_HIGH: events before it are lost and counted, but addresses are remembered.
//   - A TIME_HIGH that changes sets the time to its base, until the next TIME_LOW; one that repeats changes nothing.
//   - A TIME_HIGH that decreases by at least half its range is the end of the range (+2^24 µs); a smaller decrease is a
//     glitch, taken as it is.
//   - A vector group (12, 12, 8) ends at the first foreign word; the base address stands where the group left it.
//   - CONTINUED words are consumed one by one, never a fixed number of them.
//   - Words of a reserved type, 0x1 among them, are skipped and counted.
//   - A run of 512 zero bytes or more is a block of the file that was never written: no camera sends 256 addresses of row
//     0 in a row. At the end of the file it ends the recording; elsewhere it is damage, and the events behind it are lost
//     until a TIME_HIGH, a TIME_LOW, a row and, for vectors, a base address were read again. Nothing else can be told
//     from words: each of them means something.
package evt3

import "github.com/evq-project/evq/io/rawheader"

const wordSize = 2

// layout is what sets EVT3 apart.
var layout = rawheader.Layout{
	Name:       "evt3",
	Doc:        "Prophesee RAW, EVT3: 16-bit words with vectors of events",
	Facts:      facts,
	Extensions: []string{".raw", ".evt3"},
	Header:     "EVT3",
	Version:    "3.0",
	WordSize:   wordSize,
	PerWord:    12,
	Room:       slack,
	MaxChannel: rawheader.MaxChannel3,
	Decoder:    newDecoder,
	Encoder:    newEncoder,
}

// Format is the entry for the list of formats.
var Format = layout.Format()
