package conformance

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evq-project/evq/io/atomicfile"
)

// A References holds what recordings decode to, by name. It is kept as one JSON object.
type References map[string]Expected

// An Expected is a summary of which not every value need be known.
type Expected struct {
	Summary
	knows map[string]bool // the keys of the values that are known
}

// Expect makes a reference of a summary.
func Expect(s *Summary) Expected {
	e := Expected{Summary: *s, knows: map[string]bool{}}
	for _, v := range values {
		e.knows[v.key] = true
	}
	e.knows["geometry"] = s.Geometry != ""
	return e
}

// Knows reports whether a value is known, by its key.
func (e Expected) Knows(key string) bool { return e.knows[key] }

// UnmarshalJSON reads an entry. Keys that are no value of a summary are passed over.
func (e *Expected) UnmarshalJSON(b []byte) error {
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(b, &keys); err != nil {
		return err
	}
	if err := json.Unmarshal(b, &e.Summary); err != nil {
		return err
	}
	e.knows = map[string]bool{}
	for _, v := range values {
		raw, ok := keys[v.key]
		e.knows[v.key] = ok && string(raw) != "null"
	}
	return nil
}

// MarshalJSON writes a whole summary.
func (e Expected) MarshalJSON() ([]byte, error) { return json.Marshal(e.Summary) }

// Errors about references.
var (
	ErrNotThere  = errors.New("the reference does not hold this recording; give its name there with --name")
	ErrAmbiguous = errors.New("the reference holds several recordings of this name; say which with --name")
	ErrNoValue   = errors.New("the reference holds no value of it that can be compared; make one with --make")
)

// largestFile bounds the size of a file of references that is read.
const largestFile = 256 << 20

// Load reads a file of references.
func Load(path string) (References, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read
	raw, err := io.ReadAll(io.LimitReader(f, largestFile+1))
	if err != nil {
		return nil, err
	}
	if len(raw) > largestFile {
		return nil, fmt.Errorf("%s is larger than %d MiB; split it", path, largestFile>>20)
	}
	var refs References
	if err := json.Unmarshal(raw, &refs); err != nil {
		return nil, fmt.Errorf("%s is no reference: %w; --make writes one", path, err)
	}
	return refs, nil
}

// Find returns the entry for the recording at path, and its name. An entry belongs to it where its name is how the path
// ends, from a slash on; the longest such name wins. Where none is, the one entry whose last part is the file's name is
// taken.
func (r References) Find(path string) (name string, e Expected, err error) {
	path = filepath.ToSlash(path)
	var same []string
	for n := range r {
		if (n == path || strings.HasSuffix(path, "/"+n)) && len(n) > len(name) {
			name = n
		}
		if base(n) == base(path) {
			same = append(same, n)
		}
	}
	switch {
	case name != "":
	case len(same) == 1:
		name = same[0]
	case len(same) > 1:
		slices.Sort(same)
		return "", e, fmt.Errorf("%s: %w: %s", path, ErrAmbiguous, strings.Join(same, ", "))
	default:
		return "", e, fmt.Errorf("%s: %w", path, ErrNotThere)
	}
	return name, r[name], nil
}

func base(name string) string { return name[strings.LastIndex(name, "/")+1:] }

// Write writes a file of references, complete or not at all. Without force it refuses a name that is taken.
func (r References) Write(path string, force bool) error {
	f, err := atomicfile.Create(path, force)
	if err != nil {
		return err
	}
	if err := r.encode(f); err != nil {
		return errors.Join(err, f.Abort())
	}
	return f.Commit()
}

// encode writes one value a line, so that two files of references can be compared by eye; events take no line each.
func (r References) encode(w io.Writer) error {
	var b strings.Builder
	b.WriteString("{")
	for i, name := range slices.Sorted(maps.Keys(r)) {
		if i > 0 {
			b.WriteString(",")
		}
		key, err := json.Marshal(name)
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "\n %s: {", key)
		e := r[name]
		first := true
		for _, v := range values {
			if !e.Knows(v.key) {
				continue
			}
			value, err := json.Marshal(v.of(&e.Summary))
			if err != nil {
				return err
			}
			if !first {
				b.WriteString(",")
			}
			first = false
			fmt.Fprintf(&b, "\n  %q: %s", v.key, value)
		}
		b.WriteString("\n }")
	}
	b.WriteString("\n}\n")
	_, err := io.WriteString(w, b.String())
	return err
}
