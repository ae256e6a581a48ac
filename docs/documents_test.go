package docs_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ +(.+)$`)
	fence   = regexp.MustCompile("(?ms)^```.*?^```")
)

// Links between the documents, and from them to the code, lead somewhere.
func TestLinks(t *testing.T) {
	for _, doc := range files(t, ".md") {
		text := fence.ReplaceAll(read(t, doc), nil)
		for _, m := range link.FindAllSubmatch(text, -1) {
			target, anchor, _ := strings.Cut(string(m[1]), "#")
			if strings.Contains(target, "://") {
				continue
			}
			to := doc
			if target != "" {
				to = filepath.Join(filepath.Dir(doc), target)
			}
			if _, err := os.Stat(filepath.Join(root, to)); err != nil {
				t.Errorf("%s: the link to %s leads nowhere", doc, m[1])
			} else if anchor != "" && !slices.Contains(anchors(read(t, to)), anchor) {
				t.Errorf("%s: %s has no heading for #%s", doc, to, anchor)
			}
		}
	}
}

// anchors returns the names by which the headings of a document are linked.
func anchors(text []byte) []string {
	var out []string
	for _, m := range heading.FindAllSubmatch(fence.ReplaceAll(text, nil), -1) {
		h := strings.ReplaceAll(strings.ToLower(string(m[1])), " ", "-")
		out = append(out, regexp.MustCompile(`[^\pL\pN_-]`).ReplaceAllString(h, ""))
	}
	return out
}

// A decision is a page with the usual three parts, and architecture.md lists it.
func TestDecisions(t *testing.T) {
	const page = 60
	decisions, err := filepath.Glob("adr/*.md")
	if err != nil || len(decisions) == 0 {
		t.Fatalf("there are no decisions in docs/adr: %v", err)
	}
	list := read(t, "docs/architecture.md")
	for i, d := range decisions {
		text := read(t, filepath.Join("docs", d))
		if n := bytes.Count(text, []byte("\n")); n > page {
			t.Errorf("%s has %d lines; a decision fits on a page of %d", d, n, page)
		}
		if want := fmt.Sprintf("%04d-", i+1); !strings.HasPrefix(filepath.Base(d), want) {
			t.Errorf("%s: numbers go on without a gap, so it is %s", d, want)
		}
		for _, part := range []string{"## Context", "## Decision", "## Consequences"} {
			if !bytes.Contains(text, []byte("\n"+part+"\n")) {
				t.Errorf("%s has no part %q", d, part)
			}
		}
		if !bytes.Contains(list, []byte("]("+filepath.ToSlash(d)+")")) {
			t.Errorf("docs/architecture.md does not list %s", d)
		}
	}
}

// build.md lists the tags that stand in the code, and no other.
func TestBuildTags(t *testing.T) {
	var used, listed []string
	for _, s := range readSources(t) {
		for _, tag := range s.tags {
			if !slices.Contains(used, tag) && !known(tag) {
				used = append(used, tag)
			}
		}
	}
	for _, c := range readTable(t, "build.md", "tag") {
		listed = append(listed, c[0])
	}
	slices.Sort(used)
	slices.Sort(listed)
	if !slices.Equal(used, listed) {
		t.Errorf("docs/build.md lists the tags %q, but the code has %q", listed, used)
	}
}

// known reports whether Go itself sets a tag.
func known(tag string) bool {
	return strings.HasPrefix(tag, "go1.") || slices.Contains([]string{
		"cgo", "unix", "race", "gc", "linux", "darwin", "windows", "freebsd", "netbsd", "openbsd", "dragonfly", "amd64", "arm64", "ignore",
	}, tag)
}

// dependencies.md has a line, with the version in use, for each module that go.mod asks for itself.
func TestDependencies(t *testing.T) {
	listed := map[string]string{}
	for _, c := range readTable(t, "dependencies.md", "module", "version", "licence") {
		listed[c[0]] = c[1]
		if len(c) != 5 || slices.Contains(c, "") {
			t.Errorf("docs/dependencies.md: the line of %s leaves a column open", c[0])
		}
	}
	direct := map[string]string{}
	for line := range strings.Lines(string(read(t, "go.mod"))) {
		f := strings.Fields(strings.TrimPrefix(line, "require "))
		if len(f) == 2 && strings.HasPrefix(f[1], "v") {
			direct[f[0]] = f[1]
		}
	}
	if len(direct) == 0 {
		t.Fatal("go.mod asks for nothing; the test reads it wrongly")
	}
	for module, version := range direct {
		if listed[module] != version {
			t.Errorf("go.mod has %s %s, docs/dependencies.md %q", module, version, listed[module])
		}
	}
	for module := range listed {
		if direct[module] == "" {
			t.Errorf("docs/dependencies.md lists %s, which go.mod does not ask for", module)
		}
	}
}

// read returns a file of the project by its path from the root.
func read(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return text
}
