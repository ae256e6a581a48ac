package text

import (
	"strconv"

	"github.com/evq-project/evq/io/atomicfile"
	"github.com/evq-project/evq/io/event"
)

// Triggers writes external triggers as CSV: t in microseconds, the channel, and the edge, rising or falling.
type Triggers struct {
	file *atomicfile.File
	buf  []byte
	err  error // why nothing more is taken
}

// TriggerHeader is the first line of triggers as CSV.
const TriggerHeader = "t,channel,edge\n"

// CreateTriggers starts a table of triggers.
func CreateTriggers(path string, force bool) (*Triggers, error) {
	f, err := atomicfile.Create(path, force)
	if err != nil {
		return nil, err
	}
	return &Triggers{file: f, buf: []byte(TriggerHeader)}, nil
}

// AppendTrigger appends the line of one trigger.
func AppendTrigger(dst []byte, tr event.Trigger) []byte {
	dst = append(strconv.AppendInt(dst, tr.T, 10), ',')
	dst = strconv.AppendInt(dst, int64(tr.Channel), 10)
	if tr.Rising {
		return append(dst, ",rising\n"...)
	}
	return append(dst, ",falling\n"...)
}

// Write adds triggers. After an error the table is dropped.
func (w *Triggers) Write(tr []event.Trigger) error {
	for _, v := range tr {
		w.buf = AppendTrigger(w.buf, v)
	}
	if len(w.buf) < flushSize || w.err != nil {
		return w.err
	}
	return w.flush()
}

func (w *Triggers) flush() error {
	if _, err := w.file.Write(w.buf); err != nil {
		_ = w.file.Abort() // the write's error says more
		w.err = err
		return err
	}
	w.buf = w.buf[:0]
	return nil
}

// Close completes the table under its name.
func (w *Triggers) Close() error {
	if w.err != nil {
		return w.err
	}
	if err := w.flush(); err != nil {
		return err
	}
	return w.file.Commit()
}

// Abort drops the table. After Close it does nothing.
func (w *Triggers) Abort() error { return w.file.Abort() }
