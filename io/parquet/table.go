package parquet

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/metadata"

	"github.com/evq-project/evq/io/atomicfile"
)

// A group is an encoded row group: its bytes, and its metadata with offsets as if it stood at the start of a
// file. Groups are encoded independently of each other and of the file they end up in.
type group struct {
	bytes []byte
	meta  *metadata.FileMetaData
}

// encodeGroup encodes one row group into buf.
func encodeGroup(l layout, buf *bytes.Buffer, write func(file.SerialRowGroupWriter) error) (g group, err error) {
	defer guard(&err)
	buf.Reset()
	w, err := file.NewParquetWriterWithError(buf, l.schema.Root(), file.WithWriterProps(l.props))
	if err != nil {
		return group{}, err
	}
	rg, err := w.AppendRowGroupChecked()
	if err != nil {
		return group{}, err
	}
	if err := write(rg); err != nil {
		return group{}, err
	}
	if err := rg.Close(); err != nil {
		return group{}, err
	}
	// The writer is left without a footer: the table writes one for all groups.
	meta, err := w.FileMetadata()
	return group{buf.Bytes()[len(magic):], meta}, err
}

// column writes values as the next column of a row group.
func column[W interface {
	file.ColumnChunkWriter
	WriteBatch([]T, []int16, []int16) (int64, error)
}, T any](rg file.SerialRowGroupWriter, values []T) error {
	c, err := rg.NextColumn()
	if err != nil {
		return err
	}
	if _, err := c.(W).WriteBatch(values, nil, nil); err != nil {
		return err
	}
	return c.Close()
}

// A table is a Parquet file on its way: encoded row groups are appended, then the footer.
type table struct {
	out  *atomicfile.File
	path string
	pos  int64
	meta *metadata.FileMetaData
}

// createTable starts the file that will be called path.
func createTable(path string, force bool, l layout) (*table, error) {
	meta, err := metadata.NewFileMetadataBuilder(l.schema, l.props, nil).Finish()
	if err != nil {
		return nil, err
	}
	out, err := atomicfile.Create(path, force)
	if err != nil {
		return nil, err
	}
	t := &table{out: out, path: path, meta: meta}
	if err := t.write([]byte(magic)); err != nil {
		_ = out.Abort()
		return nil, err
	}
	return t, nil
}

// append writes a row group and takes its metadata over, moved to where the group now stands.
func (t *table) append(g group) error {
	shift := t.pos - int64(len(magic))
	for _, rg := range g.meta.RowGroups {
		rg.FileOffset, rg.Ordinal = moved(rg.FileOffset, shift), nil
		if n := len(t.meta.RowGroups); n <= math.MaxInt16 {
			ordinal := int16(n)
			rg.Ordinal = &ordinal
		}
		for _, c := range rg.Columns {
			c.FileOffset += shift
			c.MetaData.DataPageOffset += shift
			c.MetaData.DictionaryPageOffset = moved(c.MetaData.DictionaryPageOffset, shift)
		}
	}
	if err := t.write(g.bytes); err != nil {
		return err
	}
	return t.meta.AppendRowGroups(g.meta)
}

func moved(offset *int64, by int64) *int64 {
	if offset == nil {
		return nil
	}
	o := *offset + by
	return &o
}

// finish writes the footer. The file still has its temporary name.
func (t *table) finish(kv metadata.KeyValueMetadata) (err error) {
	defer guard(&err)
	t.meta.FileMetaData.KeyValueMetadata = kv
	var footer bytes.Buffer
	if _, err := t.meta.WriteTo(&footer, nil); err != nil {
		return fmt.Errorf("writing %s: footer: %w", t.path, err)
	}
	b := binary.LittleEndian.AppendUint32(footer.Bytes(), uint32(footer.Len()))
	return t.write(append(b, magic...))
}

func (t *table) write(b []byte) error {
	n, err := t.out.Write(b)
	t.pos += int64(n)
	return err // which says the path and how much is written
}

func (t *table) commit() error { return t.out.Commit() }
func (t *table) abort() error  { return t.out.Abort() }
