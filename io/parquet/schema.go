// Package parquet is the sorted store: it writes events into Parquet, prunes the row groups a question cannot
// touch, and scans the rest in parallel.
//
// A store is a plain Parquet file that every other reader opens as it is. The package knows bytes and batches;
// it refuses to know queries: all it is told of one is a box.
//
// Damage shows where a page cannot be read; with Policy.Salvage also where a value lies outside the limits that the
// footer gives for its row group. A damaged row group is then left out whole, and named. Without the footer nothing can
// be read.
package parquet

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

const (
	formatName = "parquet"
	magic      = "PAR1"
	// groupLen is the number of events in a row group. Groups this small still compress fully, prune well, and
	// several of them fit into memory while they are encoded side by side.
	groupLen = 256 << 10
)

// ErrDamaged reports a store whose bytes contradict each other.
var ErrDamaged = errors.New("the file is damaged; convert the recording again")

// A layout is how one kind of table is laid out in Parquet.
type layout struct {
	schema *schema.Schema
	props  *parquet.WriterProperties
	codec  codec
}

// eventLayout lays out events: t delta-coded, the rest as dictionary indices. x, y and p are INT32 without
// annotation, since arithmetic on narrower or unsigned types overflows in SQL engines, and the size on disk
// is the same.
func eventLayout(compression string) (layout, error) {
	return newLayout("events", compression, schema.FieldList{
		schema.NewInt64Node("t", parquet.Repetitions.Required, -1),
		schema.NewInt32Node("x", parquet.Repetitions.Required, -1),
		schema.NewInt32Node("y", parquet.Repetitions.Required, -1),
		schema.NewInt32Node("p", parquet.Repetitions.Required, -1),
	}, parquet.WithSortingColumns([]parquet.SortingColumn{{ColumnIdx: 0}}))
}

// triggerLayout lays out external triggers in file order.
func triggerLayout(compression string) (layout, error) {
	return newLayout("triggers", compression, schema.FieldList{
		schema.NewInt64Node("t", parquet.Repetitions.Required, -1),
		schema.NewInt32Node("channel", parquet.Repetitions.Required, -1),
		schema.NewBooleanNode("rising", parquet.Repetitions.Required, -1),
	})
}

// newLayout lays out a table whose column t is delta-coded.
func newLayout(name, compression string, fields schema.FieldList, opts ...parquet.WriterProperty) (layout, error) {
	c, err := codecOf(compression)
	if err != nil {
		return layout{}, err
	}
	opts = append(opts, parquet.WithCompression(c.codec), parquet.WithCompressionLevel(c.level), parquet.WithStats(true),
		parquet.WithPageIndexEnabled(false), parquet.WithDictionaryDefault(false),
		parquet.WithEncodingFor("t", parquet.Encodings.DeltaBinaryPacked))
	root, err := schema.NewGroupNode(name, parquet.Repetitions.Required, fields, -1)
	if err != nil {
		return layout{}, err
	}
	return layout{schema.NewSchema(root), parquet.NewWriterProperties(opts...), c}, nil
}

// guard turns a panic into an error. The Parquet library panics on many kinds of damaged bytes (an index out
// of range in a dictionary, a negative length in a footer), so every call into it stands behind a guard: a
// broken file must end in an error, in whichever goroutine reads it.
func guard(err *error) {
	if r := recover(); r != nil {
		if _, ok := r.(runtime.Error); ok { // an index or a length of the file led astray: no more is to be said
			*err = ErrDamaged
			return
		}
		*err = fmt.Errorf("%w (%v)", ErrDamaged, r)
	}
}

// readProps make the library read page by page, so that a row group of any size needs little memory.
func readProps() file.ReadOption {
	p := parquet.NewReaderProperties(pageMemory{})
	p.BufferedStreamEnabled = true
	p.BufferSize = 64 << 10
	p.MaxCompressedPageSize = 64 << 20
	p.MaxUncompressedPageSize = 64 << 20
	return file.WithReadProps(p)
}
