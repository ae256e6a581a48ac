package formats

import (
	"fmt"
	"io"
	"strings"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/rawheader"
)

// A Match is the format that a recording was recognised as.
type Match struct {
	Format     string // its name
	Version    string // where the format has one
	Confidence float64
	Why        string
	Properties []event.Field // what the recording says of itself, such as its geometry
}

// An UnknownError says what each format saw in a recording that none recognised. It wraps format.ErrUnknown.
type UnknownError struct {
	Tried []RefusalError
}

// A RefusalError is why a format did not take a recording.
type RefusalError struct{ Format, Why string }

func (e *UnknownError) Error() string {
	parts := make([]string, len(e.Tried))
	for i, r := range e.Tried {
		parts[i] = r.Format
		if r.Why != "" {
			parts[i] += " (" + r.Why + ")"
		}
	}
	return fmt.Sprintf("tried %s: %v", strings.Join(parts, ", "), format.ErrUnknown)
}

func (e *UnknownError) Unwrap() error { return format.ErrUnknown }

// Detect finds the format of size bytes by their contents.
func Detect(r io.ReaderAt, size int64) (Match, error) {
	return DetectFile(format.File{ReaderAt: r, Size: size})
}

// DetectFile finds the format of a file by its contents. The surest format has it; where none claims it, the error is
// an *UnknownError, a *ForeignError of a file of another kind, or the *rawheader.NameError of a header that names what evq
// does not read.
func DetectFile(f format.File) (Match, error) {
	if m, ok := byMagic(f); ok {
		return m, nil
	}
	var best Match
	var unknown UnknownError
	for _, candidate := range All {
		p := sniff(candidate, f)
		if p.Confidence > best.Confidence {
			best = matchOf(candidate, p)
		}
		unknown.Tried = append(unknown.Tried, RefusalError{candidate.Name, p.Why})
	}
	if best.Confidence > 0 {
		return best, nil
	}
	if h, err := rawheader.Read(f, f.Size); err == nil {
		if err := h.Foreign(); err != nil {
			return Match{}, err
		}
	}
	if err := kindOf(f); err != nil {
		return Match{}, err
	}
	return Match{}, &unknown
}

// byMagic finds the format that a file's first bytes name, if it is then sure: the others need not be asked, some of which
// decode a part of the file to know.
func byMagic(f format.File) (Match, bool) {
	for _, candidate := range All {
		head := make([]byte, len(candidate.Magic))
		if n, _ := f.ReadAt(head, 0); n == 0 || string(head[:n]) != candidate.Magic {
			continue
		}
		if p := sniff(candidate, f); p.Confidence == 1 {
			return matchOf(candidate, p), true
		}
	}
	return Match{}, false
}

func matchOf(f format.Format, p format.Proof) Match {
	return Match{f.Name, p.Version, p.Confidence, p.Why, p.Properties}
}

// sniff asks one format. Whatever the bytes, one format's fault must not keep the others from being asked.
func sniff(candidate format.Format, f format.File) (p format.Proof) {
	defer func() {
		if r := recover(); r != nil {
			p = format.Proof{Why: fmt.Sprintf("failed to look: %v", r)}
		}
	}()
	return candidate.Sniff(f)
}
