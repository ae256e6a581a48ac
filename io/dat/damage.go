package dat

import "github.com/evq-project/evq/io/event"

// maxRanges bounds how many damaged ranges are named, for a file may be damaged throughout.
const maxRanges = 100

// A damage is the run of damaged records that goes on, and how many runs were named before it.
type damage struct {
	start, end int64
	named      int
}

// skip leaves out the damaged record at the byte at.
func (d *damage) skip(rep *event.Report, at int64) {
	rep.Lose(event.DamagedBytes, recordSize, at)
	if at != d.end {
		d.note(rep)
		d.start = at
	}
	d.end = at + recordSize
}

// note names the run, if there is one.
func (d *damage) note(rep *event.Report) {
	if d.end == d.start {
		return
	}
	switch d.named++; {
	case d.named <= maxRanges:
		rep.Note("The bytes %d to %d are damaged and left out.", d.start, d.end-1)
	case d.named == maxRanges+1:
		rep.Note("More damaged ranges follow; they are counted, not named.")
	}
	d.start = d.end
}

// Blank implements rawheader.Blanker. Records of time 0 behind another time are none.
func (d *decoder) Blank(from, to int64, tail bool) (bool, error) {
	if !d.running || d.last == 0 {
		return false, nil
	}
	return d.Scan.Blank(name, from, to, tail, "")
}
