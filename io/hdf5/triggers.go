//go:build hdf5 && cgo

package hdf5

import (
	"context"
	"fmt"
	"math"

	"github.com/evq-project/evq/io/event"
)

// triggerFields are the fields of external triggers in Prophesee's files.
var triggerFields = [...]string{"t", "id", "p"}

// triggerRun is how many triggers are handed on at a time.
const triggerRun = 4096

// A triggerTable is the external triggers beside the events.
type triggerTable struct {
	dataset dataset
	fields  [len(triggerFields)]dataset
}

// openTriggers opens the triggers where there are any. Those that cannot be read are named among what is left out.
// Call it inside the library.
func (f *file) openTriggers() {
	id, err := openChecked(f.path, f.h.ID(), triggersPath)
	if err != nil {
		return
	}
	t := &triggerTable{}
	if err = t.inspect(id, f.whole); err != nil {
		_ = closeDataset(id)
		f.streams = append(f.streams, event.Field{Key: triggersPath, Value: "left out: " + err.Error()})
		return
	}
	f.triggers = t
	if n := t.dataset.rows; n > 0 {
		f.streams = append(f.streams, event.Field{Key: triggersPath, Value: fmt.Sprintf("%d; kept as triggers", n)})
	}
}

func (t *triggerTable) inspect(id int64, in *wholeFile) error {
	d, err := inspect(id)
	if err != nil {
		return err
	}
	d = in.bound(d)
	if d.rank != 1 {
		return fmt.Errorf("it has %d dimensions; triggers have one", d.rank)
	}
	t.dataset = d
	for i, name := range triggerFields {
		field, ok := d.field(name)
		if !ok || field.elem.float {
			return fmt.Errorf("its records have no whole number %s", name)
		}
		if err := check(field); err != nil {
			return fmt.Errorf("field %s: %w", name, err)
		}
		t.fields[i] = field
	}
	return nil
}

// A triggerReader hands on the triggers of a recording. A nil one has none.
type triggerReader struct {
	table *triggerTable
	to    func([]event.Trigger) error // nil: they are counted only
	next  int64                       // the row to read
	kept  []event.Trigger
	rows  *reader
	views [len(triggerFields)]view
	bad   *badChunks // those that are passed over; nil: damage is an error
}

func newTriggerReader(t *triggerTable, to func([]event.Trigger) error) *triggerReader {
	if t == nil {
		return nil
	}
	return &triggerReader{table: t, to: to}
}

// salvage passes over damaged chunks from now on, and names them in bad.
func (r *triggerReader) salvage(bad *badChunks) {
	if r != nil {
		r.bad = bad
	}
}

// send hands on all triggers the first time it is called.
func (r *triggerReader) send(ctx context.Context, rep *event.Report) error {
	if r == nil || r.next == r.table.dataset.rows {
		return nil
	}
	if r.to == nil {
		r.next = r.table.dataset.rows
		rep.Count(event.Triggers, r.next, 0)
		return nil
	}
	if err := r.ready(); err != nil {
		return fmt.Errorf("dataset %s: %w", triggersPath, err)
	}
	for r.next < r.table.dataset.rows {
		if err := ctx.Err(); err != nil {
			return err
		}
		err := r.read()
		if bad := damageIn(err); bad != nil {
			err = inDataset(triggersPath, err)
			if r.bad != nil {
				r.bad.skip(bad, rep)
				r.next = bad.to
				continue
			}
			return err
		}
		if err != nil {
			return fmt.Errorf("dataset %s: %w", triggersPath, err)
		}
		rep.Count(event.Triggers, int64(len(r.kept)), r.next-int64(len(r.kept)))
		if err := r.to(r.kept); err != nil {
			return err
		}
	}
	return nil
}

func (r *triggerReader) ready() (err error) {
	if r.rows != nil {
		return nil
	}
	if r.rows, err = newReader(r.table.fields[0], newCZstd()); err != nil {
		return err
	}
	for i, f := range r.table.fields {
		r.views[i] = view{column: column{triggersPath + "/" + triggerFields[i], f.elem}, reader: r.rows, from: f.at}
	}
	return nil
}

// read reads the next run.
func (r *triggerReader) read() error {
	raw, n, err := r.rows.rows(r.next, int(min(triggerRun, r.table.dataset.rows-r.next)))
	if err != nil {
		return err
	}
	t, id, p := &r.views[0], &r.views[1], &r.views[2]
	times, ids, edges := t.pick(raw, n), id.pick(raw, n), p.pick(raw, n)
	r.kept = r.kept[:0]
	for i := range n {
		channel := id.column.elem.at(ids, i)
		if channel < math.MinInt16 || channel > math.MaxInt16 {
			return id.bad(r.next+int64(i), channel, "channels end at 32767; the file is damaged")
		}
		at := t.column.elem.at(times, i)
		if at < 0 && !t.column.elem.signed {
			return t.bad(r.next+int64(i), at, "times end at 2^63-1 us; the file is damaged")
		}
		r.kept = append(r.kept, event.Trigger{T: at, Channel: int16(channel), Rising: p.column.elem.at(edges, i) > 0})
	}
	r.next += int64(n)
	return nil
}
