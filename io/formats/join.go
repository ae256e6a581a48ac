package formats

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/text"
)

// Errors about the parts of a recording.
var (
	// ErrNotJoined reports a format whose recordings are never split into parts.
	ErrNotJoined = errors.New("parts of this format cannot be joined; read each on its own")
	// ErrOtherPart reports a file that is no part of the recording that the first belongs to.
	ErrOtherPart = errors.New("it is no part of the same recording")
)

// sureOfPart is how sure another format must be of a part to keep it out. A part that was cut by bytes has no header and
// may start in the middle of a word: what its bytes look like proves nothing.
const sureOfPart = 0.9

// join opens the other parts of the recording and makes one file of them all. Each is of the same format, sensor and
// layout as the first, as far as it says.
func (r *recording) join(ctx context.Context, chosen format.Format, p format.Policy, more []string) (format.File, error) {
	if chosen.Part == nil {
		return format.File{}, fmt.Errorf("%s: %w", chosen.Name, ErrNotJoined)
	}
	first, err := judgePart(ctx, r.file.File, chosen, p)
	if err != nil {
		return format.File{}, err
	}
	var rest []format.File
	var starts []int64
	for _, path := range more {
		file, err := openInput(ctx, path, p)
		if err != nil {
			return format.File{}, err
		}
		r.more = append(r.more, file)
		part, err := judgePart(ctx, file.File, chosen, p)
		if err == nil {
			err = first.differs(part)
		}
		if err != nil {
			return format.File{}, fmt.Errorf("%s: %w", path, err)
		}
		rest, starts = append(rest, file.File), append(starts, part.Start)
	}
	return format.Join(r.file.File, rest, starts), nil
}

// A judgedPart is what a part says of itself.
type judgedPart struct {
	format.Part
	sensor event.Geometry // zero where the part does not say
}

// judgePart looks at a part as one of a recording in the format chosen.
func judgePart(ctx context.Context, f format.File, chosen format.Format, p format.Policy) (judgedPart, error) {
	if m, err := DetectFile(f); err == nil && m.Format != chosen.Name && m.keepsOut() {
		return judgedPart{}, fmt.Errorf("%w: it is %s (%s), and the recording is %s", ErrOtherPart, m.Format, m.Why, chosen.Name)
	}
	part, err := chosen.Part(f, p)
	if err != nil {
		return judgedPart{}, err
	}
	p.OnRead = nil
	src, err := chosen.Open(ctx, f, p) // so that the format can refuse it
	if err != nil {
		return judgedPart{}, err
	}
	sensor := src.Geometry()
	if c, ok := src.(io.Closer); ok {
		err = c.Close()
	}
	return judgedPart{part, sensor}, err
}

// keepsOut reports whether a part that was taken for another format is sure to be of it. No piece of binary words or
// records reads as lines of events.
func (m Match) keepsOut() bool {
	return m.Confidence >= sureOfPart || m.Format == text.Format.Name || m.Format == text.CSV.Name
}

// differs says what keeps another part from following this one.
func (j judgedPart) differs(from judgedPart) error {
	switch {
	case j.sensor.Known() && from.sensor.Known() && j.sensor != from.sensor:
		return fmt.Errorf("%w: its sensor has %v pixels, that of the first part %v; pass the right one by --size if a header is wrong",
			ErrOtherPart, from.sensor, j.sensor)
	case j.Alike != "" && from.Alike != "" && j.Alike != from.Alike:
		return fmt.Errorf("%w: it has %s, the first part %s", ErrOtherPart, from.Alike, j.Alike)
	}
	return nil
}
