package formattest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
)

// A recorder is a test that keeps its errors for itself.
type recorder struct {
	testing.TB
	errors []string
}

func (r *recorder) Helper() {}
func (r *recorder) Errorf(format string, args ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, args...))
}

// reference3 is the reference of three events and a trigger, computed by hand but for the digests, which are those
// of Python's hashlib over struct.pack("<HHBq", x, y, p, t).
const reference3 = `{"r": {"n": 3, "t_first": 10, "t_last": 12, "x_max": 7, "y_max": 9, "pos": 2, "neg": 1, "sum_x": 15, "sum_y": 21,
 "sum_t_mod64": 33, "nonmonotonic": 0, "head": [[7, 8, 1, 10], [2, 4, 0, 11]], "tail": [[2, 4, 0, 11], [6, 9, 1, 12]],
 "sha256_canonical_sorted": "DIGEST", "sha256_file_order": "DIGEST"}}`

func TestCheckReference(t *testing.T) {
	dir := t.TempDir()
	const digest = "eb7576d5c3bb6988048ba3ce489884989fafb68c3ba56652651fffd4abd141da"
	if err := os.WriteFile(filepath.Join(dir, "REFERENCE.json"), []byte(strings.ReplaceAll(reference3, "DIGEST", digest)), 0o666); err != nil {
		t.Fatal(err)
	}
	check := func(tt []int64, x, y []uint16, p []int8) []string {
		r := &recorder{TB: t}
		CheckReference(r, dir, "r", eventtest.Source(event.New(tt, x, y, p), event.Geometry{}, 2))
		return r.errors
	}
	if errs := check([]int64{10, 11, 12}, []uint16{7, 2, 6}, []uint16{8, 4, 9}, []int8{1, 0, 1}); len(errs) > 0 {
		t.Errorf("the recording itself: %v", errs)
	}
	for name, errs := range map[string][]string{
		"an event less":  check([]int64{10, 11}, []uint16{7, 2}, []uint16{8, 4}, []int8{1, 0}),
		"times":          check([]int64{10, 10, 12}, []uint16{7, 2, 6}, []uint16{8, 4, 9}, []int8{1, 0, 1}),
		"columns":        check([]int64{10, 11, 12}, []uint16{7, 6, 2}, []uint16{8, 4, 9}, []int8{1, 0, 1}),
		"rows":           check([]int64{10, 11, 12}, []uint16{7, 2, 6}, []uint16{8, 5, 8}, []int8{1, 0, 1}),
		"the polarities": check([]int64{10, 11, 12}, []uint16{7, 2, 6}, []uint16{8, 4, 9}, []int8{1, 1, 0}),
	} {
		if len(errs) == 0 {
			t.Errorf("a difference in %s goes unseen", name)
		}
	}
}
