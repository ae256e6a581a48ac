//go:build hdf5 && cgo

package hdf5

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/format"
)

// errUnwritten reports a chunk that is not in the file. HDF5 reads its fill value, which is no event.
var errUnwritten = errors.New("the chunk was never written; the recording of the file did not end")

// errCut reports a chunk, or rows, behind the end of a file that was cut.
var errCut = errors.New("it lies where the file was cut")

// A chunkError is damage: the rows [from, to) of a dataset cannot be had.
type chunkError struct {
	dataset  string
	from, to int64
	at, size int64 // where in the file it is stored; the dataset's header and 0 where it is not stored
	bytes    int64 // of its rows
	err      error
}

// damaged returns the error of the chunk that starts at a row. What the system could not read is no damage.
func (r *reader) damaged(start int64, err error) error {
	var failed syscall.Errno
	if errors.As(err, &failed) {
		return fmt.Errorf("the chunk at row %d: %w", start, err)
	}
	b := &chunkError{from: start, to: min(start+r.chunk, r.dataset.rows), err: err}
	b.bytes = (b.to - b.from) * int64(r.width())
	var ok bool
	if b.at, b.size, ok = r.place(start); !ok {
		b.at, b.size = r.header(), 0
	}
	if errors.Is(err, errCut) {
		b.at, b.size = r.limit, 0
	}
	return b
}

func (b *chunkError) Error() string {
	return fmt.Sprintf("dataset %s, rows %d-%d: %v", b.dataset, b.from, b.to-1, b.err)
}

func (b *chunkError) Unwrap() error { return b.err }

// damageIn returns the damage that an error reports, nil where it is of another kind.
func damageIn(err error) *chunkError {
	var b *chunkError
	if errors.As(err, &b) {
		return b
	}
	return nil
}

// inDataset says which dataset an error is about.
func inDataset(name string, err error) error {
	if b := damageIn(err); b != nil {
		b.dataset = name
		return b
	}
	return fmt.Errorf("dataset %s: %w", name, err)
}

// located says which file an error is about, or where in it damage lies.
func located(path string, err error) error {
	if b := damageIn(err); b != nil {
		return format.Damaged("hdf5", b.at, b.Error(), b)
	}
	return fmt.Errorf("hdf5: %s: %w", path, err)
}

// badChunks are the damaged chunks that a scan passed over. One that several runs of rows meet counts once.
type badChunks struct {
	damage format.Damage
	seen   map[chunkKey]bool
}

type chunkKey struct {
	dataset string
	from    int64
}

// skip counts and names a chunk.
func (c *badChunks) skip(b *chunkError, rep *event.Report) {
	key := chunkKey{b.dataset, b.from}
	if c.seen[key] {
		return
	}
	if c.seen == nil {
		c.seen = map[chunkKey]bool{}
	}
	c.seen[key] = true
	rows := b.to - b.from
	if b.size > 0 {
		c.damage.Skip(rep, b.at, b.at+b.size, fmt.Sprintf("%v; these %d rows are left out of all columns", b, rows))
		return
	}
	c.damage.Missing(rep, b.at, b.bytes, fmt.Sprintf("%v; these %d rows are left out of all columns", b, rows))
}
