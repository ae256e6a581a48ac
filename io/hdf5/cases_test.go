//go:build hdf5 && cgo

package hdf5

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime/metrics"
	"slices"
	"strings"
	"testing"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/format"
	"gonum.org/v1/hdf5"
)

// Times of 64 bits that an offset makes are found by a query for them.
func TestQueryBeyondAnOffset(t *testing.T) {
	path := testFile(t, with("t", u4(0, 99_477, 200_000)), func(h *hdf5.File) {
		if err := writeInt64s(h.ID(), "t_offset", []int64{49_599_300_523}, true); err != nil {
			t.Error(err)
		}
	})
	s, err := openTest(t, path, format.Policy{})
	if err != nil {
		t.Fatal(err)
	}
	box := event.Everything
	box.T0, box.T1 = 49_599_400_000, 49_599_400_000
	got := eventtest.Drain(t, s, event.Request{Columns: event.AllColumns, Box: box})
	if !slices.Contains(got.T(), 49_599_400_000) {
		t.Errorf("a query for 49599400000 finds %v", got.T())
	}
}

// Blosc and ECF are decoded where the library may load no plugin at all.
func TestNoPlugins(t *testing.T) {
	cmd := exec.Command(os.Args[0], "-test.run=^(TestPropheseeStorage|TestFixtures)$", "-test.v")
	for _, e := range os.Environ() {
		if !strings.HasPrefix(e, "HDF5_PLUGIN_") {
			cmd.Env = append(cmd.Env, e)
		}
	}
	cmd.Env = append(cmd.Env, "HDF5_PLUGIN_PRELOAD=::") // which forbids them
	out, err := cmd.CombinedOutput()
	if err != nil || strings.Count(string(out), "--- PASS: Test") != 2 {
		t.Errorf("%v\n%s", err, out)
	}
}

// Columns that are not chunked are read once, from start to end, through buffers that do not grow with them.
func TestContiguousColumnsAreReadOnce(t *testing.T) {
	const n = 1 << 20
	columns := map[string]testColumn{}
	for name, e := range map[string]elem{"t": {size: 8}, "x": {size: 2}, "y": {size: 2}, "p": {size: 1}} {
		c := testColumn{e, make([]int64, n)}
		for i := range c.values {
			c.values[i] = map[string]int64{"t": int64(i), "x": int64(i % 640), "y": int64(i / 7 % 480), "p": int64(i & 1)}[name]
		}
		columns["events/"+name] = c
	}
	path := testFile(t, columns, nil)
	st, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	s, err := openTest(t, path, format.Policy{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	readBefore, allocBefore := bytesRead(t), heapAllocated()
	events := 0
	want := event.All
	want.Threads, want.Restartable = 1, true
	if _, err := event.Each(t.Context(), s, want, func(b event.Batch) error { events += b.Len(); return nil }); err != nil || events != n {
		t.Fatalf("%d events, %v", events, err)
	}
	if took := bytesRead(t) - readBefore; took > st.Size()*11/10 {
		t.Errorf("%d bytes are read of a file of %d", took, st.Size())
	}
	if took := int64(heapAllocated() - allocBefore); took > st.Size()/2 {
		t.Errorf("%d bytes are allocated to read a file of %d", took, st.Size())
	}
}

// bytesRead is how many bytes the process has read so far.
func bytesRead(t *testing.T) int64 {
	t.Helper()
	b, err := os.ReadFile("/proc/self/io")
	_, rest, ok := strings.Cut(string(b), "rchar:")
	var n int64
	if _, scan := fmt.Sscan(rest, &n); errors.Join(err, scan) != nil || !ok {
		t.Skip("the system does not say how much is read")
	}
	return n
}

func heapAllocated() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}
