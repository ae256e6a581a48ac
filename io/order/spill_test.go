package order

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evq-project/evq/io/event"
)

// An abandoned or cancelled sort leaves no input open and no file behind.
func TestAbandoned(t *testing.T) {
	in := jitter(7, 30_000, 2, 1<<40, 1)
	for reads := range 4 {
		dir := tempDir(t)
		s := &tape{events: in, batch: 500}
		ctx, cancel := context.WithCancel(t.Context())
		st, err := Apply(ctx, s.open, Options{Policy: Sort, Memory: 1, TempDir: dir}, &event.Report{})
		if err != nil {
			t.Fatal(err)
		}
		for range reads {
			if _, err := st.Next(ctx); err != nil {
				t.Fatal(err)
			}
		}
		cancel()
		if _, err := st.Next(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled after %d: %v", reads, err)
		}
		if err := st.Close(); err != nil || s.opened != 0 {
			t.Errorf("close: %v, %d inputs open", err, s.opened)
		}
	}
}

// A context that ends while runs are being spilled ends the sort there.
func TestCancelledWhileSpilling(t *testing.T) {
	in := jitter(7, 30_000, 2, 1<<40, 1)
	dir := tempDir(t)
	s := &tape{events: in, batch: 500}
	ctx, cancel := context.WithCancel(t.Context())
	open := func(ctx context.Context, probe bool) (Input, error) {
		r, err := s.open(ctx, probe)
		if probe {
			return r, err
		}
		return &fuse{Input: r, left: 20, blow: cancel}, err
	}
	st, err := Apply(ctx, open, Options{Policy: Sort, Memory: 1, TempDir: dir}, &event.Report{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := st.Next(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if err := st.Close(); err != nil || s.opened != 0 {
		t.Errorf("close: %v, %d inputs open", err, s.opened)
	}
}

// A fuse calls blow after some buffers.
type fuse struct {
	Input
	left int
	blow func()
}

func (f *fuse) Next(ctx context.Context) (*event.Buffer, error) {
	if f.left--; f.left == 0 {
		f.blow()
	}
	return f.Input.Next(ctx)
}

func TestNoRoomToSpill(t *testing.T) {
	s := &tape{events: jitter(7, 30_000, 2, 1<<40, 1), batch: 500}
	o := Options{Policy: Sort, Memory: 1, TempDir: filepath.Join(t.TempDir(), "none")}
	_, err := drain(t, s, o, &event.Report{})
	if !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "TMPDIR") {
		t.Errorf("%v", err)
	}
}
