package formattest

import (
	"errors"
	"strings"
	"testing"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/format"
)

// A Salvage is a recording with damage before its end, and what is left of it.
type Salvage struct {
	Name   string
	Data   []byte
	Policy format.Policy
	Offset int64 // of the syntax error that ends a scan without Policy.Salvage
	// What a scan with it yields: the events, the counters that are not zero, and what a note says of each damaged range.
	Want     []Event
	Counters map[event.Counter]int64
	Notes    []string
	OnDisk   bool // as in Case
}

// CheckSalvage holds a format to what it must do with damage: end with an error that says where and what to try, or,
// under Policy.Salvage, name each range, count its bytes as lost and yield the rest, whatever the size of reads.
func CheckSalvage(t *testing.T, f format.Format, cases ...Salvage) {
	t.Helper()
	for _, s := range cases {
		t.Run(s.Name, func(t *testing.T) {
			c := Case{Name: s.Name, Data: s.Data, OnDisk: s.OnDisk, Want: s.Want, Counters: s.Counters, Policy: s.Policy}
			_, _, err := format.Drain(t.Context(), c.open(t, f, s.Policy))
			var syntax *format.SyntaxError
			if !errors.As(err, &syntax) || syntax.Offset != s.Offset || !strings.HasSuffix(err.Error(), "(try --salvage)") {
				t.Errorf("without salvage: error %v, want a syntax error at %#x that says to try it", err, s.Offset)
			}
			c.Policy.Salvage = true
			for _, c.Policy.ReadSize = range []int{0, 1, 7, 64, 4096} {
				c.decode(t, f)
			}
			_, rep, err := format.Drain(t.Context(), c.open(t, f, c.Policy))
			if err != nil {
				t.Fatal(err)
			}
			if got := rep.Get(event.DamagedBytes); got.N > 0 && (got.Lost != got.N || got.First != s.Offset) {
				t.Errorf("damaged bytes are %+v, want all of them lost and the first at %#x", got, s.Offset)
			}
			notes := strings.Join(rep.Notes, "\n")
			for _, want := range s.Notes {
				if !strings.Contains(notes, want) {
					t.Errorf("no note says %q:\n%s", want, notes)
				}
			}
		})
	}
}
