package docs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/evq-project/evq/engine"
	"github.com/evq-project/evq/exprs"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
)

// A pixel that is hit twice counts 2: the command prints of the worked example what the document says.
func TestWorkedExample(t *testing.T) {
	evq := buildCommand(t)
	dir := t.TempDir()
	const events = "t,x,y,p\n0,0,0,1\n4000,0,0,1\n30000,0,0,0\n49000,0,0,1\n"
	if err := os.WriteFile(filepath.Join(dir, "twice.csv"), []byte(events), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range readTable(t, "semantics.md", "flags", "rows") {
		if len(c) != 2 {
			t.Fatalf("the row %q has %d columns", c, len(c))
		}
		out := runShell(t, evq, dir, "evq query twice.csv "+c[0])
		if got := withoutWindows(out); got != c[1] {
			t.Errorf("%s prints %q, docs/semantics.md says %q", c[0], got, c[1])
		}
	}
}

// withoutWindows joins lines of CSV, without the columns that repeat what a window is.
func withoutWindows(csv string) string {
	lines := strings.Fields(csv)
	var out []string
	names := strings.Split(lines[0], ",")
	for _, line := range lines {
		var kept []string
		for i, v := range strings.Split(line, ",") {
			if n := names[i]; n != "window" && n != "window_end" && n != "window_events" {
				kept = append(kept, v)
			}
		}
		out = append(out, strings.Join(kept, ","))
	}
	return strings.Join(out, " ")
}

// Transforms move the example's event to where the document says.
func TestTransformsOfTheDocument(t *testing.T) {
	g := event.Geometry{Width: 64, Height: 48}
	src := eventtest.Source(event.New([]int64{1000}, []uint16{10}, []uint16{5}, []int8{1}), g, 1)
	for _, c := range readTable(t, "semantics.md", "transform") {
		name, param, _ := strings.Cut(c[0], " ")
		by, err := exprs.NewTransform(name, param)
		if err != nil {
			t.Fatal(err)
		}
		frame := engine.Scan(src).Map(by)
		b, err := frame.Collect(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got := "dropped"
		if b.Len() == 1 {
			got = fmt.Sprintf("%d,%d", b.X()[0], b.Y()[0])
			if b.T()[0] != 1000 {
				got += fmt.Sprintf(" at %d", b.T()[0])
			}
		}
		if size := frame.Source().Geometry().String(); got != c[1] || size != c[2] {
			t.Errorf("%s: %s on %s, docs/semantics.md says %s on %s", c[0], got, size, c[1], c[2])
		}
	}
}

// Expressions are what the document says, and those it shows as examples can be read.
func TestExpressionsOfTheDocument(t *testing.T) {
	one := event.New([]int64{7_500_123}, []uint16{10}, []uint16{5}, []int8{1})
	for _, c := range readTable(t, "semantics.md", "text", "is") {
		got := ""
		if e, err := exprs.Parse(c[0]); err == nil {
			keep := []bool{true}
			e.Mask(one, keep)
			got = fmt.Sprint(keep[0])
		} else if v, err := exprs.ParseValue(c[0]); err == nil {
			out := []int64{0}
			v.Eval(one, out)
			got = fmt.Sprint(out[0])
		} else {
			t.Error(err)
		}
		if got != c[1] {
			t.Errorf("%s is %s, docs/semantics.md says %s", c[0], got, c[1])
		}
	}
	shown := regexp.MustCompile("`([^`]+)` is `([^`]+)`").FindSubmatch(read(t, "docs/semantics.md"))
	a, errA := exprs.Parse(string(shown[1]))
	b, errB := exprs.Parse(string(shown[2]))
	if errA != nil || errB != nil || a.String() != b.String() {
		t.Errorf("%s and %s: %v %v, %v %v", shown[1], shown[2], a, b, errA, errB)
	}
	keys, err := exprs.ParseKeys("pixel, row, column, tile(16)")
	same, err2 := exprs.ParseKeys("y, x, y as row, x as column, y // 16 as tile_y, x // 16 as tile_x")
	if err != nil || err2 != nil || fmt.Sprint(keys) != fmt.Sprint(same) {
		t.Errorf("%v, %v: %v, %v", keys, same, err, err2)
	}
}
