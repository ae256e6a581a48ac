package parquet

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/evq-project/evq/io/atomicfile"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
)

// A table of triggers stands alone, without any it is empty, and it appears when it is complete.
func TestTriggersAlone(t *testing.T) {
	for _, n := range []int{0, 3, triggerLen + 5} {
		dir := t.TempDir()
		store := filepath.Join(dir, "a.parquet")
		w, err := CreateTriggers(TriggerPath(store), false, "")
		if err != nil {
			t.Fatal(err)
		}
		var want, got []event.Trigger
		for i := range n {
			want = append(want, event.Trigger{T: int64(n - i), Channel: int16(i % 7), Rising: i%3 == 0})
		}
		if err := w.Write(want); err != nil {
			t.Fatal(err)
		}
		if _, there := countTriggers(store); there {
			t.Error("the table has its name before it is complete")
		}
		if err := errors.Join(w.Close(), w.Abort()); err != nil {
			t.Fatal(err)
		}
		if _, err := readTriggers(t.Context(), store, func(tr []event.Trigger) error { got = append(got, tr...); return nil }); err != nil || !slices.Equal(got, want) {
			t.Errorf("%d triggers came back as %d, %v", n, len(got), err)
		}
		if count, ok := countTriggers(store); !ok || count != int64(n) {
			t.Errorf("%d triggers are counted as %d, %v", n, count, ok)
		}
		if _, err := CreateTriggers(TriggerPath(store), false, ""); !errors.Is(err, atomicfile.ErrExists) {
			t.Errorf("%v", err)
		}
		if w, err = CreateTriggers(TriggerPath(store), true, "lz4"); err != nil {
			t.Fatal(err)
		}
		if err := w.Abort(); err != nil {
			t.Error(err)
		}
		if left := eventtest.Names(t, dir); len(left) != 1 {
			t.Errorf("left behind: %v", left)
		}
	}
	if _, err := CreateTriggers(filepath.Join(t.TempDir(), "a"), false, "zip"); err == nil {
		t.Error("an unknown compression is taken")
	}
}
