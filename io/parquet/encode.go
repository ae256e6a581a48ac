package parquet

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sync"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/metadata"

	"github.com/evq-project/evq/io/event"
)

// An encoder turns buffers of events into row groups; several goroutines may use one. The library writes pages, page
// headers and metadata; the data of the pages, one to a column, is made here: its own encoders cost several times as
// much.
type encoder struct {
	layout  layout
	outputs sync.Pool // *output
	scratch sync.Pool // *encoding
}

func newEncoder(l layout) *encoder {
	return &encoder{layout: l,
		outputs: sync.Pool{New: func() any { return new(output) }},
		scratch: sync.Pool{New: func() any { return new(encoding) }}}
}

// An output is the bytes of a row group, at offsets as if it stood at the start of a file.
type output struct{ bytes.Buffer }

// Tell returns the offset of the next byte.
func (o *output) Tell() int64 { return int64(len(magic) + o.Len()) }

// An encoding is one row group on its way.
type encoding struct {
	codec  codec
	out    *output
	meta   *metadata.RowGroupMetaDataBuilder
	pages  file.PageWriter
	rows   int
	raw    []byte // a page's data
	packed []byte // the same, compressed
}

// encode encodes the events of b, at least one. The group's bytes stay valid until out is handed back to outputs.
func (e *encoder) encode(b *event.Buffer) (g group, out *output, err error) {
	defer guard(&err)
	out = e.outputs.Get().(*output)
	out.Reset()
	s := e.scratch.Get().(*encoding)
	defer e.scratch.Put(s)
	file := metadata.NewFileMetadataBuilder(e.layout.schema, e.layout.props, nil)
	s.codec, s.out, s.meta, s.rows = e.layout.codec, out, file.AppendRowGroup(), b.Len()
	s.meta.SetNumRows(b.Len())
	if err := s.columns(b); err != nil {
		return group{}, out, err
	}
	if err := s.meta.Finish(int64(out.Len()), 0); err != nil {
		return group{}, out, err
	}
	meta, err := file.Finish()
	return group{out.Bytes(), meta}, out, err
}

func (s *encoding) columns(b *event.Buffer) error {
	if err := s.times(b.T); err != nil {
		return err
	}
	if err := s.coordinates(b.X); err != nil {
		return err
	}
	if err := s.coordinates(b.Y); err != nil {
		return err
	}
	return s.polarities(b.P)
}

// times writes the column t.
func (s *encoding) times(t []int64) error {
	if err := s.begin(stats64(t[0], t[len(t)-1])); err != nil {
		return err
	}
	s.raw = appendDelta(s.raw[:0], t)
	return s.end(parquet.Encodings.DeltaBinaryPacked, false)
}

// coordinates writes x or y: as indices into a dictionary in which each value has itself as its index, so that who
// reads needs no dictionary; or as they are, where that dictionary would be larger.
func (s *encoding) coordinates(v []uint16) error {
	lo, hi := v[0], v[0]
	for _, c := range v {
		lo, hi = min(lo, c), max(hi, c)
	}
	if err := s.begin(stats32(int32(lo), int32(hi))); err != nil {
		return err
	}
	entries := max(int(hi)+1, 2) // indices of no bits are more than other readers take
	width := bits.Len16(uint16(entries - 1))
	if 4*entries+len(v)*width/8 > 4*len(v) {
		s.raw = s.raw[:0]
		for _, c := range v {
			s.raw = binary.LittleEndian.AppendUint32(s.raw, uint32(c))
		}
		return s.end(parquet.Encodings.Plain, false)
	}
	if err := s.dictionary(entries); err != nil {
		return err
	}
	s.raw = appendRuns(s.raw[:0], v, width)
	return s.end(parquet.Encodings.RLEDict, true)
}

// polarities writes the column p.
func (s *encoding) polarities(p []int8) error {
	data, zero, one, ok := appendBits(s.raw[:0], unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(p))), len(p)))
	s.raw = data
	if !ok {
		i := slices.IndexFunc(p, func(v int8) bool { return v&^1 != 0 })
		return fmt.Errorf("parquet: event has polarity %d; a store keeps 0 and 1", p[i])
	}
	lo, hi := int32(1), int32(0)
	if zero {
		lo = 0
	}
	if one {
		hi = 1
	}
	if err := s.begin(stats32(lo, hi)); err != nil {
		return err
	}
	if err := s.dictionary(2); err != nil {
		return err
	}
	return s.end(parquet.Encodings.RLEDict, true)
}

// begin starts the next column.
func (s *encoding) begin(stats metadata.EncodedStatistics) (err error) {
	meta := s.meta.NextColumnChunk()
	meta.SetStats(stats)
	column := int16(s.meta.CurrentColumn())
	if s.pages == nil {
		s.pages, err = file.NewPageWriter(s.out, s.codec.codec, s.codec.level, meta, 0, column, memory.DefaultAllocator, false, nil, nil)
		return err
	}
	return s.pages.Reset(s.out, s.codec.codec, s.codec.level, meta, 0, column, nil, nil)
}

// The identity dictionary: the first bytes of it are the dictionary of so many values.
var identity = sync.OnceValue(func() []byte {
	b := make([]byte, 0, 4*(math.MaxUint16+1))
	for i := range uint32(math.MaxUint16 + 1) {
		b = binary.LittleEndian.AppendUint32(b, i)
	}
	return b
})

// dictionary writes the dictionary 0, 1, 2, …
func (s *encoding) dictionary(entries int) error {
	page := file.NewDictionaryPage(memory.NewBufferBytes(identity()[:4*entries]), int32(entries), parquet.Encodings.Plain)
	defer page.Release()
	_, err := s.pages.WriteDictionaryPage(page)
	return err
}

// end writes the data as the column's only page.
func (s *encoding) end(e parquet.Encoding, dictionary bool) error {
	data, err := s.codec.compress(s.packed[:0], s.raw)
	if err != nil {
		return err
	}
	if s.codec.compressor != nil {
		s.packed = data
	}
	levels := parquet.Encodings.RLE // of which required columns have none
	page := file.NewDataPageV1(memory.NewBufferBytes(data), int32(s.rows), e, levels, levels, int32(len(s.raw)))
	defer page.Release()
	if _, err := s.pages.WriteDataPage(page); err != nil {
		return err
	}
	return s.pages.Close(dictionary, false)
}

func stats64(lo, hi int64) metadata.EncodedStatistics {
	return stats(binary.LittleEndian.AppendUint64(nil, uint64(lo)), binary.LittleEndian.AppendUint64(nil, uint64(hi)))
}

func stats32(lo, hi int32) metadata.EncodedStatistics {
	return stats(binary.LittleEndian.AppendUint32(nil, uint32(lo)), binary.LittleEndian.AppendUint32(nil, uint32(hi)))
}

func stats(lo, hi []byte) metadata.EncodedStatistics {
	return metadata.EncodedStatistics{HasMin: true, Min: lo, HasMax: true, Max: hi, Signed: true, HasNullCount: true}
}
