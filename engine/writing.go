package engine

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/evq-project/evq/io/convert"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/formats"
)

// PolaritySource is the polarity that Convert writes as its source has it.
const PolaritySource = "source"

// PolarityOut sets how Convert writes polarity: 01 (default), pm1 for -1 and 1, or source for what the recording that is
// read has; a source that has neither is written as 01. Formats that hold only one encoding refuse the others.
func PolarityOut(encoding string) Option { return func(s *settings) { s.output.Polarity = encoding } }

// TimeType sets the type of times that Convert writes: int64 (default) or duration, in formats that have types.
func TimeType(name string) Option { return func(s *settings) { s.output.TimeType = name } }

// LayoutOut sets the layout that Convert writes, by the names of the output's format.
func LayoutOut(name string) Option { return func(s *settings) { s.output.Layout = name } }

// createOptions are those of the output, once they are known to fit it.
func (s settings) createOptions(ctx context.Context, src event.Source, to format.Format) (format.CreateOptions, error) {
	o := s.output
	o.Force, o.Compression, o.Threads = s.force, s.compression, s.threads
	if o.Polarity == PolaritySource {
		var err error
		if o.Polarity, err = sourcePolarity(ctx, src, s.policy); err != nil {
			return o, err
		}
	}
	return o, format.CheckCreate(to, o, formats.All)
}

// sourcePolarity returns the encoding of a source. Where its type allows both, the events tell: it is read up to the first
// that is stored otherwise than as 0 or 1.
func sourcePolarity(ctx context.Context, src event.Source, p format.Policy) (_ string, err error) {
	const minus = "-1/1"
	info := src.Info()
	stored := info.Polarity
	if own := info.Field("evq.polarity"); own != "" { // of the recording that a store was made from
		stored = own
	}
	switch {
	case stored == minus, info.Report != nil && strings.Contains(stored, minus) && info.Report.N(event.RemappedPolarity) > 0:
		return format.PolarityPM1, nil
	case stored != "" && !strings.Contains(stored, minus), p.Polarity == "nonzero":
		return format.Polarity01, nil
	}
	st, err := src.Scan(ctx, event.Request{Box: event.Everything})
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	for {
		b, err := st.Next(ctx)
		switch {
		case st.Report().N(event.RemappedPolarity) > 0:
			return format.PolarityPM1, nil
		case errors.Is(err, io.EOF):
			return format.Polarity01, nil
		case err != nil:
			return "", err
		}
		b.Release()
	}
}

// leftOut notes the triggers that the output has no place for, and counts them as not written.
func leftOut(to format.Format, w *convert.Written, rep *event.Report) {
	if w.Triggers == 0 || to.Writing.Triggers {
		return
	}
	rep.Note("%d external triggers are left out: %s has no place for them; convert --only triggers takes them out.", w.Triggers, to.Name)
	w.Triggers = 0
}
