package format

// Facts say of a format what docs/formats.md and docs/conformance.md show of it, in sentences or parts of one. What the
// zero value of a field means stands with it.
type Facts struct {
	Proof    string   // what proves a file to be of the format, of which detection is sure
	Time     string   // unit, width, origin and wraps
	Polarity string   // how it is stored
	Triggers string   // where external triggers stand; "" = the format has no place for them
	Streams  string   // what else the format may hold, and what becomes of it; "" = nothing
	Counts   string   // what a scan counts beside policies, by the counters' names; "" = nothing
	Options  string   // flags that decide how it is read; "" = none
	Writes   string   // what the writer writes and what it refuses; "" = read only
	Doubts   []string // what no document settles, and what evq does
	Checks   []Check  // who else decodes the same, on which recordings
	Unproven string   // what no independent decoder was run on; "" = nothing
}

// A Check is an independent program that decodes recordings to the same events.
type Check struct {
	Program   string // with its version or commit
	Recording string // what it decoded, and whether a camera made it
	Result    string // what was equal
}
