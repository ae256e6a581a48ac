package format

import (
	"errors"
	"fmt"
	"io"
	"sort"
)

// A Part is what a format says of one of the parts that a camera split a recording into.
type Part struct {
	// Start is where the records begin, in bytes from the start of the file: what stands before them is left out of
	// every part but the first.
	Start int64
	// Alike is what the parts of one recording have in common besides the format and the sensor, such as the order of
	// bytes; "" where the part does not say.
	Alike string
}

// Join makes one file of the parts of a recording: the first as a whole, and of each other the records, from its
// start on. It is called what the first is, and its records go on over every border, cut ones too.
func Join(first File, rest []File, starts []int64) File {
	pieces := []piece{{File: first, end: first.Size}}
	for i, f := range rest {
		from, at := min(starts[i], f.Size), pieces[i].end
		pieces = append(pieces, piece{f, from, at, at + f.Size - from})
	}
	return File{ReaderAt: joined(pieces), Size: pieces[len(pieces)-1].end, Path: first.Path, pieces: pieces}
}

// A piece is the bytes of a part that stand in a joined file.
type piece struct {
	File
	from    int64 // where they begin in the part
	at, end int64 // where they stand in the joined file
}

// joined reads over the borders of parts.
type joined []piece

// ReadAt implements io.ReaderAt.
func (j joined) ReadAt(b []byte, at int64) (n int, err error) {
	if at < 0 {
		return 0, errors.New("format: reading before the start of a file")
	}
	for i := j.find(at); i < len(j) && n < len(b); i++ {
		p := j[i]
		want := b[n:min(int64(len(b)), int64(n)+p.end-at)]
		m, err := p.ReadAt(want, p.from+at-p.at)
		n, at = n+m, at+int64(m)
		if m == len(want) {
			continue
		}
		if err == nil || errors.Is(err, io.EOF) {
			err = fmt.Errorf("it ends at byte %d, but was longer when it was opened; do not change it while it is read: %w",
				p.from+at-p.at, io.ErrUnexpectedEOF)
		}
		return n, fmt.Errorf("%s: %w", p.Path, err)
	}
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

// find returns the index of the piece that holds the byte at, len(j) after the last.
func (j joined) find(at int64) int {
	return sort.Search(len(j), func(i int) bool { return at < j[i].end })
}

// Place returns the part that holds a byte of a joined file, and where in that part the byte stands. A byte after the
// last stands behind the last part. In any other file that is the file itself and the offset as it is.
func (f File) Place(offset int64) (path string, at int64) {
	if len(f.pieces) == 0 {
		return f.Path, offset
	}
	p := f.pieces[min(joined(f.pieces).find(offset), len(f.pieces)-1)]
	return p.Path, offset - p.at + p.from
}

// Joined reports whether f was made by Join.
func (f File) Joined() bool { return len(f.pieces) > 0 }

// locate names the part in an error about the bytes of a joined file, and counts its offset from the part's start.
func (f File) locate(err error) error {
	var e *SyntaxError
	if !f.Joined() || !errors.As(err, &e) || e.Part != "" {
		return err
	}
	placed := *e
	placed.Part, placed.Offset = f.Place(e.Offset)
	return &placed
}
