package builtins

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/npy"
	"github.com/evq-project/evq/io/tensor"
	"github.com/evq-project/evq/udf"
)

// A goldenRow is one result of tonic or evlib.
type goldenRow struct {
	Name, Input, Library, Function, File, Compare, Outcome string
	Shape                                                  []int
	Parameters                                             struct {
		Bins         int     `json:"n_time_bins"`
		EventBins    int     `json:"n_event_bins"`
		Overlap      float64 `json:"overlap"`
		TimeWindow   int64   `json:"time_window"`
		EventCount   int     `json:"event_count"`
		StartTime    *int64  `json:"start_time"`
		Dt           int64   `json:"dt"`
		Tau          float64 `json:"tau"`
		CellSize     int     `json:"cell_size"`
		SurfaceSize  int     `json:"surface_size"`
		Decay        string  `json:"decay"`
		Frames       int     `json:"n_frames"`
		Bits         int     `json:"n_bits"`
		Milliseconds float64 `json:"window_duration_ms"`
		Slices       int     `json:"bins"`
	}
}

// differing are the rows that evq does not give, and why. docs/semantics.md says the same.
var differing = map[string]string{
	"tonic_voxel_tiny_equal_b5":   "NaN where all events lie at one time",
	"tonic_voxel_tiny_equal_b10":  "NaN where all events lie at one time",
	"tonic_voxel_tiny_single_b5":  "NaN for one event",
	"tonic_voxel_tiny_single_b10": "NaN for one event",
	"evlib_frame_tiny_short_b10":  "evlib puts all events of a span below the number of bins in bin 0",
}

// Every result of tonic and evlib is had from a representation, within the tolerance that is stated for it.
func TestGolden(t *testing.T) {
	dir := filepath.Join(eventtest.Data(t), "repr_golden")
	text, err := os.ReadFile(filepath.Join(dir, "GOLDEN.json"))
	if err != nil {
		t.Fatal(err)
	}
	var golden struct {
		Inputs []struct {
			Name, File    string
			Width, Height int
		}
		Rows []json.RawMessage
	}
	if err := json.Unmarshal(text, &golden); err != nil {
		t.Fatal(err)
	}
	inputs, sizes := map[string]event.Batch{}, map[string]event.Geometry{}
	for _, in := range golden.Inputs {
		a := arrays(t, filepath.Join(dir, in.File))
		var b event.Buffer
		for i, at := range a["t"] {
			b.Append(int64(at), uint16(a["x"][i]), uint16(a["y"][i]), int8(a["p"][i]))
		}
		inputs[in.Name], sizes[in.Name] = b.Batch(), event.Geometry{Width: in.Width, Height: in.Height}
	}
	done := 0
	for _, raw := range golden.Rows {
		var row goldenRow
		if err := json.Unmarshal(raw, &row); err != nil {
			if strings.Contains(string(raw), "downsample") {
				continue
			}
			t.Fatal(err)
		}
		call, w := row.query(inputs[row.Input])
		if call == "" {
			continue
		}
		done++
		got, dtype, off := run(t, call, sizes[row.Input], w)
		why := row.compare(t, dir, got, dtype)
		if row.Outcome == "raises" {
			why = ""
			if off == 0 {
				why = "the library raises an error, but no event lies off the sensor"
			}
		}
		if _, known := differing[row.Name]; known != (why != "") {
			t.Errorf("%s as %s: %s (known to differ: %v)", row.Name, call, why, known)
		}
	}
	if done != 181 {
		t.Errorf("%d rows were compared, not 181", done)
	}
}

