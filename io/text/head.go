package text

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/format"
)

const (
	headSize = 256 << 10 // bytes in which the first events are looked for
	headRows = 4000      // lines of them that are looked at
)

// A head is what the first lines of a recording say.
type head struct {
	layout
	geometry event.Geometry
	fields   []event.Field // key: value of comments
	polarity string        // the encoding
	why      string        // of the columns
	unitWhy  string

	split     bool // there was a line to tell the separator by
	named     bool // a line names the columns
	known     bool // the values or the names tell the columns
	rows      int  // lines looked at
	good      int  // those that are events
	nameFault string
	comment   string // the last comment before the first event
}

var errText = errors.New("it is not text in a single-byte encoding or UTF-8; save it as UTF-8")

// inspect reads the first lines. The head is nil where the bytes are no text at all; with an error it holds what was
// found up to then.
func inspect(f format.File, p format.Policy) (*head, error) {
	raw := make([]byte, min(headSize, max(f.Size, 0)))
	n, err := f.ReadAt(raw, 0)
	if n < len(raw) && !errors.Is(err, io.EOF) {
		return nil, err
	}
	raw = raw[:n]
	whole := int64(len(raw)) == f.Size
	h := &head{}
	h.line = 1
	if bytes.HasPrefix(raw, []byte("\xEF\xBB\xBF")) {
		h.start = 3
	}
	if !isText(raw) {
		return nil, errText
	}
	if err := h.layout.given(p); err != nil {
		return h, err
	}
	rows := h.opening(raw, whole)
	if h.nameFault != "" && h.roles == nil {
		return h, errors.New(h.nameFault)
	}
	h.judge(rows)
	return h, nil
}

// isText refuses what no text holds. Bytes above 127 may be of any encoding: only comments can have them.
func isText(raw []byte) bool {
	for _, c := range raw {
		if c < ' ' && c != '\n' && c != '\r' && c != '\t' && c != '\f' && c != '\v' || c == 0x7F {
			return false
		}
	}
	return true
}

// opening takes the comments, the size and the names before the first event, and returns the lines of events that
// follow, as far as they are whole.
func (h *head) opening(raw []byte, whole bool) (rows [][]byte) {
	at := h.start
	for number := h.line; at < int64(len(raw)) && len(rows) < headRows; number++ {
		line, n := cutLine(raw[at:])
		if n == 0 { // without an end, so that it may be cut
			if !whole || len(rows) > 0 {
				break
			}
			line, n = bytes.TrimSpace(raw[at:]), len(raw)-int(at)
		}
		at += int64(n)
		switch {
		case len(line) == 0:
		case isComment(line):
			if len(rows) == 0 {
				h.remark(line)
			}
		case len(rows) > 0 || !h.heading(line):
			rows = append(rows, line)
			continue
		}
		if len(rows) == 0 {
			h.start, h.line = at, number+1
		}
	}
	return rows
}

// cutLine returns the first line without its end and white space, and how many bytes it takes; 0 where it has no end.
func cutLine(b []byte) (line []byte, n int) {
	i := bytes.IndexByte(b, '\n')
	if i < 0 {
		return nil, 0
	}
	return bytes.TrimSpace(b[:i]), i + 1
}

func isComment(line []byte) bool { return line[0] == '#' || line[0] == '%' }

// remark takes a comment before the first event: the sensor's size, another field, or the names of the columns.
func (h *head) remark(line []byte) {
	text := strings.TrimSpace(strings.TrimLeft(string(line), "#% "))
	h.comment = text
	key, value, ok := strings.Cut(text, ":")
	if key = strings.TrimSpace(key); !ok || key == "" || strings.ContainsAny(key, " ,;\t") || len(h.fields) >= 256 {
		return
	}
	value = strings.TrimSpace(value)
	if strings.EqualFold(key, "geometry") {
		if g := parseSize(strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune(",x ;", r) })); g.Known() {
			h.geometry = g
			return
		}
	}
	h.fields = append(h.fields, event.Field{Key: key, Value: value})
}

// parseSize reads a width and a height; zero where they are not.
func parseSize(f []string) (g event.Geometry) {
	if len(f) != 2 {
		return g
	}
	w, err1 := strconv.ParseUint(f[0], 10, 16)
	h, err2 := strconv.ParseUint(f[1], 10, 16)
	if err1 != nil || err2 != nil {
		return g
	}
	return event.Geometry{Width: int(w), Height: int(h)}
}

// heading takes the first line that is no comment, where it is the sensor's size or names the columns.
func (h *head) heading(line []byte) bool {
	if h.named || h.nameFault != "" {
		return false
	}
	h.separate(line)
	fields := strings.Fields(strings.Map(func(r rune) rune {
		if r == rune(h.sep) {
			return ' '
		}
		return r
	}, string(line)))
	if g := parseSize(fields); g.Known() && !h.split && !h.geometry.Known() {
		h.geometry = g
		return true
	}
	h.split = true
	fields = fields[:0]
	for _, f := range h.layout.fields(nil, line) {
		fields = append(fields, string(f))
	}
	return h.name(fields)
}

// name takes a line of names.
func (h *head) name(fields []string) bool {
	if len(fields) < 4 || !letters(fields) {
		return false
	}
	roles, u := rolesOf(fields)
	if !complete(roles) {
		h.nameFault = fmt.Sprintf("the columns are called %.200s, which does not name each of t, x, y and p once; name them in their order with --columns", strings.Join(fields, ", "))
		return true
	}
	h.named = true
	if h.roles == nil {
		h.roles, h.why = roles, "as the line of names says"
		h.suggest(u)
	}
	return true
}

func (h *head) suggest(u unit) {
	if h.unit.name == "" && u.name != "" {
		h.unit, h.unitWhy = u, "the name of the column says so"
	}
}

// letters reports whether no field is a value, so that a line can only be names.
func letters(fields []string) bool {
	for _, f := range fields {
		if _, ok := parseDecimal([]byte(f)); ok || f == "" {
			return false
		}
	}
	return true
}

func rolesOf(fields []string) (roles []role, u unit) {
	for _, f := range fields {
		r, of, has := roleByName(f)
		if has {
			u = of
		}
		roles = append(roles, r)
	}
	return roles, u
}
