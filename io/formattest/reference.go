package formattest

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/evq-project/evq/io/event"
)

// A reference is what independent decoders say of a recording: one entry of REFERENCE.json.
type reference struct {
	N             int64      `json:"n"`
	TFirst        int64      `json:"t_first"`
	TLast         int64      `json:"t_last"`
	XMax          uint16     `json:"x_max"`
	YMax          uint16     `json:"y_max"`
	Pos           int64      `json:"pos"`
	Neg           int64      `json:"neg"`
	SumX          uint64     `json:"sum_x"`
	SumY          uint64     `json:"sum_y"`
	SumT          uint64     `json:"sum_t_mod64"`
	Nonmonotonic  int64      `json:"nonmonotonic"`
	Head          [][4]int64 `json:"head"` // x, y, p, t
	Tail          [][4]int64 `json:"tail"`
	Sorted        string     `json:"sha256_canonical_sorted"`
	FileOrder     string     `json:"sha256_file_order"`
	Triggers      int64      `json:"triggers"`
	TriggerHead   [][3]int64 `json:"trigger_head_value_id_t"`
	TriggerSumT   int64      `json:"trigger_sum_t"`
	checkTriggers bool
}

// CheckReference scans src and compares it with what the REFERENCE.json in dataDir says of the recording name:
// numbers, extremes, sums, the first and last events, the digests and the triggers. The digest in file order is
// compared where the recording is in time order, so that it holds under every order policy.
func CheckReference(t testing.TB, dataDir, name string, src event.Source) {
	t.Helper()
	want := loadReference(t, dataDir, name)
	events, triggers, _ := Collect(t, src)
	got := summarise(events)
	if got.N != want.N {
		t.Errorf("%s: %d events, want %d", name, got.N, want.N)
	}
	same := func(what string, got, want any) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %s is %v, want %v", name, what, got, want)
		}
	}
	same("x_max", got.XMax, want.XMax)
	same("y_max", got.YMax, want.YMax)
	same("number of ON events", got.Pos, want.Pos)
	same("number of OFF events", got.Neg, want.Neg)
	same("sum of x", got.SumX, want.SumX)
	same("sum of y", got.SumY, want.SumY)
	same("sum of t", got.SumT, want.SumT)
	same("digest of the sorted events", got.Sorted, want.Sorted)
	if want.Nonmonotonic == 0 {
		same("first t", got.TFirst, want.TFirst)
		same("last t", got.TLast, want.TLast)
		same("digest in file order", got.FileOrder, want.FileOrder)
		compareEnds(t, name, events, want)
	}
	// The HDF5 recordings were made from a raw one whose triggers the reference counts; their layout has none.
	if want.checkTriggers && !strings.HasPrefix(name, "h5_derived/") {
		compareTriggers(t, name, triggers, want)
	}
}

