package main

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/evq-project/evq/engine"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/formats"
)

// A writing is the flags that say how a recording is written.
type writing struct {
	compression string
	polarity    string
	timeType    string
	layout      string
	force       bool
}

func (w *writing) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&w.compression, "compression", "", "of the output, by the `NAME` its format has for it; parquet: none, zstd, lz4")
	enumFlag(cmd, &w.polarity, "polarity-out", format.Polarity01, "write polarity as `ENCODING`: pm1 is -1 and 1, source is what the recording has",
		append(slices.Clone(format.Polarities), engine.PolaritySource)...)
	enumFlag(cmd, &w.timeType, "time-type", format.TimeInt64, "write times as `TYPE`, microseconds both", format.TimeTypes...)
	enumFlag(cmd, &w.layout, "layout-out", "", "write the layout `NAME`, in formats that have several", layouts()...)
	f.BoolVar(&w.force, "force", false, "overwrite the output")
}

// layouts are the layouts that formats are written in.
func layouts() []string {
	var names []string
	for _, f := range formats.All {
		names = append(names, f.Writing.Layouts...)
	}
	return names
}

// check refuses what the output's format cannot be written with, before anything is read. only is what alone is written.
func (w *writing) check(to format.Format, only string) error {
	o := format.CreateOptions{TimeType: w.timeType, Layout: w.layout}
	if w.polarity != engine.PolaritySource { // which only the recording tells
		o.Polarity = w.polarity
	}
	if only != "" && (w.polarity != format.Polarity01 || w.timeType != format.TimeInt64 || w.layout != "") {
		return usage("--polarity-out, --time-type and --layout-out are for events, not for --only %s", only)
	}
	if err := format.CheckCreate(to, o, formats.All); err != nil {
		return usageError{err}
	}
	return nil
}

// options are the flags for the library.
func (w *writing) options() []engine.Option {
	o := []engine.Option{engine.Compression(w.compression), engine.PolarityOut(w.polarity), engine.TimeType(w.timeType), engine.LayoutOut(w.layout)}
	if w.force {
		o = append(o, engine.Force())
	}
	return o
}
