package text

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evq-project/evq/io/atomicfile"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
)

func TestTriggers(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "t.csv")
	const n = 100_000 // more than are collected before they are written
	w, err := CreateTriggers(path, false)
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	want.WriteString("t,channel,edge\n")
	for i := range n {
		if err := w.Write([]event.Trigger{{T: int64(i) - 3, Channel: 7, Rising: i%2 == 0}}); err != nil {
			t.Fatal(err)
		}
		want.Write(AppendTrigger(nil, event.Trigger{T: int64(i) - 3, Channel: 7, Rising: i%2 == 0}))
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("the table has its name before it is complete")
	}
	if err := errors.Join(w.Close(), w.Abort()); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil || string(b) != want.String() || !strings.HasPrefix(string(b), "t,channel,edge\n-3,7,rising\n-2,7,falling\n") {
		t.Errorf("%v; %.60q", err, b)
	}
	if _, err := CreateTriggers(path, false); !errors.Is(err, atomicfile.ErrExists) {
		t.Errorf("%v", err)
	}
	if w, err = CreateTriggers(path, true); err != nil {
		t.Fatal(err)
	}
	if err := w.Abort(); err != nil {
		t.Error(err)
	}
	if left := eventtest.Names(t, dir); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}
