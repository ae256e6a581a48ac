package format

import "github.com/evq-project/evq/io/event"

// trySalvage ends the message of damage that Policy.Salvage passes over.
const trySalvage = " (try --salvage)"

// Damaged returns the error of damage before the tail, at a byte offset, that Policy.Salvage would pass over. err is
// what shows it, nil where msg says all.
func Damaged(format string, offset int64, msg string, err error) *SyntaxError {
	return &SyntaxError{Format: format, Offset: offset, Msg: msg + trySalvage, Err: err}
}

// maxRanges bounds how many damaged ranges of a scan are named, for a file may be damaged throughout.
const maxRanges = 100

// A Damage counts and names the damaged ranges that one scan passes over. The zero Damage is that of a scan which has
// met none.
type Damage struct{ named int }

// Skip counts the bytes from up to to as lost and names them. what says what they were and what was lost with them.
func (d *Damage) Skip(rep *event.Report, from, to int64, what string) {
	rep.Lose(event.DamagedBytes, to-from, from)
	d.note(rep, "bytes %#x-%#x are damaged and left out: %s.", from, to-1, what)
}

// Missing counts and names what is lost of n bytes that belong to what the byte at says, and are not in the file.
func (d *Damage) Missing(rep *event.Report, at, n int64, what string) {
	rep.Lose(event.DamagedBytes, n, at)
	d.note(rep, "what belongs to byte %#x is not in the file: %s.", at, what)
}

func (d *Damage) note(rep *event.Report, format string, args ...any) {
	switch d.named++; {
	case d.named <= maxRanges:
		rep.Note(format, args...)
	case d.named == maxRanges+1:
		rep.Note("more damaged ranges follow; they are counted, not named.")
	}
}
