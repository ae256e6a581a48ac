package docs_test

import (
	"go/ast"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A row is what architecture.md allows a package.
type row struct {
	name    string
	imports []string // patterns, as path.Match knows them
	foreign []string // short names of libraries
}

// An architecture is what the tables of architecture.md say.
type architecture struct {
	floors  map[string]int    // by room
	rows    map[string]row    // by package
	foreign map[string]string // the short name of each library, by import path
}

func readArchitecture(t *testing.T) architecture {
	t.Helper()
	a := architecture{floors: map[string]int{}, rows: map[string]row{}, foreign: map[string]string{}}
	for _, c := range readTable(t, "architecture.md", "room", "floor") {
		floor, err := strconv.Atoi(c[1])
		if err != nil {
			t.Fatalf("architecture.md: room %s: floor %q is not a number", c[0], c[1])
		}
		a.floors[c[0]] = floor
	}
	for _, c := range readTable(t, "architecture.md", "package") {
		if len(c) != 4 {
			t.Fatalf("architecture.md: the row of %s has %d columns, not 4", c[0], len(c))
		}
		if _, twice := a.rows[c[0]]; twice {
			t.Errorf("architecture.md: %s has two rows", c[0])
		}
		a.rows[c[0]] = row{c[0], words(c[2]), words(c[3])}
	}
	for _, c := range readTable(t, "architecture.md", "library") {
		a.foreign[c[1]] = c[0]
	}
	return a
}

// words splits a cell; a dash stands for nothing.
func words(cell string) []string {
	return slices.DeleteFunc(strings.Fields(cell), func(w string) bool { return w == "-" })
}

// room returns the first part of a package's name.
func room(pkg string) string {
	first, _, _ := strings.Cut(pkg, "/")
	return first
}

// seen reports whether one package may know of another at all: in the same room, or on a lower floor.
func (a architecture) seen(from, to string) bool {
	from, to = room(from), room(to)
	return from == to || a.floors[to] < a.floors[from]
}

// library returns the short name of a library that is not Go's own, by the longest import path that fits.
func (a architecture) library(imported string) (name string, foreign bool) {
	best := ""
	for prefix := range a.foreign {
		if (imported == prefix || strings.HasPrefix(imported, prefix+"/")) && len(prefix) > len(best) {
			best = prefix
		}
	}
	first, _, _ := strings.Cut(imported, "/")
	return a.foreign[best], best != "" || strings.Contains(first, ".")
}

func matches(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		ok, err := path.Match(p, name)
		return err == nil && ok
	})
}

// The table has a row for each package and a package for each row.
func TestEveryPackageHasARow(t *testing.T) {
	a := readArchitecture(t)
	packages := map[string]bool{}
	for _, s := range readSources(t) {
		packages[s.pkg] = true
	}
	for p := range packages {
		if _, ok := a.rows[p]; !ok {
			t.Errorf("%s has no row in docs/architecture.md; add one that says what it may import", p)
		}
	}
	for p := range a.rows {
		if !packages[p] {
			t.Errorf("docs/architecture.md has a row for %s, which has no Go file", p)
		}
	}
}

// The table itself obeys the law: no row allows an import that points up, or sideways into another room.
func TestTableObeysTheLaw(t *testing.T) {
	a := readArchitecture(t)
	for _, r := range a.rows {
		if _, ok := a.floors[room(r.name)]; !ok {
			t.Errorf("%s stands in no room of docs/architecture.md", r.name)
		}
		for _, i := range r.imports {
			if !a.seen(r.name, i) {
				t.Errorf("the row of %s allows %s, which lies no floor lower", r.name, i)
			}
			if room(i) == "cmd" {
				t.Errorf("the row of %s allows %s; nobody imports a command", r.name, i)
			}
		}
	}
}

// Files import what the row of their package allows. Tests may see all that the law allows.
func TestImports(t *testing.T) {
	a := readArchitecture(t)
	for _, s := range readSources(t) {
		r := a.rows[s.pkg]
		for _, i := range s.imports {
			if own, ok := strings.CutPrefix(i, module+"/"); ok {
				switch {
				case room(own) == "cmd":
					t.Errorf("%s imports %s; nobody imports a command", s.path, own)
				case s.test && !a.seen(s.pkg, own):
					t.Errorf("%s imports %s, which lies no floor lower", s.path, own)
				case !s.test && !matches(r.imports, own):
					t.Errorf("%s imports %s, which the row of %s in docs/architecture.md does not allow", s.path, own, s.pkg)
				}
				continue
			}
			name, foreign := a.library(i)
			if !foreign || slices.Contains(r.foreign, name) || s.test && name == "cmp" {
				continue
			}
			if name == "" {
				t.Errorf("%s imports %s, which the libraries of docs/architecture.md do not list", s.path, i)
			} else {
				t.Errorf("%s imports %s, but the row of %s does not name %s", s.path, i, s.pkg, name)
			}
		}
	}
}

// Nothing stands directly in io: its name would hide the standard library's.
func TestNoFileInIO(t *testing.T) {
	for _, s := range readSources(t) {
		if s.pkg == "io" || s.pkg == "." {
			t.Errorf("%s stands outside the packages; give it one", s.path)
		}
	}
}

// Lists are slices that a reader can find, so nothing registers itself; the network and the old logger are
// no business of any room; only commands, and the example programs in docs, print or exit.
func TestHouseRules(t *testing.T) {
	for _, s := range readSources(t) {
		for _, banned := range []string{"log", "net", "net/http", "plugin", "expvar"} {
			if !s.test && room(s.pkg) != "docs" && slices.Contains(s.imports, banned) {
				t.Errorf("%s imports %s, which no package of evq needs", s.path, banned)
			}
		}
		for _, d := range s.syntax.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
				t.Errorf("%s has an init function; put an entry in the list instead", s.path)
			}
		}
		if s.test || room(s.pkg) == "cmd" || room(s.pkg) == "docs" {
			continue
		}
		ast.Inspect(s.syntax, func(n ast.Node) bool {
			if what := speaks(n); what != "" {
				t.Errorf("%s uses %s; only cmd prints or exits", s.path, what)
			}
			return true
		})
	}
}

// speaks returns what a node uses to print on the terminal or to end the program, or "".
func speaks(n ast.Node) string {
	sel, ok := n.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	x, ok := sel.X.(*ast.Ident)
	if !ok {
		return ""
	}
	switch name := x.Name + "." + sel.Sel.Name; name {
	case "fmt.Print", "fmt.Printf", "fmt.Println", "os.Exit", "os.Stdout", "os.Stderr":
		return name
	}
	return ""
}

// Every package says in a sentence what it does.
func TestPackageSentences(t *testing.T) {
	said, code := map[string]bool{}, map[string]bool{}
	for _, s := range readSources(t) {
		if s.test {
			continue
		}
		code[s.pkg] = true
		doc := s.syntax.Doc.Text()
		if strings.HasPrefix(doc, "Package "+s.syntax.Name.Name+" ") || s.syntax.Name.Name == "main" && strings.HasPrefix(doc, "Command ") {
			said[s.pkg] = true
		}
	}
	for p := range code {
		if !said[p] {
			t.Errorf("%s has no package comment that starts with its name", p)
		}
	}
}
