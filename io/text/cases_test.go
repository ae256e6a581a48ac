package text

import (
	"strings"
	"testing"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/format"
)

// Comments, names, separators, line ends, a byte order mark, blank lines and trailing blanks: the same events.
func TestVariantsAreEqual(t *testing.T) {
	want := event.New([]int64{7, 70, 700}, []uint16{3, 30, 4}, []uint16{5, 50, 6}, []int8{0, 1, 1})
	const plain = "7,3,5,0\n70,30,50,1\n700,4,6,1\n"
	swap := func(old, by string) string { return strings.ReplaceAll(plain, old, by) }
	for name, data := range map[string]string{
		"commas":           plain,
		"spaces":           swap(",", " "),
		"many spaces":      swap(",", "   "),
		"tabs":             swap(",", "\t"),
		"semicolons":       swap(",", ";"),
		"commas and blank": swap(",", ", "),
		"names":            "t,x,y,p\n" + plain,
		"other names":      "timestamp;col;row;polarity\n" + swap(",", ";"),
		"comments":         "# one\n% two\n" + plain + "# three\n",
		"carriage returns": swap("\n", "\r\n"),
		"byte order mark":  "\xEF\xBB\xBF" + plain,
		"mark and names":   "\xEF\xBB\xBFt,x,y,p\r\n" + swap("\n", "\r\n"),
		"blank lines":      "\n\n" + swap("\n", "\n\n"),
		"trailing blanks":  swap("\n", "  \n"),
		"trailing tabs":    strings.ReplaceAll(swap(",", " "), "\n", "\t\n"),
		"leading blanks":   "  " + swap("\n7", "\n  7"),
		"no last newline":  strings.TrimSuffix(plain, "\n"),
	} {
		_, b, _, err := drain(t, data, format.Policy{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if d := eventtest.Diff(b, want); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
	named := format.Policy{Columns: []string{"p", "-", "y", "x", "t"}}
	if _, b, _, err := drain(t, "0 9 5 3 7\n1 9 50 30 70\n1 9 6 4 700\n", named); err != nil || eventtest.Diff(b, want) != "" {
		t.Errorf("named columns: %v, %v", b.T(), err)
	}
}
