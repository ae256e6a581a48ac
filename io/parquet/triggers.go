package parquet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/apache/arrow-go/v18/parquet/file"

	"github.com/evq-project/evq/io/event"
)

// triggerLen is the number of triggers in a row group, and the most that are handed over at once.
const triggerLen = 64 << 10

// TriggerPath is where the triggers of the store at path lie: NAME.triggers.parquet beside NAME.parquet.
func TriggerPath(path string) string {
	return strings.TrimSuffix(path, ".parquet") + ".triggers.parquet"
}

// A triggerWriter writes the triggers beside a store; the file is made with the first trigger.
type triggerWriter struct {
	path  string
	l     layout
	table *table
	fill  []event.Trigger
}

func newTriggerWriter(path, compression string) (*triggerWriter, error) {
	l, err := triggerLayout(compression)
	return &triggerWriter{path: path, l: l}, err
}

func (w *triggerWriter) write(tr []event.Trigger) error {
	for len(tr) > 0 {
		n := min(len(tr), triggerLen-len(w.fill))
		w.fill = append(w.fill, tr[:n]...)
		tr = tr[n:]
		if len(w.fill) == triggerLen {
			if err := w.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *triggerWriter) flush() error {
	if w.table == nil {
		// Triggers without their store are stale: they are always overwritten.
		t, err := createTable(w.path, true, w.l)
		if err != nil {
			return err
		}
		w.table = t
	}
	n := len(w.fill)
	times, channels, rising := make([]int64, n), make([]int32, n), make([]bool, n)
	for i, tr := range w.fill {
		times[i], channels[i], rising[i] = tr.T, int32(tr.Channel), tr.Rising
	}
	w.fill = w.fill[:0]
	g, err := encodeGroup(w.l, new(bytes.Buffer), func(rg file.SerialRowGroupWriter) error {
		return errors.Join(column[*file.Int64ColumnChunkWriter](rg, times),
			column[*file.Int32ColumnChunkWriter](rg, channels),
			column[*file.BooleanColumnChunkWriter](rg, rising))
	})
	if err != nil {
		return err
	}
	return w.table.append(g)
}

// close completes the file under its name, or removes a stale one where there are no triggers.
func (w *triggerWriter) close() error {
	if len(w.fill) > 0 {
		if err := w.flush(); err != nil {
			return err
		}
	}
	if w.table == nil {
		if err := os.Remove(w.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("removing the triggers of an earlier run: %w", err)
		}
		return nil
	}
	if err := w.table.finish(keyValues([]event.Field{{Key: keyVersion, Value: storeVersion}})); err != nil {
		return err
	}
	return w.table.commit()
}

func (w *triggerWriter) abort() error {
	if w.table == nil {
		return nil
	}
	return w.table.abort()
}

// Triggers writes a table of triggers that stands alone: t in microseconds, channel, rising.
type Triggers struct{ w *triggerWriter }

// CreateTriggers starts a table of triggers; without any it is empty, and still there. compression is as
// CreateOptions has it.
func CreateTriggers(path string, force bool, compression string) (*Triggers, error) {
	w, err := newTriggerWriter(path, compression)
	if err != nil {
		return nil, err
	}
	w.table, err = createTable(path, force, w.l)
	return &Triggers{w}, err
}

// Write adds triggers, in any order of time.
func (t *Triggers) Write(tr []event.Trigger) error { return t.w.write(tr) }

// Close completes the table under its name.
func (t *Triggers) Close() error { return t.w.close() }

// Abort drops the table. After Close it does nothing.
func (t *Triggers) Abort() error { return t.w.abort() }

// openTriggers opens the triggers beside the store at path; nil where there are none.
func openTriggers(path string) (_ *file.Reader, close func(), err error) {
	defer guard(&err)
	f, err := os.Open(TriggerPath(path))
	if errors.Is(err, fs.ErrNotExist) || path == "" {
		return nil, func() {}, nil
	}
	if err != nil {
		return nil, nil, err
	}
	r, err := file.NewParquetReader(f, readProps())
	if err == nil {
		s := r.MetaData().Schema
		if s.NumColumns() < 3 || s.Column(0).Name() != "t" || s.Column(1).Name() != "channel" || s.Column(2).Name() != "rising" {
			err = errors.New("the columns are not t, channel, rising")
		}
	}
	if err != nil {
		_ = f.Close()
		return nil, nil, fmt.Errorf("%s: %w", f.Name(), err)
	}
	return r, func() { _ = f.Close() }, nil
}

// readTriggers hands the triggers of the store at path over, and returns how many there are.
func readTriggers(ctx context.Context, path string, to func([]event.Trigger) error) (n int64, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s: %w", TriggerPath(path), err)
		}
	}()
	defer guard(&err)
	r, done, err := openTriggers(path)
	if err != nil || r == nil {
		return 0, err
	}
	defer done()
	chunk := newTriggerChunk()
	for g := range r.NumRowGroups() {
		rg := r.RowGroup(g)
		t, c, up, err := chunk.columns(rg)
		if err != nil {
			return n, err
		}
		for left := rg.NumRows(); left > 0; {
			if err := ctx.Err(); err != nil {
				return n, err
			}
			tr, err := chunk.read(t, c, up, int(min(left, triggerLen)))
			if err != nil {
				return n, err
			}
			if err := to(tr); err != nil {
				return n, err
			}
			left -= int64(len(tr))
			n += int64(len(tr))
		}
	}
	return n, nil
}

// A triggerChunk holds the columns of some triggers.
type triggerChunk struct {
	t  []int64
	c  []int32
	up []bool
	tr []event.Trigger
}

func newTriggerChunk() *triggerChunk {
	return &triggerChunk{make([]int64, triggerLen), make([]int32, triggerLen), make([]bool, triggerLen), make([]event.Trigger, triggerLen)}
}

func (k *triggerChunk) columns(rg *file.RowGroupReader) (reader[int64], reader[int32], reader[bool], error) {
	var cols [3]file.ColumnChunkReader
	for i := range cols {
		c, err := rg.Column(i)
		if err != nil {
			return nil, nil, nil, err
		}
		cols[i] = c
	}
	t, ok0 := cols[0].(reader[int64])
	c, ok1 := cols[1].(reader[int32])
	up, ok2 := cols[2].(reader[bool])
	if !ok0 || !ok1 || !ok2 {
		return nil, nil, nil, errors.New("the columns are not INT64, INT32, BOOLEAN")
	}
	return t, c, up, nil
}

func (k *triggerChunk) read(t reader[int64], c reader[int32], up reader[bool], n int) ([]event.Trigger, error) {
	if err := errors.Join(fill(t, k.t[:n]), fill(c, k.c[:n]), fill(up, k.up[:n])); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, ErrDamaged
		}
		return nil, err
	}
	for i := range n {
		k.tr[i] = event.Trigger{T: k.t[i], Channel: int16(k.c[i]), Rising: k.up[i]}
	}
	return k.tr[:n], nil
}
