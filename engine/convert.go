package engine

import (
	"context"
	"fmt"
	"strconv"

	"github.com/evq-project/evq/io/convert"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/formats"
)

// Convert copies a source, with its triggers, to a file whose format follows its extension: the sorted
// store (.parquet), or any format with a writer. The source is a recording, or a frame's Source. The file appears
// under its name only when it is complete.
// Options: Format (of the output), Force, Compression, PolarityOut, TimeType, LayoutOut, Threads, Progress, Policies and Facts (which a store
// records), Collected.
func Convert(ctx context.Context, src event.Source, path string, opts ...Option) (*event.Report, error) {
	s := settingsOf(opts)
	to, err := writer(path, s.format)
	if err != nil {
		return nil, err
	}
	out, err := s.createOptions(ctx, src, to)
	if err != nil {
		return nil, err
	}
	info := src.Info()
	create := func() (event.Sink, error) {
		return to.Create(path, format.Header{Geometry: src.Geometry(), Fields: info.Fields}, out)
	}
	var written convert.Written
	o := convert.Options{Threads: s.threads, OffSensorGiven: s.policy.OnOffSensor != "", Facts: append(facts(s.policy), s.facts...), Written: &written}
	if s.progress != nil {
		o.Progress = func(done int64) { s.progress(done, info.Events) }
	}
	rep, err := convert.Run(ctx, src, create, o)
	if err == nil {
		leftOut(to, &written, rep)
	}
	if err == nil && s.stats != nil {
		*s.stats = Stats{Report: rep, Events: rep.Events, Written: written}
	}
	return rep, err
}

// writer returns the format to write path in: the one called name, or the one that path's extension says.
func writer(path, name string) (format.Format, error) {
	if name == "" {
		return formats.ByExtension(path)
	}
	f, err := formats.ByName(name)
	if err == nil && f.Create == nil {
		err = fmt.Errorf("%s: %s recordings can be read but not written; choose another format", path, f.Name)
	}
	return f, err
}

// facts are the policies that a store records.
func facts(p format.Policy) []event.Field {
	p = p.WithDefaults()
	return []event.Field{
		{Key: "on_unsorted", Value: string(p.OnUnsorted)},
		{Key: "on_offsensor", Value: string(p.OnOffSensor)},
		{Key: "on_unknown", Value: string(p.OnUnknown)},
		{Key: "strict", Value: strconv.FormatBool(p.Strict)},
	}
}
