//go:build hdf5 && cgo

package hdf5

// span is rows for a reader that leaves shuffled bytes apart: as many as lie in one block.
func (r *reader) span(lo int64, n int) (span, int, error) {
	if !r.apart || r.dec == nil {
		rows, n, err := r.rows(lo, n)
		return span{bytes: rows}, n, err
	}
	in, n, err := r.within(lo, n)
	if err != nil {
		return span{}, 0, err
	}
	size := r.width()
	n = min(n, len(r.raw)/size-in) // a last chunk may be stored with its own rows only
	if r.layout.Size == 0 {
		return span{bytes: r.raw[in*size : (in+n)*size]}, n, nil
	}
	rows := r.layout.Block / size // of a block
	first := in / rows * rows
	rows = min(rows, len(r.raw)/size-first)
	s := span{bytes: r.raw[first*size : (first+rows)*size], stride: rows, from: in - first}
	return s, min(n, rows-s.from), nil
}

// merges reports whether merge takes the column's elements with their bytes apart.
func (c column) merges(col int) bool {
	switch {
	case !littleHost || c.elem.big || c.elem.float:
		return false
	case col == colT:
		return c.elem.size == 8 || c.elem.size == 4 && !c.elem.signed
	}
	return (col == colX || col == colY) && c.elem == elem{size: 2}
}

// merge is convert for a column that merges: it puts the bytes of elements together where they are needed.
func (w *worker) merge(b *part, col, k, to int, s span, at int64) error {
	c := w.cols[col].column
	switch col {
	case colX:
		s.merge16(b.buf.X[k:to])
	case colY:
		s.merge16(b.buf.Y[k:to])
	default:
		dst := b.buf.T[k:to]
		s.merge64(dst, c.elem.size)
		return c.timesOf(w.file.unit, dst, w.file.offset, at)
	}
	return nil
}