// References lists the recordings of some folders of dataDir that its REFERENCE.json knows, sorted.
func References(t testing.TB, dataDir string, folders ...string) []string {
	t.Helper()
	var names []string
	for name := range loadReferences(t, dataDir) {
		if slices.Contains(folders, path.Dir(name)) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func loadReferences(t testing.TB, dataDir string) map[string]json.RawMessage {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dataDir, "REFERENCE.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

func loadReference(t testing.TB, dataDir, name string) reference {
	t.Helper()
	all := loadReferences(t, dataDir)
	entry, ok := all[name]
	if !ok {
		t.Fatalf("REFERENCE.json does not know %s", name)
	}
	var want reference
	if err := json.Unmarshal(entry, &want); err != nil {
		t.Fatalf("REFERENCE.json: %s: %v", name, err)
	}
	var keys map[string]json.RawMessage
	_ = json.Unmarshal(entry, &keys)
	_, want.checkTriggers = keys["triggers"]
	return want
}

// Collect scans src from start to end and returns all that it yields.
func Collect(t testing.TB, src event.Source) (*event.Buffer, []event.Trigger, *event.Report) {
	t.Helper()
	events, triggers, rep, err := scan(context.Background(), src)
	if err != nil {
		t.Fatalf("%s: %v", src, err)
	}
	return events, triggers, rep
}

// scan reads src until it ends or fails; what came before an error is returned with it.
func scan(ctx context.Context, src event.Source) (events *event.Buffer, triggers []event.Trigger, rep *event.Report, err error) {
	events = event.NewBuffer(0)
	want := event.All
	want.Triggers = func(tr []event.Trigger) error {
		triggers = append(triggers, tr...)
		return nil
	}
	rep, err = event.Each(ctx, src, want, func(b event.Batch) error { events.AppendBatch(b); return nil })
	if rep == nil {
		rep = &event.Report{}
	}
	return events, triggers, rep, err
}

// record is the canonical record of the digests: x, y uint16, p uint8, t int64, little-endian, no padding.
type record [13]byte

func summarise(e *event.Buffer) reference {
	var s reference
	s.N = int64(e.Len())
	records := make([]record, e.Len())
	for i := range records {
		r := &records[i]
		binary.LittleEndian.PutUint16(r[0:], e.X[i])
		binary.LittleEndian.PutUint16(r[2:], e.Y[i])
		r[4] = uint8(e.P[i])
		binary.LittleEndian.PutUint64(r[5:], uint64(e.T[i]))
		s.XMax, s.YMax = max(s.XMax, e.X[i]), max(s.YMax, e.Y[i])
		s.Pos += int64(e.P[i])
		s.SumX += uint64(e.X[i])
		s.SumY += uint64(e.Y[i])
		s.SumT += uint64(e.T[i])
	}
	s.Neg = s.N - s.Pos
	if s.N > 0 {
		s.TFirst, s.TLast = e.T[0], e.T[s.N-1]
	}
	s.FileOrder = digest(records)
	slices.SortFunc(records, compareRecords)
	s.Sorted = digest(records)
	return s
}

// compareRecords orders by t, x, y, p.
func compareRecords(a, b record) int {
	key := func(r *record) (int64, uint64) {
		x, y := binary.LittleEndian.Uint16(r[0:]), binary.LittleEndian.Uint16(r[2:])
		return int64(binary.LittleEndian.Uint64(r[5:])), uint64(x)<<24 | uint64(y)<<8 | uint64(r[4])
	}
	ta, ka := key(&a)
	tb, kb := key(&b)
	switch {
	case ta < tb || ta == tb && ka < kb:
		return -1
	case ta == tb && ka == kb:
		return 0
	default:
		return 1
	}
}

func digest(records []record) string {
	h := sha256.New()
	for i := range records {
		h.Write(records[i][:])
	}
	return hex.EncodeToString(h.Sum(nil))
}

func compareEnds(t testing.TB, name string, e *event.Buffer, want reference) {
	t.Helper()
	at := func(i int) [4]int64 { return [4]int64{int64(e.X[i]), int64(e.Y[i]), int64(e.P[i]), e.T[i]} }
	if e.Len() < len(want.Head) || e.Len() < len(want.Tail) {
		return // the numbers of events differ, which is reported already
	}
	for i, w := range want.Head {
		if g := at(i); g != w {
			t.Errorf("%s: event %d is %v, want %v (x, y, p, t)", name, i, g, w)
		}
	}
	for i, w := range want.Tail {
		if g := at(e.Len() - len(want.Tail) + i); g != w {
			t.Errorf("%s: event %d from the end is %v, want %v (x, y, p, t)", name, len(want.Tail)-i, g, w)
		}
	}
}

func compareTriggers(t testing.TB, name string, got []event.Trigger, want reference) {
	t.Helper()
	if int64(len(got)) != want.Triggers {
		t.Errorf("%s: %d triggers, want %d", name, len(got), want.Triggers)
		return
	}
	var sum int64
	for i, tr := range got {
		sum += tr.T
		value := int64(0)
		if tr.Rising {
			value = 1
		}
		g := [3]int64{value, int64(tr.Channel), tr.T}
		if i < len(want.TriggerHead) && g != want.TriggerHead[i] {
			t.Errorf("%s: trigger %d is %v, want %v (value, channel, t)", name, i, g, want.TriggerHead[i])
		}
	}
	if sum != want.TriggerSumT {
		t.Errorf("%s: sum of trigger times is %d, want %d", name, sum, want.TriggerSumT)
	}
}
