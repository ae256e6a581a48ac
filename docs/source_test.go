// Package docs_test holds the code to what the documents say of it.
//
// It parses every Go file itself instead of asking the go command, so that files behind a build tag or for
// another system are held to the same law.
package docs_test

import (
	"go/ast"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	module = "github.com/evq-project/evq"
	root   = ".."
)

// A source is one Go file of the project.
type source struct {
	pkg     string // the folder, from the root with slashes: the package's name in the documents
	path    string // from the root
	test    bool   // its name ends in _test.go
	syntax  *ast.File
	imports []string
	tags    []string // the words of its build constraint
}

// readSources parses every Go file of the module, whatever its build constraint.
func readSources(t *testing.T) []source {
	t.Helper()
	var all []source
	for _, path := range files(t, ".go") {
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, path), nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		s := source{
			pkg:    filepath.ToSlash(filepath.Dir(path)),
			path:   filepath.ToSlash(path),
			test:   strings.HasSuffix(path, "_test.go"),
			syntax: f,
			tags:   tagsOf(f),
		}
		for _, i := range f.Imports {
			name, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			s.imports = append(s.imports, name)
		}
		all = append(all, s)
	}
	if len(all) == 0 {
		t.Fatal("there are no Go files; the test looks in the wrong place")
	}
	return all
}

// files lists the project's files whose names end in suffix, from the root. Hidden folders, what make
// makes, test data and modules of their own are left out.
func files(t *testing.T, suffix string) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if d.IsDir() && rel != "." {
			_, err := os.Stat(filepath.Join(path, "go.mod"))
			if err == nil || strings.HasPrefix(d.Name(), ".") || slices.Contains([]string{"bin", "demo", "testdata"}, d.Name()) {
				return filepath.SkipDir
			}
		}
		if !d.IsDir() && strings.HasSuffix(path, suffix) {
			found = append(found, rel)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// tagsOf returns the words of a file's //go:build line.
func tagsOf(f *ast.File) []string {
	var tags []string
	for _, g := range f.Comments {
		for _, c := range g.List {
			if c.Pos() > f.Package || !constraint.IsGoBuild(c.Text) {
				continue
			}
			if x, err := constraint.Parse(c.Text); err == nil {
				x.Eval(func(tag string) bool { tags = append(tags, tag); return true })
				x.Eval(func(tag string) bool { tags = append(tags, tag); return false })
			}
		}
	}
	slices.Sort(tags)
	return slices.Compact(tags)
}

// readTable returns the rows of the table in a document whose header starts with the given words.
// Backquotes are left out.
func readTable(t *testing.T, doc string, header ...string) [][]string {
	t.Helper()
	text, err := os.ReadFile(doc)
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]string
	inside := false
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") {
			inside = false
			continue
		}
		cells := strings.Split(strings.Trim(strings.ReplaceAll(line, "`", ""), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch {
		case inside && !strings.HasPrefix(cells[0], "---"):
			rows = append(rows, cells)
		case len(cells) >= len(header) && slices.Equal(cells[:len(header)], header):
			inside = true
		}
	}
	if len(rows) == 0 {
		t.Fatalf("%s has no table that starts with %q", doc, header)
	}
	return rows
}
