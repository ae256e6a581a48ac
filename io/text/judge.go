package text

import (
	"math"
	"strconv"
	"strings"
)

// A column counts what the values of one column could be.
type column struct {
	coordinates, polarities, numbers int
	rising                           int // numbers not below the one before
	pointed                          bool
	last                             float64
}

func (c *column) add(f []byte) {
	if _, ok := word(f); ok {
		c.polarities++
		return
	}
	d, ok := parseDecimal(f)
	if !ok {
		return
	}
	c.numbers++
	c.pointed = c.pointed || d.pointed
	var e row
	if _, err := e.coordinate(f); err == nil {
		c.coordinates++
	}
	if e.polarity(f, polarityAuto) == nil && !e.unsigned {
		c.polarities++
	}
	v, _ := strconv.ParseFloat(string(f), 64) // evidence needs no exactness
	if c.numbers == 1 || v >= c.last {
		c.rising++
	}
	c.last = v
}

// fits returns how many of the rows could have this column in a role.
func (c *column) fits(r role) int {
	switch r {
	case roleT:
		return c.numbers
	case roleP:
		return c.polarities
	}
	return c.coordinates
}

// orders are the orders that programs print without saying so, the most usual first.
var orders = [][]role{
	{roleT, roleX, roleY, roleP},
	{roleX, roleY, roleP, roleT},
	{roleX, roleY, roleT, roleP},
}

// judge settles what the opening left open by the first lines of events.
func (h *head) judge(lines [][]byte) {
	if !h.named {
		first := []byte(h.comment)
		if len(lines) > 0 {
			first = lines[0]
		}
		h.separate(first)
		h.commented(first)
		h.split = h.split || h.named || len(lines) > 0
	}
	var fields [][]byte
	var cols []column
	for _, line := range lines {
		fields = h.layout.fields(fields, line)
		if cols == nil {
			cols = make([]column, min(len(fields), 64))
		}
		h.rows++
		for i := range min(len(fields), len(cols)) {
			cols[i].add(fields[i])
		}
	}
	switch {
	case h.roles == nil:
		h.order(cols)
	case h.why == "":
		h.why, h.known = "as the caller says", true
	default:
		h.known = true
	}
	h.timeUnit(cols)
	h.polarity = "0/1"
	for _, line := range lines {
		fields = h.layout.fields(fields, line)
		if _, err := h.parse(fields); err != nil {
			continue
		}
		h.good++
		if h.polarity == "0/1" {
			h.polarity = encoding(fields[h.column(roleP)])
		}
	}
}

// commented takes the names of the columns from the last comment before the events, as NumPy's savetxt prints them,
// where there are as many as the first line has fields; without events the comment itself is that line.
func (h *head) commented(first []byte) {
	if h.roles != nil {
		return
	}
	names := strings.FieldsFunc(h.comment, func(r rune) bool { return strings.ContainsRune(",; \t", r) })
	if len(names) != len(h.layout.fields(nil, first)) {
		return
	}
	if roles, u := rolesOf(names); complete(roles) {
		h.roles, h.why, h.named = roles, "as the comment before the events says", true
		h.suggest(u)
	}
}

func (h *head) column(r role) int {
	for i, have := range h.roles {
		if have == r {
			return i
		}
	}
	return 0
}

// order finds the order of four columns by what their values can be, then by which is in time order. Where nothing
// fits it is the most usual one, and not known.
func (h *head) order(cols []column) {
	h.roles, h.why = orders[0], "assumed: there are no names and the values do not tell"
	if len(cols) != len(orders[0]) {
		return
	}
	best := math.Inf(-1)
	for _, o := range orders {
		fit, rising := h.rows, 0
		for i, r := range o {
			fit = min(fit, cols[i].fits(r))
			if r == roleT {
				rising = cols[i].rising
			}
		}
		if score := float64(fit) + float64(rising)/float64(h.rows+1); fit*10 >= h.rows*9 && score > best {
			best, h.known = score, true
			h.roles, h.why = o, "by the values of the first lines"
		}
	}
}

// timeUnit settles the unit: the caller's, the one in a name, or seconds where times are printed with a decimal point
// or an exponent and microseconds where they are not.
func (h *head) timeUnit(cols []column) {
	i := h.column(roleT)
	switch {
	case h.unitWhy != "":
	case h.unit.name != "":
		h.unitWhy = "the caller says so"
	case i < len(cols) && cols[i].pointed:
		h.unit, h.unitWhy = units[0], "the times have a decimal point or an exponent"
	default:
		h.unit, h.guessed = units[2], true
		h.unitWhy = "the times have no decimal point and no exponent"
	}
}
