package exprs_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/evq-project/evq/exprs"
)

func TestParseCalls(t *testing.T) {
	calls, err := exprs.ParseCalls("count, mean(x // 2) AS center, span(), Corr(x, y - 1)")
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(calls); got != "[{count [] } {mean [x // 2] center} {span [] } {corr [x y - 1] }]" {
		t.Error(got)
	}
	for text, pos := range map[string]int{"": 0, "count,": 6, "3": 0, "mean(x": 6, "mean(x,)": 7, "mean(,x)": 5, "mean(x = 1)": 7, "mean(x) as": 10, "mean x": 5} {
		_, err := exprs.ParseCalls(text)
		var at *exprs.SyntaxError
		if !errors.As(err, &at) || at.Pos != pos {
			t.Errorf("%q: %v, want at %d", text, err, pos)
		}
	}
}