// query returns what gives a row: a representation, and the windows whose blocks follow one another in it.
func (r goldenRow) query(b event.Batch) (call string, w event.Windowed) {
	p, t := r.Parameters, b.T()
	all := event.Windowed{Events: b, Windows: []event.Window{{Start: t[0], End: t[len(t)-1], Hi: len(t)}}}
	n := 10 // enough to meet what the library raises an error for
	if len(r.Shape) > 0 {
		n = r.Shape[0]
	}
	switch _, function, _ := strings.Cut(r.Function, "."); {
	case strings.HasPrefix(function, "to_voxel_grid"), strings.HasPrefix(r.Function, "create_voxel_grid"):
		return fmt.Sprintf("voxel_grid:bins=%d", p.Bins), all
	case strings.HasPrefix(r.Function, "create_event_frame"):
		if (t[len(t)-1]-t[0])/int64(p.Bins) == 0 {
			return fmt.Sprintf("event_frame:bins=%d", p.Bins), all
		}
		return fmt.Sprintf("event_frame:bins=%d,variant=tonic", p.Bins), all
	case strings.HasPrefix(r.Function, "create_stacked_histogram"):
		step := p.Milliseconds * 1000
		return "event_frame", every(b, float64(t[0]), step, step, 0, n)
	case strings.Contains(r.Function, "column polarity_sum"):
		return "event_frame:signed=true", all
	case strings.Contains(r.Function, "column count"):
		return "event_count", all
	case strings.HasPrefix(function, "to_bina_rep"):
		return fmt.Sprintf("bina_rep:frames=%d,bits=%d,variant=tonic", p.Frames, p.Bits), all
	case strings.HasPrefix(function, "to_averaged"):
		decay := map[string]string{"exp": "exp", "lin": "linear"}[p.Decay]
		return fmt.Sprintf("averaged_time_surface:cell=%d,radius=%d,span=%d,tau=%.0f,decay=%s", p.CellSize, p.SurfaceSize/2, p.TimeWindow, p.Tau, decay), all
	case strings.HasPrefix(function, "to_timesurface"), strings.HasPrefix(r.Function, "create_time_surface"):
		// tonic lets a surface decay to t0+(i+1)*dt, also where slices overlap and end earlier.
		return fmt.Sprintf("time_surface:tau=%.0f,memory=recording", p.Tau), every(b, float64(t[0]), float64(p.Dt)-p.Overlap, float64(p.Dt), float64(p.Dt), n)
	case !strings.HasPrefix(function, "to_frame"):
		return "", w
	case p.Bins > 0 && p.Overlap == 0:
		return fmt.Sprintf("event_frame:bins=%d,variant=tonic", p.Bins), all
	case p.Bins > 0:
		length := float64((t[len(t)-1]-t[0])/int64(p.Bins)) * (1 + p.Overlap)
		return "event_frame", every(b, float64(t[0]), length*(1-p.Overlap), length, 0, n)
	case p.TimeWindow > 0:
		start := t[0]
		if p.StartTime != nil {
			start = *p.StartTime
		}
		return "event_frame", every(b, float64(start), float64(p.TimeWindow)-p.Overlap, float64(p.TimeWindow), 0, n)
	case p.EventCount > 0:
		return "event_frame", counts(b, p.EventCount-int(p.Overlap), p.EventCount, n)
	}
	length := int(float64(len(t)/p.EventBins) * (1 + p.Overlap))
	return "event_frame", counts(b, int(float64(length)*(1-p.Overlap)), length, n)
}

// every cuts n windows [start, start+length), each a step after the one before. They end, for a surface, every so many
// microseconds where that is not 0.
func every(b event.Batch, start, step, length, ends float64, n int) event.Windowed {
	w, since := event.Windowed{Events: b}, 0
	at := func(limit float64) int {
		return sort.Search(b.Len(), func(i int) bool { return float64(b.T()[i]) >= limit })
	}
	for i := range n {
		from := start + float64(i)*step
		win := event.Window{Index: i, Start: int64(from), End: int64(from + length), Lo: at(from), Hi: at(from + length), Since: since}
		if ends > 0 {
			win.End = int64(start + float64(i+1)*ends)
		}
		w.Windows, since = append(w.Windows, win), win.Hi
	}
	return w
}

// counts cuts n windows of so many events.
func counts(b event.Batch, step, length, n int) event.Windowed {
	w := event.Windowed{Events: b}
	for i := range n {
		lo := min(i*step, b.Len())
		w.Windows = append(w.Windows, event.Window{Index: i, Lo: lo, Hi: min(lo+length, b.Len())})
	}
	return w
}

