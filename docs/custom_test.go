package docs_test

import (
	"os"
	"os/exec"
	"testing"
)

// A program outside the repository can add functions of its own: docs/examples/custom is a module that does, builds
// with what evq needs and nothing from the network, and prints what it should.
func TestCustomExample(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	const dir, golden = "examples/custom", "examples/custom/output.txt"
	if *update { // where the project's own go.mod has changed, so must the module's
		tidy := exec.Command("go", "mod", "tidy")
		tidy.Dir = dir
		if out, err := tidy.CombinedOutput(); err != nil {
			t.Fatalf("go mod tidy: %v\n%s", err, out)
		}
	}
	goCommand(t, dir, "vet", ".")
	got := goCommand(t, dir, "run", "-buildvcs=false", ".")
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil || got != string(want) {
		t.Errorf("the example prints what docs/%s does not hold (%v): %s", golden, err, firstDifference(got, string(want)))
	}
}
