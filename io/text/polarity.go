package text

import (
	"bytes"
	"errors"
	"math"
)

// Why a polarity is none.
var (
	errPolarity   = errors.New("is no polarity; use --polarity-encoding nonzero to take any number but 0 as ON")
	errPolarity01 = errors.New("is neither 0 nor 1; use --polarity-encoding auto or nonzero")
	errPolarityPM = errors.New("is neither -1 nor 1; use --polarity-encoding auto or nonzero")
)

// polarityWords are the words for ON and OFF, in lower case.
var (
	onWords  = [][]byte{[]byte("true"), []byte("on"), []byte("t")}
	offWords = [][]byte{[]byte("false"), []byte("off"), []byte("f")}
)

// word returns what a word for a polarity stands for.
func word(f []byte) (p int8, ok bool) {
	for i := range onWords {
		switch {
		case bytes.EqualFold(f, onWords[i]):
			return 1, true
		case bytes.EqualFold(f, offWords[i]):
			return 0, true
		}
	}
	return 0, false
}

// polarity reads a polarity: 0 or 1, -1 or 1, or a word; 255 and 0xFFFFFFFF are a -1 that was kept without its sign.
func (e *row) polarity(f []byte, rule polarityRule) error {
	d, ok := parseDecimal(f)
	if !ok {
		e.p, e.remapped = 0, true
		if e.p, ok = word(f); !ok {
			return errPolarity
		}
		return nil
	}
	v, ok := d.whole()
	switch {
	case ok && (v == 1 || v == 0 && rule != polarityPM1):
		e.p = int8(v)
		return nil
	case rule == polarityNonzero:
		e.p = 1
	case ok && v == -1 && rule != polarity01:
		e.p = 0
	case ok && rule == polarityAuto && (v == math.MaxUint8 || v == math.MaxUint32):
		e.p, e.unsigned = 0, true
	case rule == polarity01:
		return errPolarity01
	case rule == polarityPM1:
		return errPolarityPM
	default:
		return errPolarity
	}
	e.remapped = true
	return nil
}

// encoding names the encoding of a polarity as stored.
func encoding(f []byte) string {
	d, ok := parseDecimal(f)
	switch _, isWord := word(f); {
	case isWord && (bytes.EqualFold(f, []byte("on")) || bytes.EqualFold(f, []byte("off"))):
		return "on/off"
	case isWord:
		return "true/false"
	case ok && d.neg && d.digits != 0:
		return "-1/1"
	}
	return "0/1"
}
