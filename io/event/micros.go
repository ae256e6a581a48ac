package event

import (
	"fmt"
	"math/big"
	"regexp"
	"strings"
)

// number matches a decimal and its unit.
var number = regexp.MustCompile(`^([+-]?[0-9]+(?:\.[0-9]+)?)\s*([A-Za-zµμ]*)$`)

// timeUnits are how many nanoseconds a unit of time has.
var timeUnits = map[string]int64{
	"ns": 1, "us": 1e3, "µs": 1e3, "μs": 1e3, "ms": 1e6, "s": 1e9, "m": 60e9, "h": 3600e9,
}

// ParseMicros reads a decimal with a unit of time, exactly, and rounds half to even to microseconds. A plain
// number is in the unit bare, or an error where bare is empty.
func ParseMicros(s, bare string) (int64, error) {
	m := number.FindStringSubmatch(strings.TrimSpace(s))
	if m == nil {
		return 0, fmt.Errorf("%q is no time; write 50ms, 2.5s or 3m (ns, us, ms, s, m, h)", s)
	}
	unit := m[2]
	if unit == "" {
		unit = bare
	}
	v, ok := new(big.Rat).SetString(m[1])
	if !ok {
		return 0, fmt.Errorf("%q is no time", s)
	}
	if unit == "" {
		if v.Sign() == 0 {
			return 0, nil
		}
		return 0, fmt.Errorf("%q has no unit; write 50ms, 2.5s or 3m (ns, us, ms, s, m, h)", s)
	}
	scale, ok := timeUnits[unit]
	if !ok {
		return 0, fmt.Errorf("%q: %q is no unit of time; there are ns, us, ms, s, m, h", s, unit)
	}
	return roundHalfEven(v.Mul(v, big.NewRat(scale, 1000)), s)
}

func roundHalfEven(v *big.Rat, s string) (int64, error) {
	q, r := new(big.Int).DivMod(v.Num(), v.Denom(), new(big.Int))
	if c := r.Lsh(r, 1).Cmp(v.Denom()); c > 0 || c == 0 && q.Bit(0) == 1 {
		q.Add(q, big.NewInt(1))
	}
	if !q.IsInt64() {
		return 0, fmt.Errorf("%q is too large", s)
	}
	return q.Int64(), nil
}
