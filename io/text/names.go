package text

import (
	"slices"
	"strings"
)

// A role is what a column holds.
type role uint8

const (
	ignored role = iota
	roleT
	roleX
	roleY
	roleP
)

const roleLetters = "-txyp"

// roleNames are the names under which programs print each column, in lower case.
var roleNames = [...][]string{
	roleT: {"t", "ts", "time", "times", "timestamp", "timestamps"},
	roleX: {"x", "xs", "x_coordinate", "col"},
	roleY: {"y", "ys", "y_coordinate", "row"},
	roleP: {"p", "ps", "pol", "polarity", "polarities", "on", "is_on"},
}

// A unit is one in which times are written; shift is its power of ten in microseconds.
type unit struct {
	name  string
	shift int
}

var units = []unit{{"s", 6}, {"ms", 3}, {"us", 0}, {"ns", -3}}

func unitByName(name string) (unit, bool) {
	if name == "µs" || name == "μs" {
		name = "us"
	}
	i := slices.IndexFunc(units, func(u unit) bool { return u.name == name })
	if i < 0 {
		return unit{}, false
	}
	return units[i], true
}

// roleByName returns what a column of that name holds, and for a time such as t_us or "time [ns]" its unit.
func roleByName(name string) (r role, u unit, hasUnit bool) {
	name = strings.ToLower(strings.Trim(name, "\"' "))
	for r, names := range roleNames {
		if slices.Contains(names, name) {
			return role(r), unit{}, false
		}
	}
	i := strings.LastIndexAny(name, "_ [(")
	if i < 0 {
		return ignored, unit{}, false
	}
	u, hasUnit = unitByName(strings.TrimRight(name[i+1:], "])"))
	if !hasUnit || !slices.Contains(roleNames[roleT], strings.TrimRight(name[:i], "_ [(")) {
		return ignored, unit{}, false
	}
	return roleT, u, true
}

// complete reports whether each of t, x, y and p is there once.
func complete(roles []role) bool {
	var n [len(roleLetters)]int
	for _, r := range roles {
		n[r]++
	}
	return n[roleT] == 1 && n[roleX] == 1 && n[roleY] == 1 && n[roleP] == 1
}