// compare says where values differ from a row's by more than its tolerance allows, and by what a float32 rounds.
func (r goldenRow) compare(t *testing.T, dir string, got []byte, dtype tensor.DType) string {
	if r.Outcome == "raises" {
		return ""
	}
	var absolute, relative float64
	for text, into := range map[string]*float64{"1e-9 absolute": &absolute, "1e-12 relative": &relative, "1e-4 relative": &relative, "1e-6 relative": &relative} {
		if strings.HasPrefix(r.Compare, text) {
			fmt.Sscanf(text, "%g", into)
		}
	}
	if absolute+relative == 0 && r.Compare != "exact" {
		t.Fatalf("%s: unknown tolerance %q", r.Name, r.Compare)
	}
	a, n := arrays(t, filepath.Join(dir, r.File)), tensor.Shape(r.Shape).Len()
	if len(got) != n*dtype.Size() {
		return fmt.Sprintf("%d bytes of %v for the shape %v", len(got), dtype, r.Shape)
	}
	flat, size := a["flat"], dtype.Size() // the places of values that are not 0, in order
	const run = 1024
	for i := 0; i < n; i++ {
		if end := i + run; end <= n && (len(flat) == 0 || int(flat[0]) >= end) && bytes.Equal(got[i*size:end*size], zeros[:run*size]) {
			i = end - 1
			continue
		}
		want := 0.0
		if len(flat) > 0 && int(flat[0]) == i {
			want = a["values"][len(a["values"])-len(flat)]
			flat = flat[1:]
		}
		room := absolute + relative*math.Abs(want)
		if dtype == tensor.Float32 {
			room += math.Abs(want)/(1<<24) + math.SmallestNonzeroFloat32
		}
		if v := values(got[i*size:(i+1)*size], dtype)[0]; !(math.Abs(v-want) <= room) {
			return fmt.Sprintf("value %d is %v, want %v", i, v, want)
		}
	}
	return ""
}

// zeros is as long as a run of values of any type.
var zeros [8 * 1024]byte

// arrays reads the arrays of a .npz file.
func arrays(t testing.TB, path string) map[string][]float64 {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	stored, err := npy.OpenArchive(f, info.Size())
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]float64{}
	for _, a := range stored {
		r, err := a.Open()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		r.Close()
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i+a.Record <= len(data); i += a.Record {
			out[a.Name] = append(out[a.Name], number(t, data[i:i+a.Record], a.Fields[0].Kind))
		}
	}
	return out
}

func number(t testing.TB, b []byte, kind byte) float64 {
	u := uint64(0)
	for i := range b {
		u |= uint64(b[i]) << (8 * i)
	}
	switch fmt.Sprintf("%c%d", kind, len(b)) {
	case "u1", "u2", "u4":
		return float64(u)
	case "i1":
		return float64(int8(u))
	case "i2":
		return float64(int16(u))
	case "i4":
		return float64(int32(u))
	case "i8":
		return float64(int64(u))
	case "f4":
		return float64(math.Float32frombits(uint32(u)))
	case "f8":
		return math.Float64frombits(u)
	}
	t.Fatalf("arrays of %c%d are not known", kind, len(b))
	return 0
}

// values are the elements of blocks.
func values(data []byte, d tensor.DType) (out []float64) {
	out = make([]float64, 0, len(data)/d.Size())
	for i := 0; i < len(data); i += d.Size() {
		switch b := data[i:]; d {
		case tensor.Uint8:
			out = append(out, float64(b[0]))
		case tensor.Int8:
			out = append(out, float64(int8(b[0])))
		case tensor.Uint32:
			out = append(out, float64(binary.LittleEndian.Uint32(b)))
		case tensor.Int32:
			out = append(out, float64(int32(binary.LittleEndian.Uint32(b))))
		case tensor.Int64:
			out = append(out, float64(int64(binary.LittleEndian.Uint64(b))))
		case tensor.Float32:
			out = append(out, float64(math.Float32frombits(binary.LittleEndian.Uint32(b))))
		}
	}
	return out
}

// made makes the representation of a call.
func made(t testing.TB, call string) udf.Representation {
	t.Helper()
	name, args, err := udf.ParseCall(call)
	if err != nil {
		t.Fatal(err)
	}
	entry, ok := Lookup(name)
	if !ok {
		t.Fatalf("there is no %s", name)
	}
	rep, err := entry.Make(args)
	if err != nil {
		t.Fatal(err)
	}
	return rep
}
