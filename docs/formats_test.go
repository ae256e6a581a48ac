package docs_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/evq-project/evq/io/conformance"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/formats"
)

var update = flag.Bool("update", false, "write the documents that are made from the list of formats")

// made are the documents that are made from the list of formats.
var made = map[string]func() string{"formats.md": formatsDocument, "conformance.md": conformanceDocument}

// The documents say what the list of formats says.
func TestMadeDocuments(t *testing.T) {
	for name, document := range made {
		want := document()
		if *update {
			if err := os.WriteFile(name, []byte(want), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(name); err != nil || !bytes.Equal(got, []byte(want)) {
			t.Errorf("docs/%s is stale (%v); go test ./docs -run TestMadeDocuments -update writes it", name, err)
		}
	}
}

// Every format says of itself what the documents need, and no more than it can.
func TestFormatsSayTheirFacts(t *testing.T) {
	for _, f := range formats.All {
		need := map[string]string{"Proof": f.Facts.Proof, "Time": f.Facts.Time, "Polarity": f.Facts.Polarity, "Counts": f.Facts.Counts}
		for what, text := range need {
			if text == "" {
				t.Errorf("%s: its Facts say nothing of %s", f.Name, what)
			}
		}
		if (f.Create != nil) != (f.Facts.Writes != "") {
			t.Errorf("%s: it can be written: %v, its Facts.Writes: %q", f.Name, f.Create != nil, f.Facts.Writes)
		}
		if len(f.Facts.Checks) == 0 && f.Facts.Unproven == "" {
			t.Errorf("%s: no program decodes the same, and its Facts do not say that this is unproven", f.Name)
		}
		for _, c := range f.Facts.Checks {
			if c.Program == "" || c.Recording == "" || c.Result == "" {
				t.Errorf("%s: a check leaves something open: %+v", f.Name, c)
			}
		}
		if strings.Contains(fmt.Sprint(f.Facts), "|") {
			t.Errorf("%s: its Facts have a |, which ends a cell of a table", f.Name)
		}
	}
}

const formatsHead = `# Formats

A recording is recognised by its content, never by its name; ` + "`--format NAME`" + ` overrides. A file of the right name is
written by ` + "`evq convert`" + `, whose ` + "`--to NAME`" + ` overrides the extension. Recordings inside .gz, .zst and .zip of one file
are read as they are. In all formats events become t in microseconds (int64), x and y as the sensor counts them, and p, 0 = OFF
and 1 = ON. [conformance.md](conformance.md) says who else decodes the same.

This page is made from the list of formats: ` + "`go test ./docs -run TestMadeDocuments -update`" + ` writes it.

`

func formatsDocument() string {
	b := &strings.Builder{}
	b.WriteString(formatsHead)
	b.WriteString("| format | | written as | recordings |\n| --- | --- | --- | --- |\n")
	for _, f := range formats.All {
		can, as := "read", "-"
		if f.Create != nil {
			can, as = "read, write", strings.Join(f.Extensions, " ")
		}
		fmt.Fprintf(b, "| [`%s`](#%s) | %s | %s | %s |\n", f.Name, f.Name, can, as, f.Doc)
	}
	b.WriteString("\n## What is counted\n\nDecoding counts what it meets; `evq info` and `evq check` show it, and a store keeps it.\n\n" +
		"| counter | counts |\n| --- | --- |\n")
	for _, c := range countersOf() {
		fmt.Fprintf(b, "| `%s` | %s |\n", c[0], c[1])
	}
	b.WriteString("\nEvents out of order and off the sensor are counted in every format.\n")
	for _, f := range formats.All {
		section(b, f)
	}
	return b.String()
}

func section(b *strings.Builder, f format.Format) {
	fmt.Fprintf(b, "\n## %s\n\n%s.\n\n", f.Name, f.Doc)
	line := func(what, text string) {
		if text != "" {
			fmt.Fprintf(b, "* %s: %s.\n", what, text)
		}
	}
	x := f.Facts
	line("Proof", x.Proof)
	line("Time", x.Time)
	line("Polarity", x.Polarity)
	line("Triggers", x.Triggers)
	line("Other streams", x.Streams)
	line("Counted", x.Counts)
	line("Flags", x.Options)
	line("Written", x.Writes)
	line("Written with", writing(f))
	if f.Part != nil {
		line("Parts that a camera split", "`--join` reads them as one")
	}
	for _, d := range x.Doubts {
		line("Doubt", strings.TrimSuffix(d, "."))
	}
	line("Unproven", x.Unproven)
}

// writing says what the writer can be told.
func writing(f format.Format) string {
	var out []string
	if f.Writing.Polarity {
		out = append(out, "`--polarity-out "+strings.Join(format.Polarities, "` or `")+"`")
	}
	if f.Writing.Duration {
		out = append(out, "`--time-type "+strings.Join(format.TimeTypes, "` or `")+"`")
	}
	if len(f.Writing.Layouts) > 0 {
		out = append(out, "the layouts "+strings.Join(f.Writing.Layouts, ", "))
	}
	return strings.Join(out, "; ")
}

const conformanceHead = `# Conformance

A recording that decodes to the wrong events looks like any other. So evq's decode is compared with that of independent
programs, on recordings of real cameras where there are any, event by event.

This page is made from the list of formats: ` + "`go test ./docs -run TestMadeDocuments -update`" + ` writes it.

## Checking a recording

    evq conformance drive.raw --make REF.json
    evq conformance drive.raw --against REF.json

The first writes what a recording decodes to, the second compares a decode with it. A reference guards a data set against a
change of the decoder, or of the files; written by another program, it compares that program with evq. Events are compared
in the order of the file, those off the sensor included. ` + "`--any-order`" + ` leaves out what depends on that order, as where a
sorted store is compared with the recording it was made from. Where events differ that the reference holds, the first of
them is printed. Exit codes: 0 equal, 3 different, 1 unreadable.

## The reference

A JSON object with an entry for each recording, under its name. An entry belongs to the recording whose path ends in its
name; ` + "`--name`" + ` chooses another. Every value may be missing, and then is not compared; other keys are passed over.

`

const conformanceDigest = `
A digest is the SHA-256, in hexadecimal, of one record of 13 bytes for each event, without padding: x and y as uint16, p as
uint8 with 0 = OFF and 1 = ON, t in microseconds as int64, all little-endian. In Python, with NumPy arrays:

    a = numpy.zeros(len(t), dtype=[("x", "<u2"), ("y", "<u2"), ("p", "u1"), ("t", "<i8")])
    a["x"], a["y"], a["p"], a["t"] = x, y, p, t
    file_order = hashlib.sha256(a.tobytes()).hexdigest()
    in_order = hashlib.sha256(a[numpy.lexsort((p, y, x, t))].tobytes()).hexdigest()

Both are computed in memory that does not grow with the recording.

## Who decodes the same

"Real" are recordings of a camera, "derived" those that were made from one.

`

func conformanceDocument() string {
	b := &strings.Builder{}
	b.WriteString(conformanceHead)
	b.WriteString("| key | value |\n| --- | --- |\n")
	for _, v := range conformance.Values() {
		fmt.Fprintf(b, "| `%s` | %s |\n", v[0], v[1])
	}
	b.WriteString(conformanceDigest)
	b.WriteString("| format | program | on | equal |\n| --- | --- | --- | --- |\n")
	for _, f := range formats.All {
		for _, c := range f.Facts.Checks {
			fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", f.Name, c.Program, c.Recording, c.Result)
		}
	}
	b.WriteString("\n`docs/checks/peers.py` compares evq with the decoders that are installed, on the recordings it is given;\n" +
		"`docs/checks/readback.py` has other programs read what evq writes.\n\n## What is unproven\n\n")
	for _, f := range formats.All {
		if f.Facts.Unproven != "" {
			fmt.Fprintf(b, "* `%s`: %s.\n", f.Name, f.Facts.Unproven)
		}
	}
	return b.String()
}

// countersOf lists the counters of decoding.
func countersOf() [][2]string {
	var out [][2]string
	for _, c := range event.Counters() {
		out = append(out, [2]string{c.Name, c.Doc})
	}
	return out
}
