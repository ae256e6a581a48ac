package docs_test

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/evq-project/evq/engine"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/table"
	"github.com/evq-project/evq/io/tensor"
)

const cookbookHead = `# Cookbook

Questions, each answered by a command, by the same in Go, and by what both give on a small recording. [query.md](query.md)
says how a question is put together, [semantics.md](semantics.md) what its numbers mean.

Nothing here is written by hand: ` + "`go test ./docs -run TestCookbook -update`" + ` runs every command and every function, compares
the two, and writes this page.

The recordings are made by

` + "```sh\n" + setup + "```" + `

and three files of docs/testdata: ` + "`lab.raw`, two blinking lights, noise and triggers, `labels.npy` and `mask.png`" + `.

In Go a recording is opened by ` + "`engine.Open`" + `, and a function below makes a query of it. Nothing runs before the query
is asked for its rows, blocks or events:

` + "```go" + `
rec, err := engine.Open("drive.raw")
// ...
rows, err := perHalfSecond(rec).Collect(ctx)                  // an arrow.RecordBatch; Each has them in parts
blocks, err := heatMap(rec).Collect(ctx)                      // []tensor.Block
err = heatMap(rec).WriteTo(ctx, npy.Create("heat.npy"))       // or hdf5.Create("heat.h5")
` + "```" + `

`

// Every command of the page runs, gives what the page says, and the same as its Go code.
func TestCookbook(t *testing.T) {
	evq := buildCommand(t)
	dir := t.TempDir()
	for _, name := range copied {
		if err := os.WriteFile(filepath.Join(dir, name), read(t, "docs/testdata/"+name), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	runShell(t, evq, dir, setup)

	var page strings.Builder
	page.WriteString(cookbookHead)
	for i, r := range recipes {
		fmt.Fprintf(&page, "%d. [%s](#%s)\n", i+1, r.question, anchors([]byte("# " + r.question))[0])
	}
	sources := recipeSources(t)
	for _, r := range recipes {
		out := runShell(t, evq, dir, r.shell)
		fmt.Fprintf(&page, "\n## %s\n\n%s\n\n```sh\n%s\n```\n\n```go\n%s\n```\n\n```text\n%s```\n",
			r.question, wrapped(r.say), r.shell, sources[nameOf(r.code)], out)
		t.Run(nameOf(r.code), func(t *testing.T) {
			t.Chdir(dir)
			compare(t, r, out)
		})
	}
	checkPage(t, "cookbook.md", page.String())
}

// The example of docs/query.md is code that runs, and gives what its command gives.
func TestQueryExample(t *testing.T) {
	evq := buildCommand(t)
	dir := t.TempDir()
	text := string(read(t, "docs/query.md"))
	if !strings.Contains(text, "```go\n"+recipeSources(t)["asking"]+"\n```") {
		t.Error("docs/query.md does not show the function asking as it stands in recipes_test.go")
	}
	_, shell, _ := strings.Cut(text, "```sh\n")
	shell, _, _ = strings.Cut(shell, "```")
	runShell(t, evq, dir, setup)
	out := runShell(t, evq, dir, shell)
	t.Chdir(dir)
	compare(t, recipe{question: "docs/query.md", shell: shell, code: asking}, out)
}

// wrapped breaks text into lines of a page.
func wrapped(text string) string {
	const width = 120
	var out strings.Builder
	n := 0
	for word := range strings.FieldsSeq(text) {
		switch {
		case n == 0:
		case n+1+len(word) > width:
			out.WriteByte('\n')
			n = 0
		default:
			out.WriteByte(' ')
			n++
		}
		out.WriteString(word)
		n += len(word)
	}
	return out.String()
}

// checkPage compares a page with what it must be, or writes it.
func checkPage(t *testing.T, name, want string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(name, []byte(want), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(name); err != nil || string(got) != want {
		t.Errorf("docs/%s is stale (%v); go test ./docs -run %s -update writes it, then read what changed:\n%s", name, err, t.Name(), firstDifference(string(got), want))
	}
}

func firstDifference(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("line %d is\n%s\nand should be\n%s", i+1, a[i], b[i])
		}
	}
	return fmt.Sprintf("%d lines instead of %d", len(a), len(b))
}

// recipeSources returns the text of each function of recipes_test.go.
func recipeSources(t *testing.T) map[string]string {
	t.Helper()
	text := read(t, "docs/recipes_test.go")
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, "recipes_test.go", text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok {
			out[fn.Name.Name] = string(text[set.Position(fn.Pos()).Offset:set.Position(fn.End()).Offset])
		}
	}
	return out
}

func nameOf(code any) string {
	name := runtime.FuncForPC(reflect.ValueOf(code).Pointer()).Name()
	return name[strings.LastIndex(name, ".")+1:]
}

