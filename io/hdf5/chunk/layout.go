package chunk

// A Layout says how the elements of an inflated chunk lie: in blocks of Block bytes, of which the last may be shorter.
// In a block all first bytes of its elements come first, then all second bytes, and so on. Size is the bytes of an
// element; 0: the elements lie as they are, and Block says nothing.
type Layout struct{ Size, Block int }

// Inflate is Decode that leaves the elements shuffled where they were when they were compressed, for those who put the
// bytes together on the way to where they need them. dst holds whole elements.
func (d *Decoder) Inflate(dst, stored []byte, mask uint32) (Layout, error) {
	q := 0
	for q < len(d.filters) && mask>>q&1 != 0 {
		q++
	}
	if q == len(d.filters) {
		return Layout{}, d.Decode(dst, stored, mask)
	}
	switch f := d.filters[q]; {
	case f.ID == Shuffle && d.size > 1 && (len(f.Values) == 0 || f.Values[0] == 0 || int(f.Values[0]) == d.size):
		return Layout{d.size, len(dst)}, d.Decode(dst, stored, mask|1<<q)
	case f.ID == Blosc:
		d.codecs.keep, d.codecs.kept = d.size, Layout{}
		err := d.Decode(dst, stored, mask)
		d.codecs.keep = 0
		return d.codecs.kept, err
	}
	return Layout{}, d.Decode(dst, stored, mask)
}
