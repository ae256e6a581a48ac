package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/metadata"
)

// errPage reports a page whose bytes contradict each other.
var errPage = errors.New("a damaged page")

// pages yields the values of one column chunk page by page, for the encodings that stores use. The library inflates
// the pages; their values are decoded here, straight into the columns of events.
type pages struct {
	from  file.PageReader
	left  int // values of the page at hand
	delta delta
	runs  hybrid
	plain []byte                      // values of a page without an encoding
	size  int                         // bytes of one of them
	dict  *[math.MaxUint16 + 1]uint16 // the value of each index; nil before the dictionary page
	many  int                         // how many of them it has; the rest are stale
	room  *[math.MaxUint16 + 1]uint16
	same  bool // the dictionary maps every index to itself
	sign  bool // -1 is a value, which stands as 255, as where it was stored in a byte
	kind  byte // 'd'elta, 'r'uns, 'p'lain
}

// timeEncodings and fieldEncodings are what is decoded here; RLE is that of levels, which required columns lack.
var (
	timeEncodings = []parquet.Encoding{parquet.Encodings.DeltaBinaryPacked, parquet.Encodings.Plain, parquet.Encodings.RLE,
		parquet.Encodings.BitPacked}
	fieldEncodings = []parquet.Encoding{parquet.Encodings.RLEDict, parquet.Encodings.PlainDict, parquet.Encodings.Plain,
		parquet.Encodings.RLE, parquet.Encodings.BitPacked}
)

// newPages opens a column chunk. It returns nil where the library must decode it: another type or encoding, a column
// whose rows may lack a value, a dictionary of other values than coordinates.
func newPages(rg *file.RowGroupReader, meta *metadata.RowGroupMetaData, at int, physical parquet.Type, encodings []parquet.Encoding, sign bool, room *[math.MaxUint16 + 1]uint16) (*pages, error) {
	chunk, err := meta.ColumnChunk(at)
	if err != nil {
		return nil, err
	}
	descr := meta.Schema.Column(at)
	if descr.PhysicalType() != physical || descr.MaxDefinitionLevel() != 0 || descr.MaxRepetitionLevel() != 0 || chunk.CryptoMetadata() != nil {
		return nil, nil
	}
	for _, e := range chunk.Encodings() {
		if !slices.Contains(encodings, e) {
			return nil, nil
		}
	}
	if chunk.HasDictionaryPage() && physical == parquet.Types.Int64 {
		return nil, nil
	}
	from, err := rg.GetColumnPageReader(at)
	if err != nil {
		return nil, err
	}
	p := &pages{from: from, size: 4, sign: sign, room: room}
	if physical == parquet.Types.Int64 {
		p.size = 8
	}
	ok, err := p.turn() // the dictionary says whether the values are coordinates
	if err != nil || !ok {
		return nil, err
	}
	return p, nil
}

// turn goes to the next page with values. ok is false where the dictionary holds what is no coordinate.
func (p *pages) turn() (ok bool, err error) {
	for p.from.Next() {
		switch page := p.from.Page().(type) {
		case *file.DictionaryPage:
			if !p.learn(page) {
				return false, nil
			}
		case *file.DataPageV1:
			return true, p.start(page.Data(), int(page.NumValues()), parquet.Encoding(page.Encoding()))
		case *file.DataPageV2:
			levels := int(page.DefinitionLevelByteLen() + page.RepetitionLevelByteLen())
			if levels < 0 || levels > len(page.Data()) {
				return false, errPage
			}
			return true, p.start(page.Data()[levels:], int(page.NumValues()), parquet.Encoding(page.Encoding()))
		}
	}
	if err := p.from.Err(); err != nil {
		return false, err
	}
	return false, fmt.Errorf("%w: the column ends before its rows", errPage)
}

// learn takes in the dictionary; it reports false where a value is no coordinate.
func (p *pages) learn(page *file.DictionaryPage) bool {
	data := page.Data()
	n := int(page.NumValues())
	if p.size != 4 || n > len(data)/4 || n > math.MaxUint16+1 {
		return false
	}
	p.dict, p.many, p.same = p.room, n, true
	for i := range n {
		v := binary.LittleEndian.Uint32(data[4*i:])
		if p.sign && v == math.MaxUint32 {
			v = math.MaxUint8
		}
		if v > math.MaxUint16 {
			return false
		}
		p.dict[i] = uint16(v)
		p.same = p.same && int(v) == i
	}
	return true
}

func (p *pages) start(data []byte, n int, e parquet.Encoding) error {
	p.left = n
	switch e {
	case parquet.Encodings.DeltaBinaryPacked:
		p.kind = 'd'
		return p.delta.start(data, n)
	case parquet.Encodings.RLEDict, parquet.Encodings.PlainDict:
		if p.dict == nil {
			return fmt.Errorf("%w: indices without a dictionary", errPage)
		}
		if p.many == 0 {
			return fmt.Errorf("%w: indices into an empty dictionary", errPage)
		}
		p.kind = 'r'
		return p.runs.start(data, uint16(p.many-1))
	case parquet.Encodings.Plain:
		p.kind, p.plain = 'p', data
		if n > len(data)/p.size {
			return fmt.Errorf("%w: %d values in %d bytes", errPage, n, len(data))
		}
		return nil
	}
	return fmt.Errorf("%w: an encoding that the column chunk does not list", errPage)
}

// next returns how many of n values the page at hand has, at least one.
func (p *pages) next(n int) (int, error) {
	for p.left == 0 {
		if ok, err := p.turn(); err != nil {
			return 0, err
		} else if !ok {
			return 0, fmt.Errorf("%w: a second dictionary", errPage)
		}
	}
	n = min(n, p.left)
	p.left -= n
	return n, nil
}

// times reads len(dst) times.
func (p *pages) times(dst []int64) error {
	for len(dst) > 0 {
		n, err := p.next(len(dst))
		if err != nil {
			return err
		}
		if p.kind == 'd' {
			err = p.delta.read(dst[:n])
		} else {
			for i := range dst[:n] {
				dst[i] = int64(binary.LittleEndian.Uint64(p.plain[8*i:]))
			}
			p.plain = p.plain[8*n:]
		}
		if err != nil {
			return err
		}
		dst = dst[n:]
	}
	return nil
}

// rangeError reports a value that is no coordinate, at an index of what was asked for.
type rangeError struct{ at int }

func (e rangeError) Error() string { return "not in 0..65535" }

// fields reads len(dst) coordinates or polarities.
func (p *pages) fields(dst []uint16) error {
	for done := 0; done < len(dst); {
		n, err := p.next(len(dst) - done)
		if err != nil {
			return err
		}
		to := dst[done : done+n]
		if p.kind == 'r' {
			err = p.indices(to)
		} else {
			err = p.plainFields(to, done)
		}
		if err != nil {
			return err
		}
		done += n
	}
	return nil
}

func (p *pages) plainFields(to []uint16, done int) error {
	for i := range to {
		v := binary.LittleEndian.Uint32(p.plain[4*i:])
		if p.sign && v == math.MaxUint32 {
			v = math.MaxUint8
		}
		if v > math.MaxUint16 {
			return rangeError{done + i}
		}
		to[i] = uint16(v)
	}
	p.plain = p.plain[4*len(to):]
	return nil
}

func (p *pages) indices(to []uint16) error {
	if err := p.runs.read(to); err != nil || p.same {
		return err
	}
	dict := p.dict
	for i, v := range to {
		to[i] = dict[v]
	}
	return nil
}
