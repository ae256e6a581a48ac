package formattest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/format"
)

var (
	errKnown = errors.New("known")
	taken    []byte // keeps what a faulty format allocates from being left out
)

// faulty is a format that opens as open does.
func faulty(proof format.Proof, open func() (event.Source, error)) format.Format {
	return format.Format{Name: "faulty", Sniff: func(format.File) format.Proof { return proof },
		Open: func(context.Context, format.File, format.Policy) (event.Source, error) { return open() }}
}

// failing is a source whose scans end with an error after one event.
func failing(err error) func() (event.Source, error) {
	one := event.New([]int64{1}, []uint16{1}, []uint16{1}, []int8{1})
	return func() (event.Source, error) {
		return endsWith{eventtest.Source(one, event.Geometry{}, 1), err}, nil
	}
}

type endsWith struct {
	event.Source
	err error
}

func (e endsWith) Scan(ctx context.Context, want event.Request) (event.Stream, error) {
	st, err := e.Source.Scan(ctx, want)
	return &endsWithStream{st, e.err}, err
}

type endsWithStream struct {
	event.Stream
	err error
}

func (e *endsWithStream) Next(ctx context.Context) (event.Batch, error) {
	b, err := e.Stream.Next(ctx)
	if errors.Is(err, io.EOF) && e.err != nil {
		err = e.err
	}
	return b, err
}

// What a format must not do over hostile bytes is seen, and what it may do passes.
func TestHostile(t *testing.T) {
	for name, c := range map[string]struct {
		f  format.Format
		ok bool
	}{
		"reads":              {faulty(format.Proof{}, failing(nil)), true},
		"a syntax error":     {faulty(format.Proof{}, failing(&format.SyntaxError{Format: "faulty", Offset: 3, Msg: "bad"})), true},
		"wrapped":            {faulty(format.Proof{}, failing(fmt.Errorf("faulty: %w", errKnown))), true},
		"a place in words":   {faulty(format.Proof{}, failing(errors.New("faulty: row 7: no polarity"))), true},
		"refuses":            {faulty(format.Proof{}, func() (event.Source, error) { return nil, errors.New("faulty: version 9") }), true},
		"refuses namelessly": {faulty(format.Proof{}, func() (event.Source, error) { return nil, errors.New("version 9") }), false},
		"no type, no place":  {faulty(format.Proof{}, failing(errors.New("faulty: oops"))), false},
		"sure of nothing":    {faulty(format.Proof{Confidence: 0.7}, failing(nil)), false},
		"too sure":           {faulty(format.Proof{Confidence: 2, Why: "!"}, failing(nil)), false},
		"takes memory": {faulty(format.Proof{}, func() (event.Source, error) {
			taken = make([]byte, MaxAllocated+1)
			return nil, errors.New("faulty: large")
		}), false},
	} {
		r := &recorder{TB: t}
		_ = Hostile{Format: c.f, Known: []error{errKnown}, Policies: []format.Policy{{}}}.Check(r, []byte("x"))
		if taken = nil; (len(r.errors) == 0) != c.ok {
			t.Errorf("%s: %q", name, r.errors)
		}
	}
}
