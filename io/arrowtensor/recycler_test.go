package arrowtensor

import "testing"

// What is freed is handed out again where it fits, keeps its values when it grows, and does not pile up.
func TestRecycler(t *testing.T) {
	r := &recycler{}
	b := r.Allocate(1000)
	first := &b[0]
	r.Free(b[:10])
	if small := r.Allocate(100); &small[0] == first {
		t.Error("a large piece was spent on a small need")
	}
	b = r.Allocate(900)
	if len(b) != 900 || &b[0] != first {
		t.Error("what was freed is not handed out again")
	}
	b[899] = 7
	if b = r.Reallocate(1000, b); &b[0] != first {
		t.Error("a piece moved though it had room")
	}
	if b = r.Reallocate(5000, b); len(b) != 5000 || b[899] != 7 {
		t.Error("growing lost what was there")
	}
	for range 10 * recycled {
		r.Free(make([]byte, 64))
	}
	if len(r.free) != recycled {
		t.Errorf("%d pieces are kept", len(r.free))
	}
}
