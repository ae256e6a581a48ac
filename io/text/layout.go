package text

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/evq-project/evq/io/format"
)

// A layout is how the lines of a recording are read.
type layout struct {
	sep      byte   // ',' or ';', or ' ' for runs of spaces and tabs
	roles    []role // what each column holds; further columns are ignored where loose is set
	loose    bool
	unit     unit
	guessed  bool // the unit was taken from how the first times are printed
	start    int64
	line     int // the number of the line at start, from 1
	polarity polarityRule
}

// columns lists the columns as --columns takes them.
func (l *layout) columns() string {
	names := make([]string, len(l.roles))
	for i, r := range l.roles {
		names[i] = roleLetters[r : r+1]
	}
	return strings.Join(names, ",")
}

// fields cuts a line into trimmed fields, reusing dst.
func (l *layout) fields(dst [][]byte, line []byte) [][]byte {
	dst = dst[:0]
	if l.sep == ' ' {
		for {
			line = bytes.TrimLeft(line, " \t")
			if len(line) == 0 {
				return dst
			}
			i := bytes.IndexAny(line, " \t")
			if i < 0 {
				i = len(line)
			}
			dst, line = append(dst, line[:i]), line[i:]
		}
	}
	for {
		i := bytes.IndexByte(line, l.sep)
		if i < 0 {
			return append(dst, bytes.TrimSpace(line))
		}
		dst, line = append(dst, bytes.TrimSpace(line[:i])), line[i+1:]
	}
}

// separators are tried in this order: a comma may have spaces around it, and a semicolon commas.
const separators = ";, "

// separate finds what stands between the fields of a line.
func (l *layout) separate(line []byte) {
	for _, sep := range []byte(separators) {
		if bytes.IndexByte(line, sep) >= 0 {
			l.sep = sep
			return
		}
	}
	l.sep = ' '
}

// A polarityRule is what --polarity-encoding allows.
type polarityRule uint8

const (
	polarityAuto polarityRule = iota
	polarity01
	polarityPM1
	polarityNonzero
)

func polarityByName(name string) (polarityRule, error) {
	for i, s := range []string{"auto", "01", "pm1", "nonzero"} {
		if s == name {
			return polarityRule(i), nil
		}
	}
	return 0, fmt.Errorf("the polarity encoding is one of auto, 01, pm1, nonzero, not %q", name)
}

// given applies what the caller says of columns, unit and polarity.
func (l *layout) given(p format.Policy) (err error) {
	if l.polarity, err = polarityByName(p.Polarity); err != nil {
		return err
	}
	if p.TimeUnit != "" && p.TimeUnit != "auto" {
		u, ok := unitByName(p.TimeUnit)
		if !ok {
			return fmt.Errorf("the time unit is one of auto, s, ms, us, ns, not %q", p.TimeUnit)
		}
		l.unit = u
	}
	if len(p.Columns) == 0 {
		return nil
	}
	l.roles, l.loose = nil, true
	for _, name := range p.Columns {
		r, u, has := roleByName(name)
		if has && l.unit.name == "" {
			l.unit = u
		}
		l.roles = append(l.roles, r)
	}
	if !complete(l.roles) {
		return fmt.Errorf("the columns %s do not name each of t, x, y and p once; write - for a column to pass over", strings.Join(p.Columns, ","))
	}
	return nil
}

// A row is one event, and what was met in its line.
type row struct {
	t        int64
	x, y     uint16
	p        int8
	remapped bool // the polarity is not stored as 0 or 1
	negative bool // a coordinate
	unsigned bool // the polarity is a -1 without its sign
}

// Why a line is no event.
var (
	errNumber   = errors.New("is not a number")
	errFraction = errors.New("is a fraction of a pixel; scale and round coordinates first")
	errRange    = errors.New("is beyond 65535, which no sensor reaches; name the order of columns with --columns")
	errTime     = errors.New("is beyond what 64 bits of microseconds hold; give the right --time-unit")
	errMicro    = errors.New("is not a whole number of microseconds; if times are in seconds, give --time-unit s")
	errGuessed  = errors.New("has a decimal point, but the first times have none and were taken as microseconds; give --time-unit")
)

// parse reads the fields of one line.
func (l *layout) parse(fields [][]byte) (e row, err error) {
	if n := len(l.roles); len(fields) < n || len(fields) > n && !l.loose {
		return e, fmt.Errorf("%d columns, where there are %d (%s)", len(fields), n, l.columns())
	}
	for i, r := range l.roles {
		f := fields[i]
		switch r {
		case roleT:
			e.t, err = l.time(f)
		case roleX:
			e.x, err = e.coordinate(f)
		case roleY:
			e.y, err = e.coordinate(f)
		case roleP:
			err = e.polarity(f, l.polarity)
		}
		if err != nil {
			return e, fmt.Errorf("%s is %.40q, which %w", roleLetters[r:r+1], f, err)
		}
	}
	return e, nil
}

func (l *layout) time(f []byte) (int64, error) {
	d, ok := parseDecimal(f)
	if !ok {
		return 0, errNumber
	}
	t, exact, ok := d.scaled(l.unit.shift)
	switch {
	case !ok:
		return 0, errTime
	case d.pointed && l.guessed && l.unit.shift == 0:
		return 0, errGuessed
	case !exact && l.unit.shift == 0:
		return 0, errMicro
	}
	return t, nil
}

func (e *row) coordinate(f []byte) (uint16, error) {
	d, ok := parseDecimal(f)
	if !ok {
		return 0, errNumber
	}
	v, ok := d.whole()
	switch {
	case !ok && d.exp < 0:
		return 0, errFraction
	case !ok || v > math.MaxUint16:
		return 0, errRange
	case v < 0:
		e.negative = true
		return math.MaxUint16, nil
	}
	return uint16(v), nil
}
