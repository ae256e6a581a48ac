package main

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/evq-project/evq/engine/rvt"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/hdf5"
	"github.com/evq-project/evq/udf"
	"github.com/evq-project/evq/udf/builtins"
)

// A treeFlags is the flags that rvt sequence and rvt dataset share.
type treeFlags struct {
	app *app
	labelling
	reading reading

	ends        string
	every, span time.Duration
	count       int64
	repr        string
	downsample  string

	out, compression, device      string
	verify, force, dryRun, asJSON bool
}

func (t *treeFlags) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVarP(&t.out, "output", "o", "", "write the tree below `DIR`")
	t.labelling.flags(cmd)
	f.StringVar(&t.ends, "ends", "", "windows end at the times of `GRID.npy` (integers, µs) instead of at labels")
	_ = cmd.MarkFlagFilename("ends", "npy")
	valueFlag(cmd, &t.every, parseDuration, "every", "", "windows end every `D` instead of at labels")
	valueFlag(cmd, &t.span, parseDuration, "span", "50ms", "the windows' length `D`")
	valueFlag(cmd, &t.count, parseCount, "count", "", "windows of the last `N` events before their end, such as 50k, instead of --span")
	t.repr = "rvt"
	names := reprNames()
	add(cmd, &value{text: "rvt", kind: "NAME", set: func(s string) error { t.repr = s; return nil }}, "repr", "",
		"the representation, `NAME[:key=value,...]`, with the data set's defaults: "+strings.Join(names, ", "))
	complete(cmd, "repr", names)
	enumFlag(cmd, &t.downsample, "downsample", "", "shorten each side `N` times (default 2 for gen4, 1 for gen1)", "1", "2")
	add(cmd, &value{kind: "NAME", set: func(s string) error { t.compression = s; return oneOf(s, hdf5.Compressions) }}, "compression", "",
		"of the frames, `NAME`: "+strings.Join(hdf5.Compressions, ", "))
	complete(cmd, "compression", hdf5.Compressions)
	deviceFlag(cmd, &t.device)
	f.BoolVar(&t.verify, "verify", false, "read the frames back and compare them with what was written")
	f.BoolVar(&t.force, "force", false, "make anew what is there, even if it was made otherwise")
	f.BoolVar(&t.dryRun, "dry-run", false, "say what would be done")
	f.BoolVar(&t.asJSON, "json", false, "print JSON")
	t.reading.flags(cmd)
	for flag, word := range map[string]string{"on-unsorted": "clamp", "on-offsensor": "keep"} {
		u := cmd.Flags().Lookup(flag)
		u.Usage = u.Usage[:strings.LastIndex(u.Usage, "(default ")] + "(default " + word + ", as RVT reads)"
	}
}

// options turns the flags into options that lack what windows end at.
func (t *treeFlags) options() (rvt.Options, error) {
	o, err := t.choices()
	if err != nil {
		return o, err
	}
	if t.out == "" {
		return o, usage("%s needs -o DIR", t.cmd.CommandPath())
	}
	for flag, zero := range map[string]bool{"every": t.every == 0, "span": t.span == 0, "count": t.count == 0} {
		if zero && t.given(flag) {
			return o, usage("--%s is more than nothing", flag)
		}
	}
	if t.given("span") && t.given("count") {
		return o, usage("--span and --count are two kinds of windows; give one")
	}
	text, err := t.reprText(o.Dataset)
	if err != nil {
		return o, err
	}
	reps, policies, err := parseReprs([]string{text})
	if err != nil {
		return o, err
	}
	t.reading.prefer(policies)
	a := t.app
	o.EndsFile, o.Every, o.Span, o.Count, o.Representation = t.ends, t.every, t.span, t.count, reps[0]
	o.Format, o.Decode, o.Size = t.reading.format, t.reading.policies(), t.reading.size
	o.Out, o.Force, o.Verify, o.Compression, o.Device = t.out, t.force, t.verify, t.compression, t.device
	o.Threads, o.Memory, o.Logger, o.Version = a.threads, a.memory, a.log, readVersion().Version
	return o, nil
}

// reprText is --repr with RVT's arguments for the data set where the user gave none.
func (t *treeFlags) reprText(d rvt.Dataset) (string, error) {
	name, given, err := udf.ParseCall(t.repr)
	if err != nil {
		return "", usage("--repr %w", err)
	}
	if name == "rvt" {
		name = "stacked_histogram" // the preset has gen4's size
	}
	args := udf.Args{}
	maps.Copy(args, rvt.Defaults(d, name))
	maps.Copy(args, given)
	if t.downsample != "" {
		if in, ok := given["downsample"]; ok && in != t.downsample {
			return "", usage("--repr says downsample=%s and --downsample %s; give one", in, t.downsample)
		}
		if entry, ok := builtins.Lookup(name); ok && !slices.ContainsFunc(entry.Params, func(p udf.Param) bool { return p.Name == "downsample" }) {
			return "", usage("--downsample: %s cannot be made smaller", name)
		}
		args["downsample"] = t.downsample
	}
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(args)) {
		parts = append(parts, k+"="+args[k])
	}
	if len(parts) == 0 {
		return name, nil
	}
	return name + ":" + strings.Join(parts, ","), nil
}

// keeps reports whether events off the sensor are kept.
func (t *treeFlags) keeps() bool {
	return t.reading.onOffSensor == "" || t.reading.onOffSensor == format.Keep
}
