package builtins

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/formats"
	"github.com/evq-project/evq/udf"
	"github.com/evq-project/evq/udf/filtertest"
)

// A filteredRow is what tonic or evlib kept of a recording.
type filteredRow struct {
	Name, Input, Library, Function, Outcome string
	N                                       int    `json:"n"`
	Kept                                    int    `json:"n_kept"`
	FileOrder                               string `json:"sha256_file_order"`
	Parameters                              struct {
		Refractory int64    `json:"refractory_period"`
		RefractUS  int64    `json:"refractory_period_us"`
		FilterTime int64    `json:"filter_time"`
		N          int      `json:"n"`
		Percentile float64  `json:"threshold_percentile"`
		Frequency  float64  `json:"hot_pixel_frequency"`
		Start      *float64 `json:"t_start"`
		End        *float64 `json:"t_end"`
		ROI        []uint16 `json:"roi"`
		Polarity   int      `json:"polarity"`
	}
}

// calls returns the filters that do the same as a row's function, one after the other; none where it is no filter
// with memory.
func (r filteredRow) calls() []string {
	p := r.Parameters
	switch _, f, _ := strings.Cut(r.Function, "."); f {
	case "refractory_period_numpy", "filter_noise":
		return []string{fmt.Sprintf("refractory:period=%dus,against=seen", cmp.Or(p.Refractory, p.RefractUS))}
	case "denoise_numpy":
		return []string{fmt.Sprintf("background_activity:window=%dus,neighbourhood=4,start=zero", p.FilterTime)}
	case "decimate_numpy":
		return []string{fmt.Sprintf("decimate:n=%d", p.N)}
	case "filter_hot_pixels":
		return []string{fmt.Sprintf("hot_pixel:percentile=%g", p.Percentile)}
	case "identify_hot_pixel + drop_pixel_numpy":
		return []string{fmt.Sprintf("hot_pixel:rate=%g", p.Frequency)}
	case "preprocess_events":
		return []string{"hot_pixel", "refractory:against=seen"}
	}
	return nil
}

// predicates keeps what a row asks for beside the filters with memory.
func (r filteredRow) predicates(b event.Batch) event.Batch {
	p := r.Parameters
	keep := make([]bool, b.Len())
	for i, t := range b.T() {
		keep[i] = (p.Start == nil || float64(t) >= *p.Start*1e6) && (p.End == nil || float64(t) <= *p.End*1e6) &&
			(p.ROI == nil || b.X()[i] >= p.ROI[0] && b.X()[i] <= p.ROI[1] && b.Y()[i] >= p.ROI[2] && b.Y()[i] <= p.ROI[3]) &&
			(p.Polarity == 0 || (b.P()[i] == 1) == (p.Polarity == 1))
	}
	return filtertest.Kept(b, keep)
}

// Every result of the filters of tonic and evlib is had from filters of evq, to the last event. Where a library does
// otherwise, docs/semantics.md says how, and so does the test.
func TestFiltersGolden(t *testing.T) {
	dir := eventtest.Data(t)
	text, err := os.ReadFile(filepath.Join(dir, "repr_golden", "GOLDEN.json"))
	if err != nil {
		t.Fatal(err)
	}
	var golden struct {
		Inputs []struct {
			Name, File    string
			Width, Height int
		}
		Rows, Filters []json.RawMessage
	}
	if err := json.Unmarshal(text, &golden); err != nil {
		t.Fatal(err)
	}
	inputs := map[string]recorded{}
	for _, in := range golden.Inputs {
		r := record(t, filepath.Join(dir, "repr_golden", in.File))
		r.size = event.Geometry{Width: in.Width, Height: in.Height}
		inputs[in.Name] = r
	}
	done := 0
	for _, raw := range append(golden.Rows, golden.Filters...) {
		var head struct{ Input, Function string }
		if err := json.Unmarshal(raw, &head); err != nil {
			t.Fatal(err)
		}
		if (filteredRow{Function: head.Function}).calls() == nil {
			continue
		}
		var row filteredRow
		if err := json.Unmarshal(raw, &row); err != nil {
			t.Fatal(err)
		}
		if _, ok := inputs[row.Input]; !ok {
			inputs[row.Input] = record(t, filepath.Join(dir, row.Input))
		}
		row.check(t, inputs[row.Input])
		done++
	}
	if done < 70 {
		t.Errorf("only %d results were compared", done)
	}
}

// A recorded input is all of a recording.
type recorded struct {
	events event.Batch
	size   event.Geometry
}

func record(t *testing.T, path string) recorded {
	t.Helper()
	src, err := formats.Open(t.Context(), path, "", format.Policy{OnUnsorted: "error", OnOffSensor: "keep"}.WithDefaults())
	if err != nil {
		t.Fatal(err)
	}
	defer src.(io.Closer).Close()
	return recorded{eventtest.Drain(t, src, event.All), src.Geometry()}
}

func (r filteredRow) check(t *testing.T, in recorded) {
	t.Helper()
	b := r.predicates(in.events)
	for _, call := range r.calls() {
		name, args, err := udf.ParseCall(call)
		if err != nil {
			t.Fatal(err)
		}
		e, _ := LookupFilter(name)
		f, err := e.Make(args)
		if err != nil {
			t.Fatal(err)
		}
		keep := filtertest.Sift(t, f, b, in.size, 4096)
		if r.Library == "tonic" && name == "refractory" {
			dropFirst(b, keep)
		}
		b = filtertest.Kept(b, keep)
	}
	if r.Outcome == "raises" {
		if b.Len() != 0 {
			t.Errorf("%s: the library raises an error, though %d events are kept", r.Name, b.Len())
		}
		return
	}
	if digest, _ := eventtest.Digest(b); digest != r.FileOrder {
		t.Errorf("%s %s of %s with %+v: %d events are kept, not the %d that are", r.Library, r.Function, r.Input, r.Parameters, b.Len(), r.N+r.Kept)
	}
}

// dropFirst does what tonic does beside: it drops the first event of a pixel at t <= 0.
func dropFirst(b event.Batch, keep []bool) {
	seen := map[[2]uint16]bool{}
	for i, t := range b.T() {
		at := [2]uint16{b.X()[i], b.Y()[i]}
		keep[i] = keep[i] && (seen[at] || t > 0)
		seen[at] = true
	}
}
