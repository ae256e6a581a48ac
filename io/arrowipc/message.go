package arrowipc

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/evq-project/evq/io/flatbuffer"
	"github.com/evq-project/evq/io/format"
)

// The kinds of messages (Message.fbs, MessageHeader).
const (
	kindEnd        = 0 // of the stream; no message has it
	kindSchema     = 1
	kindDictionary = 2
	kindBatch      = 3
)

// continuation starts a message; before 2019 messages started with their length.
const continuation = 0xFFFFFFFF

// maxMetadata bounds the metadata of a message: that of a schema may hold notes of programs.
const maxMetadata = 16 << 20

// A message is one message of a stream.
type message struct {
	kind   int64
	header flatbuffer.Table
	at     int64 // where it starts
	body   int64 // where its body starts
	size   int64 // of the body
	next   int64 // where the next message starts
}

// errCut reports a message that the end of the file cut.
var errCut = errors.New("the file ends within a message")

// errMessage reports metadata that is no message.
var errMessage = errors.New("its metadata is no message; the file is damaged")

// readMessage reads the metadata of the message at a position. Messages end at end.
func readMessage(f format.File, at, end int64) (message, error) {
	m := message{at: at, next: at}
	var prefix [8]byte
	n := min(8, end-at)
	if n <= 0 {
		return m, nil
	}
	if got, err := f.ReadAt(prefix[:n], at); int64(got) < n {
		return m, readError(at, err)
	}
	if n < 4 {
		return m, syntax(at, errCut, "%v", errCut)
	}
	start, length := at+4, binary.LittleEndian.Uint32(prefix[:])
	if length == continuation {
		if n < 8 {
			return m, syntax(at, errCut, "%v", errCut)
		}
		start, length = at+8, binary.LittleEndian.Uint32(prefix[4:])
	}
	switch {
	case length == 0:
		m.next = start
		return m, nil
	case length > maxMetadata:
		return m, syntax(at, errMessage, "%v", errMessage)
	case int64(length) > end-start:
		return m, syntax(at, errCut, "%v", errCut)
	}
	raw := make([]byte, length)
	if got, err := f.ReadAt(raw, start); got < len(raw) {
		return m, readError(start, err)
	}
	m.body = start + int64(length)
	if err := m.parse(raw); err != nil {
		return m, syntax(at, errMessage, "%v", errMessage)
	}
	if m.size > end-m.body {
		return m, syntax(at, errCut, "%v", errCut)
	}
	m.next = m.body + m.size
	return m, nil
}

// readError is that of a file which is shorter than it was when it was opened, or fails.
func readError(at int64, err error) error {
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("reading at %#x: %w; the file was changed or cannot be read", at, err)
}

// parse reads kind, header and the size of the body.
func (m *message) parse(raw []byte) error {
	root, err := flatbuffer.Root(raw)
	if err != nil {
		return err
	}
	if m.kind, err = root.Number(1, 1, 0); err != nil {
		return err
	}
	if m.header, err = root.Child(2); err != nil {
		return err
	}
	m.size, err = root.Number(3, 8, 0)
	if err != nil || m.size < 0 || !m.header.Exists() || m.kind < kindSchema {
		return errors.Join(err, errMessage)
	}
	return nil
}
