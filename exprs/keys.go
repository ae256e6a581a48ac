package exprs

import (
	"slices"
)

// A Key is a column of a group: a value and what the column is called.
type Key struct {
	Name  string
	Value Value
}

// NewKey makes a key that is called what its value prints.
func NewKey(v Value) Key { return Key{v.String(), v} }

// String prints the key as users write it, such as y // 16 as row.
func (k Key) String() string {
	if s := k.Value.String(); s != k.Name {
		return s + " as " + k.Name
	}
	return k.Name
}

// maxKeys bounds how many keys a list has.
const maxKeys = 64

// ParseKeys reads a list of group keys, such as p, y // 16, tile(16), pixel, (t - 5ms) // 1000 as ms. A key that is
// given no name is called what its value prints; no two may have one name.
func ParseKeys(text string, opts ...Option) ([]Key, error) {
	p, err := newParser(text, opts)
	if err != nil {
		return nil, err
	}
	var keys []Key
	for {
		pos := p.tok.pos
		some, err := p.keys()
		if err != nil {
			return nil, p.place(err)
		}
		for _, k := range some {
			if slices.ContainsFunc(keys, func(o Key) bool { return o.Name == k.Name }) {
				return nil, p.place(p.fail(pos, "there are two keys %s; name one otherwise with as", k.Name))
			}
			keys = append(keys, k)
		}
		switch {
		case len(keys) > maxKeys:
			return nil, p.place(p.fail(pos, "there are more than %d keys; leave some out", maxKeys))
		case p.tok.is == isEnd:
			return keys, nil
		}
		if err := p.skip(","); err != nil {
			return nil, p.place(err)
		}
	}
}

// keys reads one part of the list, which may stand for several keys.
func (p *parser) keys() ([]Key, error) {
	if p.tok.is == isWord && !reserved(p.tok.text) {
		f, err := p.find()
		if err != nil {
			return nil, err
		}
		if f.Kind == Keys {
			return p.keyFunc(f)
		}
	}
	o, err := p.value()
	if err != nil {
		return nil, err
	}
	k := NewKey(o.val)
	if !p.see("as") {
		return []Key{k}, nil
	}
	if err := p.next(); err != nil {
		return nil, err
	}
	if p.tok.is != isWord || !isName(p.tok.text) {
		return nil, p.unexpected("a name of at most 64 letters")
	}
	k.Name = p.tok.text
	return []Key{k}, p.next()
}

// keyFunc reads a word or a call that stands for keys.
func (p *parser) keyFunc(f *Func) ([]Key, error) {
	pos := p.tok.pos
	if err := p.next(); err != nil {
		return nil, err
	}
	var args []operand
	var err error
	if f.Min > 0 || p.see("(") {
		if args, err = p.arguments(f); err != nil {
			return nil, err
		}
	}
	n, err := constants(args)
	if err != nil {
		return nil, err
	}
	keys, err := f.keys(n)
	if err != nil {
		return nil, &SyntaxError{Pos: pos, Msg: err.Error(), Err: err}
	}
	return keys, nil
}
