package parquet

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/formattest"
)

// expected returns the events [lo, hi) of b.
func expected(b event.Batch, lo, hi int) (out []formattest.Event) {
	for i := lo; i < hi; i++ {
		out = append(out, formattest.Event{int64(b.X()[i]), int64(b.Y()[i]), int64(b.P()[i]), b.T()[i]})
	}
	return out
}

// TestSalvageLeavesOutRowGroups damages one column of a row group: the whole group is left out, and nothing else.
func TestSalvageLeavesOutRowGroups(t *testing.T) {
	rec := eventtest.Recording(3, 2*groupLen+1000, sensor)
	path := write(t, rec, 50_000, format.CreateOptions{})
	s, whole := mustOpen(t, path), read(t, path)
	for k, name := range columnNames {
		for g, rows := range [][2]int{{0, groupLen}, {groupLen, 2 * groupLen}} {
			if g != k%2 {
				continue // each column once
			}
			group := s.groups[g]
			data := slices.Clone(whole)
			clear(data[group.at[k] : group.at[k]+300])
			from := slices.Min(group.at[:])
			bad := filepath.Join(t.TempDir(), "bad.parquet")
			if err := os.WriteFile(bad, data, 0o600); err != nil {
				t.Fatal(err)
			}
			// Read as a store and under policies.
			for _, zero := range []bool{false, true} {
				p := format.Policy{Zero: zero}
				src, err := open(t, bad, p)
				if err != nil {
					t.Fatal(err)
				}
				var syntax *format.SyntaxError
				if _, _, err := format.Drain(t.Context(), src); !errors.As(err, &syntax) || syntax.Offset != group.at[k] {
					t.Errorf("%s of group %d: error %v, want a syntax error at %#x", name, g, err, group.at[k])
				}
				p.Salvage = true
				if src, err = open(t, bad, p); err != nil {
					t.Fatal(err)
				}
				b, rep, err := format.Drain(t.Context(), src)
				if err != nil {
					t.Fatal(err)
				}
				want := slices.Concat(expected(rec, 0, rows[0]), expected(rec, rows[1], rec.Len()))
				for i := range want {
					want[i][3] -= rep.Shift
				}
				if got := expected(b, 0, b.Len()); !slices.Equal(got, want) {
					t.Errorf("%s of group %d: %d events, want %d others", name, g, len(got), len(want))
				}
				lost := event.Tally{N: group.end - from, First: from, Lost: group.end - from}
				if got := rep.Get(event.DamagedBytes); got != lost || zero != (rep.Shift != 0) {
					t.Errorf("%s of group %d: damaged bytes %+v, want %+v; shift %d", name, g, got, lost, rep.Shift)
				}
				note := fmt.Sprintf("bytes %#x-%#x are damaged and left out: row group %d with the rows %d-%d", from, group.end-1, g, rows[0], rows[1]-1)
				if !slices.ContainsFunc(rep.Notes, func(s string) bool { return strings.HasPrefix(s, note) }) {
					t.Errorf("notes %q, want %q", rep.Notes, note)
				}
			}
		}
	}
}

// failing is a file that the system cannot read from some byte on.
type failing struct {
	io.ReaderAt
	from int64
}

var errDisk = errors.New("input/output error")

func (f failing) ReadAt(b []byte, at int64) (int, error) {
	if at+int64(len(b)) > f.from && at < f.from+10 {
		return 0, errDisk
	}
	return f.ReaderAt.ReadAt(b, at)
}

// TestUnreadableIsNoDamage ends a scan where the system fails, though damage is passed over.
func TestUnreadableIsNoDamage(t *testing.T) {
	path := write(t, eventtest.Recording(3, 2*groupLen, sensor), 50_000, format.CreateOptions{})
	f := formattest.Open(t, path)
	f.ReaderAt = failing{f.ReaderAt, mustOpen(t, path).groups[1].at[colX]}
	src, err := Open(t.Context(), f, format.Policy{Salvage: true})
	if err != nil {
		t.Fatal(err)
	}
	_, rep, err := format.Drain(t.Context(), src)
	if err == nil || rep.N(event.DamagedBytes) > 0 {
		t.Errorf("%v: %v", rep, err)
	}
}
