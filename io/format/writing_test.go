package format

import (
	"errors"
	"strings"
	"testing"

	"github.com/evq-project/evq/io/event"
)

func TestCheckCreate(t *testing.T) {
	writes := func(name string, w Writing) Format {
		return Format{Name: name, Writing: w, Create: func(string, Header, CreateOptions) (event.Sink, error) { return nil, nil }}
	}
	plain, typed := writes("plain", Writing{Polarity: true}), writes("typed", Writing{Polarity: true, Duration: true, Layouts: []string{"a", "b"}})
	bare := writes("bare", Writing{})
	readOnly := Format{Name: "readonly", Writing: Writing{Duration: true}}
	all := []Format{plain, typed, bare, readOnly}
	for _, c := range []struct {
		f    Format
		o    CreateOptions
		want string // "" = it is fine
	}{
		{bare, CreateOptions{}, ""},
		{bare, CreateOptions{Polarity: "01", TimeType: "int64"}, ""},
		{plain, CreateOptions{Polarity: "pm1"}, ""},
		{typed, CreateOptions{Polarity: "pm1", TimeType: "duration", Layout: "b"}, ""},
		{bare, CreateOptions{Polarity: "pm1"}, "the polarity pm1 is for plain, typed"},
		{plain, CreateOptions{TimeType: "duration"}, "duration is for typed"},
		{plain, CreateOptions{Layout: "b"}, "the layout b is for typed"},
		{plain, CreateOptions{Layout: "c"}, "the layout c is for no format"},
		{typed, CreateOptions{Layout: "c"}, "one of a, b, not"},
		{typed, CreateOptions{Polarity: "x"}, "one of 01, pm1"},
		{typed, CreateOptions{TimeType: "x"}, "one of int64, duration"},
	} {
		err := CheckCreate(c.f, c.o, all)
		if c.want == "" != (err == nil) || err != nil && (!errors.Is(err, ErrOption) || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s, %+v: %v; want %q", c.f.Name, c.o, err, c.want)
		}
	}
}