// compare runs the Go code of a recipe and compares it with what its command gave: printed, or wrote into a file.
func compare(t *testing.T, r recipe, printed string) {
	t.Helper()
	on := r.on
	if on == "" {
		on = "drive.raw"
	}
	var recs []*engine.Recording
	for name := range strings.FieldsSeq(on) {
		if strings.Contains(name, "*") {
			continue
		}
		recs = append(recs, open(t, name))
	}
	ctx, rows, err := t.Context(), "", error(nil)
	var q engine.Tensors
	switch code := r.code.(type) {
	case func(*engine.Recording) engine.Table:
		rows, err = csv(ctx, code(recs[0]))
	case func(*engine.Recording, *engine.Recording) engine.Table:
		rows, err = csv(ctx, code(recs[0], recs[1]))
	case func(*engine.Recording) (engine.Table, error):
		var q engine.Table
		if q, err = code(recs[0]); err == nil {
			rows, err = csv(ctx, q)
		}
	case func(context.Context, *engine.Recording) (engine.Table, error):
		var q engine.Table
		if q, err = code(ctx, recs[0]); err == nil {
			rows, err = csv(ctx, q)
		}
	case func(string, func(string, engine.Table) error) error:
		rows, err = csvOfSeveral(ctx, on, code)
	case func(*engine.Recording) engine.Tensors:
		q = code(recs[0])
	case func(*engine.Recording) (engine.Tensors, error):
		q, err = code(recs[0])
	case func(context.Context, *engine.Recording, string) error:
		written := outputs(r.shell)[0]
		if err = code(ctx, recs[0], "go-"+written); err == nil {
			compareRecordings(t, r, written, "go-"+written)
		}
		rows = printed
	default:
		t.Fatalf("%s: %T cannot be run", r.question, r.code)
	}
	switch {
	case err != nil:
		t.Errorf("%s: %s: %v", r.question, nameOf(r.code), err)
	case rows == "":
		compareBlocks(t, r, q)
	case rows != printed:
		t.Errorf("%s: %s gives\n%sand the command\n%s", r.question, nameOf(r.code), rows, printed)
	}
}

// open opens a recording until the test ends.
func open(t *testing.T, path string) *engine.Recording {
	t.Helper()
	rec, err := engine.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = rec.Close() })
	return rec
}

// csv prints the rows of a query as the command does.
func csv(ctx context.Context, q engine.Table) (string, error) {
	var out strings.Builder
	schema, err := q.Schema()
	if err != nil {
		return "", err
	}
	sink, err := table.New(&out, "csv", schema)
	if err != nil {
		return "", err
	}
	if err := q.Each(ctx, sink.Write); err != nil {
		return "", err
	}
	err = sink.Close()
	return out.String(), err
}

// csvOfSeveral prints the rows of several recordings with the column that tells them apart.
func csvOfSeveral(ctx context.Context, pattern string, code func(string, func(string, engine.Table) error) error) (string, error) {
	var out strings.Builder
	err := code(pattern, func(path string, q engine.Table) error {
		text, err := csv(ctx, q)
		for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
			switch {
			case i > 0:
				fmt.Fprintf(&out, "%s,%s\n", path, line)
			case out.Len() == 0:
				fmt.Fprintf(&out, "recording,%s\n", line)
			}
		}
		return err
	})
	return out.String(), err
}

// outputs returns the files that commands write.
func outputs(shell string) (out []string) {
	for _, m := range regexp.MustCompile(`-o (\S+)`).FindAllStringSubmatch(shell, -1) {
		out = append(out, m[1])
	}
	return out
}

func compareRecordings(t *testing.T, r recipe, a, b string) {
	t.Helper()
	var of [2]*engine.Recording
	for i, path := range []string{a, b} {
		of[i] = open(t, path)
	}
	x, err := of[0].Frame().Collect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	y, err := of[1].Frame().Collect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if d := eventtest.Diff(x, y); d != "" || of[0].Geometry() != of[1].Geometry() || x.Len() == 0 {
		t.Errorf("%s: %s writes %v: %s", r.question, nameOf(r.code), of[1].Geometry(), d)
	}
}

// compareBlocks compares the blocks of a query with the arrays that a command wrote.
func compareBlocks(t *testing.T, r recipe, q engine.Tensors) {
	t.Helper()
	layouts, err := q.Layouts()
	if err != nil {
		t.Fatalf("%s: %v", r.question, err)
	}
	parts := make([]bytes.Buffer, len(layouts))
	if err := q.Each(t.Context(), func(b tensor.Block) error { _, err := parts[b.Part].Write(b.Data); return err }); err != nil {
		t.Fatalf("%s: %v", r.question, err)
	}
	names := outputs(r.shell)
	path := names[len(names)-1]
	for i := range parts {
		got := arrayOf(t, path, layouts[i].Name)
		if parts[i].Len() == 0 || !bytes.Equal(got, parts[i].Bytes()) {
			t.Errorf("%s: %s gives other blocks of %s than the command: %d bytes, and %d", r.question, nameOf(r.code), layouts[i].Name, parts[i].Len(), len(got))
		}
	}
}

// arrayOf returns the values in a .npy, or in the member of a .npz that holds one of several representations.
func arrayOf(t *testing.T, path, name string) []byte {
	t.Helper()
	var text []byte
	var err error
	if filepath.Ext(path) == ".npz" {
		text, err = memberOf(path, name)
	} else {
		text, err = os.ReadFile(path)
	}
	if err != nil || len(text) < 10 {
		t.Fatalf("%s: %s: %d bytes, %v", path, name, len(text), err)
	}
	return text[10+int(text[8])+int(text[9])<<8:] // the header's length follows magic and version
}

func memberOf(path, name string) ([]byte, error) {
	z, err := zip.OpenReader(path)
	if err != nil {
		return nil, err
	}
	defer z.Close() //nolint:errcheck // only read
	m, err := z.Open(name + ".npy")
	if err != nil {
		return nil, err
	}
	return io.ReadAll(m)
}
