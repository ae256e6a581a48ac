package formats

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/format"
)

// written writes events in a format; it skips one that is not built.
func written(t *testing.T, f format.Format, b event.Batch) (string, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a"+f.Extensions[0])
	sink, err := f.Create(path, format.Header{Geometry: event.Geometry{Width: 64, Height: 48}}, format.CreateOptions{})
	if err != nil {
		t.Skip(err)
	}
	if err := sink.Write(t.Context(), b); err != nil {
		_ = sink.(interface{ Abort() error }).Abort()
		return path, err
	}
	return path, sink.Close()
}

// A column that is exchanged with another must show: no event of a round trip has two equal values.
func TestWritersKeepDistinctValues(t *testing.T) {
	want := event.New([]int64{7, 19, 1_900_000_000}, []uint16{3, 11, 60}, []uint16{5, 13, 47}, []int8{0, 1, 0})
	for _, f := range All {
		if f.Create == nil {
			continue
		}
		t.Run(f.Name, func(t *testing.T) {
			path, err := written(t, f, want)
			if err != nil {
				t.Fatal(err)
			}
			src, err := Open(t.Context(), path, f.Name, format.Policy{})
			if err != nil {
				t.Fatal(err)
			}
			if d := eventtest.Diff(eventtest.Drain(t, src, event.All), want); d != "" {
				t.Error(d)
			}
			if err := src.(*recording).Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// What a format cannot hold is an error that leaves no file; what it can, comes back as it was given.
func TestWritersOfUnsortedTimes(t *testing.T) {
	back := event.New([]int64{5, 3}, []uint16{1, 2}, []uint16{6, 7}, []int8{0, 1})
	for _, f := range All {
		if f.Create == nil {
			continue
		}
		t.Run(f.Name, func(t *testing.T) {
			path, err := written(t, f, back)
			if err != nil {
				if !strings.Contains(err.Error(), "sort") {
					t.Errorf("the error does not say what to do: %v", err)
				}
				if left := eventtest.Names(t, filepath.Dir(path)); len(left) != 0 {
					t.Errorf("it leaves %v", left)
				}
				return
			}
			src, err := Open(t.Context(), path, f.Name, format.Policy{})
			if err != nil {
				t.Fatal(err)
			}
			b, rep, err := format.Drain(t.Context(), src)
			sorted := event.New([]int64{3, 5}, []uint16{2, 1}, []uint16{7, 6}, []int8{1, 0})
			if d := eventtest.Diff(b, sorted); err != nil || d != "" || rep.N(event.Unsorted) != 1 {
				t.Errorf("%s: %v, %v", d, rep, err)
			}
			_ = src.(*recording).Close()
		})
	}
}

// The first line of an AEDAT file says its version, its name nothing; text behind many comments is text.
func TestDetectionNeedsProofInTheBytes(t *testing.T) {
	for name, c := range map[string]struct{ data, want string }{
		"a.aedat4": {"#!AER-DAT2.0\r\n# AEChip: eu.seebetter.ini.chips.davis.DAVIS240C\r\n\x01\x40\x38\x00\x00\x00\x00\x07", "aedat2"},
		"b.dat":    {strings.Repeat("# a comment, with commas\n", 40) + "7,3,5,0\n70,30,50,1\n700,4,6,1\n", "csv"},
		"c.csv":    {strings.Repeat("# a comment\n", 40) + "0.000007 3 5 0\n0.000070 30 50 1\n0.0007 4 6 1\n", "text"},
	} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(c.data), 0o666); err != nil {
			t.Fatal(err)
		}
		src, err := Open(t.Context(), path, "", format.Policy{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := src.Info().Format; got != c.want {
			t.Errorf("%s is %s, want %s", name, got, c.want)
		}
		if err := errors.Join(src.(*recording).Close()); err != nil {
			t.Error(err)
		}
	}
}
