package parquet

import (
	"testing"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"

	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/formattest"
)

// FuzzRead offers stores of every compression, files of other writers, and what the engine makes of them.
func FuzzRead(f *testing.F) {
	b := eventtest.Recording(3, 40, sensor)
	var seeds [][]byte
	for _, c := range []string{"zstd", "lz4", "none"} {
		seeds = append(seeds, read(f, write(f, b, 10, format.CreateOptions{Compression: c})))
	}
	for _, other := range []foreign{
		{t: stampUS, x: u16, y: i32, p: boolean, group: 16, props: []parquet.WriterProperty{parquet.WithCompression(compress.Codecs.Snappy)}},
		{t: i64, x: i16, y: u8, p: i8, nullable: true, props: []parquet.WriterProperty{parquet.WithDictionaryDefault(false), parquet.WithDataPageVersion(parquet.DataPageV2)}},
		{t: i64, x: u32, y: u64, p: i64, props: []parquet.WriterProperty{parquet.WithDictionaryDefault(false), parquet.WithEncoding(parquet.Encodings.DeltaBinaryPacked), parquet.WithCompression(compress.Codecs.Gzip)}},
	} {
		seeds = append(seeds, read(f, other.write(f, valuesOf(b), -1)))
	}
	formattest.Hostile{Format: Format, Known: []error{ErrDamaged}}.Fuzz(f, seeds...)
}
