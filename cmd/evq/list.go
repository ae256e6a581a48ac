package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/evq-project/evq/accel"
	"github.com/evq-project/evq/accel/devices"
	"github.com/evq-project/evq/exprs"
	"github.com/evq-project/evq/io/formats"
	"github.com/evq-project/evq/io/hdf5"
	"github.com/evq-project/evq/plan/optimize"
	"github.com/evq-project/evq/udf"
	"github.com/evq-project/evq/udf/builtins"
)

// An item is one line of a list. The names of its JSON keys are stable.
type item struct {
	Name      string      `json:"name"`
	Doc       string      `json:"doc"`
	Available bool        `json:"available"`
	Why       string      `json:"why_not,omitempty"`
	Can       string      `json:"can,omitempty"` // of formats: read, write; of functions: what they yield
	Files     []string    `json:"extensions,omitempty"`
	Source    string      `json:"source,omitempty"`
	Params    []itemParam `json:"params,omitempty"`
}

type itemParam struct {
	Name    string   `json:"name"`
	Default string   `json:"default"`
	Choices []string `json:"choices,omitempty"`
	Doc     string   `json:"doc"`
}

// lists are what can be listed.
var lists = []struct {
	name  string
	items func() []item
}{
	{"formats", formatItems}, {"representations", entryItems(builtins.All)}, {"filters", entryItems(builtins.Filters)},
	{"aggregates", entryItems(builtins.Aggregates)}, {"transforms", transformItems}, {"functions", functionItems},
	{"devices", deviceItems}, {"rules", ruleItems},
}

func (a *app) listCommand() *cobra.Command {
	var names []string
	for _, l := range lists {
		names = append(names, l.name)
	}
	asJSON := false
	cmd := &cobra.Command{
		Use:   "list " + strings.Join(names, "|"),
		Short: "List what this build can do, and why something is not available",
		Example: `  evq list formats
  evq list representations --json`,
		ValidArgs: names,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage("evq list takes one of %s", strings.Join(names, ", "))
			}
			for _, l := range lists {
				if l.name == args[0] {
					return printItems(a.out, l.items(), asJSON)
				}
			}
			return unknown("list", args[0], names)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func printItems(w io.Writer, items []item, asJSON bool) error {
	if asJSON {
		return printJSON(w, items)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, i := range items {
		doc := i.Doc
		if i.Can != "" {
			doc = i.Can + "\t" + doc
		}
		if !i.Available {
			doc += "; not available: " + i.Why
		}
		_, _ = fmt.Fprintf(t, "%s\t%s\n", i.Name, doc)
	}
	return t.Flush()
}

func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

func formatItems() []item {
	var items []item
	for _, f := range formats.All {
		i := item{Name: f.Name, Doc: f.Doc, Available: true, Can: "read", Files: f.Extensions}
		if f.Create != nil {
			i.Can = "read, write"
		}
		if f.Name == hdf5.Format.Name && !hdf5Built {
			i.Available, i.Why = false, hdf5.ErrNotBuilt.Error()
		}
		items = append(items, i)
	}
	return items
}

// entryItems lists the functions of many events.
func entryItems[F any](entries []udf.EntryOf[F]) func() []item {
	return func() []item {
		var items []item
		for _, e := range entries {
			i := item{Name: e.Name, Doc: e.Doc, Available: true, Source: e.Source}
			for _, p := range e.Params {
				i.Params = append(i.Params, itemParam{p.Name, p.Default, p.Choices, p.Doc})
			}
			items = append(items, i)
		}
		return items
	}
}

// transformItems lists the transforms, which are flags of their own.
func transformItems() []item {
	var items []item
	for _, t := range exprs.Transforms {
		items = append(items, item{Name: strings.TrimSpace("--" + t.Name + " " + t.Param), Doc: t.Doc, Available: true})
	}
	return items
}

// functionItems lists the functions of one event, which conditions, keys and aggregates can use, and those of SQL.
func functionItems() []item {
	var items []item
	for _, f := range exprs.Funcs {
		items = append(items, item{Name: f.Usage, Doc: f.Doc, Available: true, Can: f.Kind.String()})
	}
	return append(items, sqlFunctionItems()...)
}

// deviceDocs say where a device counts.
var deviceDocs = map[string]string{
	"cpu": "counts on the processor", "cuda": "counts on NVIDIA's hardware, through its driver alone", "metal": "counts on a Mac's graphics hardware",
}

func deviceItems() []item {
	var items []item
	for _, d := range devices.All {
		i := item{Name: d.Name(), Available: true, Doc: deviceDocs[d.Name()]}
		if err := d.Probe(); err != nil {
			i.Available, i.Why = false, err.Error()
		} else if h, ok := hardwareOf(d); ok {
			i.Doc += fmt.Sprintf(": %s, compute capability %s, %d GiB", h.Name, h.Capability, h.Memory>>30)
		}
		items = append(items, i)
	}
	return items
}

// hardwareOf returns what a device says of itself.
func hardwareOf(d accel.Device) (h accel.Hardware, ok bool) {
	described, ok := d.(accel.Described)
	if !ok {
		return h, false
	}
	h, err := described.Describe()
	return h, err == nil
}

func ruleItems() []item {
	var items []item
	for _, r := range optimize.Default {
		items = append(items, item{Name: r.Name, Doc: r.Doc, Available: true})
	}
	return items
}

// reprHelp is the representations and their parameters as the help shows them.
func reprHelp() string {
	var b strings.Builder
	b.WriteString("Representations:\n")
	for _, e := range builtins.All {
		_, _ = fmt.Fprintf(&b, "  %s: %s\n", e.Name, e.Doc)
		for _, p := range e.Params {
			_, _ = fmt.Fprintf(&b, "    %s=%s  %s\n", p.Name, p.Default, p.Doc)
		}
	}
	return strings.TrimRight(b.String(), "\n")
}
