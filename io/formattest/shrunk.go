package formattest

import (
	"bytes"
	"testing"

	"github.com/evq-project/evq/io/format"
)

// shrunk decodes a recording whose file became shorter after it was opened: the end that is then met is an error, or
// nothing of the recording lay behind it. It must never pass for the recording's own end.
func (c Case) shrunk(t *testing.T, f format.Format) {
	if c.OnDisk {
		return // a library reads the file itself
	}
	whole := c.attempt(t, f, c.Data, "the whole recording")
	if whole.err != nil {
		return
	}
	p := c.Policy
	p.OnUnsorted, p.OnOffSensor = format.Clamp, format.Keep
	cuts := spread(len(c.Data))
	step := 1 + len(cuts)/200 // each cut opens the recording anew
	for i := 0; i < len(cuts); i += step {
		n := cuts[i]
		r := &shrinking{c.Data}
		src, err := f.Open(t.Context(), format.File{ReaderAt: r, Size: int64(len(c.Data)), Path: c.Name}, p)
		if err != nil {
			t.Fatal(err)
		}
		r.data = c.Data[:n]
		got := scanAll(t.Context(), src)
		closeSource(src)
		if got.err == nil && len(got.events) != len(whole.events) {
			t.Fatalf("shrunk to %d bytes of %d: %d events of %d and no error", n, len(c.Data), len(got.events), len(whole.events))
		}
	}
}

// shrinking reads data, which may become shorter.
type shrinking struct{ data []byte }

func (s *shrinking) ReadAt(b []byte, at int64) (int, error) {
	return bytes.NewReader(s.data).ReadAt(b, at)
}
