package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/evq-project/evq/io/atomicfile"
)

// benchResults are what a benchmark measured, and what on. The names of the JSON keys are stable.
type benchResults struct {
	Kind      string      `json:"kind"` // rvt or dataset: how its files are called
	When      time.Time   `json:"when"`
	Machine   string      `json:"machine"`
	Version   string      `json:"evq"`
	Input     string      `json:"input"`
	Events    int64       `json:"events"` // -1 where it is not known
	Windows   int64       `json:"windows"`
	Repeats   int         `json:"repeats"`
	Reference string      `json:"reference"` // what outputs were compared with
	Rows      []*benchRow `json:"rows"`
}

// A benchRow is one program.
type benchRow struct {
	Name    string     `json:"name"`
	Title   string     `json:"title"`
	Own     bool       `json:"own"` // evq's
	Windows int64      `json:"windows"`
	Check   string     `json:"check"` // how its output compares with the reference
	Error   string     `json:"error,omitempty"`
	Runs    []benchRun `json:"runs"`
}

// A benchRun is one process.
type benchRun struct {
	Wall    float64            `json:"wall_s"`     // of the work, without start-up
	CPU     float64            `json:"cpu_s"`      // 0 where the system does not tell
	Peak    int64              `json:"peak_bytes"` // of resident memory; 0 where the system does not tell
	Process float64            `json:"process_wall_s,omitempty"`
	Version string             `json:"version,omitempty"`
	Stages  map[string]float64 `json:"stages,omitempty"` // seconds
}

func newBenchResults(kind, input string, repeats int, events, windows int64) *benchResults {
	return &benchResults{Kind: kind, When: time.Now().UTC().Truncate(time.Second), Machine: machineText(), Version: readVersion().Version,
		Input: input, Events: events, Windows: windows, Repeats: repeats}
}

// machineText names processor, memory and system as far as the system tells.
func machineText() string {
	text := fmt.Sprintf("%d CPUs, %s/%s, %s", runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version())
	if total := procField("/proc/meminfo", "MemTotal:"); total > 0 {
		text = fmt.Sprintf("%.0f GiB memory, ", float64(total)/(1<<30)) + text
	}
	info, _ := os.ReadFile("/proc/cpuinfo")
	for line := range bytes.Lines(info) {
		if name, model, ok := strings.Cut(string(line), ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(model) + ", " + text
		}
	}
	return text
}

// write keeps the results as JSON and, beside them, the table.
func (r *benchResults) write(dir string) (string, error) {
	text, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, r.Kind+".json")
	return path, writeWhole(path, append(text, '\n'))
}

// writeWhole replaces a file at once.
func writeWhole(path string, text []byte) error {
	f, err := atomicfile.Create(path, true)
	if err != nil {
		return err
	}
	if _, err := f.Write(text); err != nil {
		_ = f.Abort()
		return err
	}
	return f.Commit()
}

func readBenchResults(path string) (*benchResults, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r := &benchResults{}
	if err := json.Unmarshal(text, r); err != nil {
		return nil, fmt.Errorf("%s: no results of evq bench: %w", path, err)
	}
	if !slices.Contains([]string{"rvt", "dataset"}, r.Kind) || slices.Contains(r.Rows, nil) {
		return nil, fmt.Errorf("%s: no results of evq bench: its kind is %q, and there are rvt and dataset", path, r.Kind)
	}
	return r, nil
}

// A spread is the least, the median and the largest of some values.
type spread struct{ min, median, max float64 }

// of takes one number of each run.
func (b *benchRow) of(number func(benchRun) float64) spread {
	var v []float64
	for _, r := range b.Runs {
		v = append(v, number(r))
	}
	if len(v) == 0 {
		return spread{}
	}
	slices.Sort(v)
	middle := (v[(len(v)-1)/2] + v[len(v)/2]) / 2
	return spread{v[0], middle, v[len(v)-1]}
}

func (b *benchRow) wall() spread   { return b.of(func(r benchRun) float64 { return r.Wall }) }
func (b *benchRow) cpu() spread    { return b.of(func(r benchRun) float64 { return r.CPU }) }
func (b *benchRow) memory() spread { return b.of(func(r benchRun) float64 { return float64(r.Peak) }) }

// done are the rows that were timed.
func (r *benchResults) done() []*benchRow {
	return slices.DeleteFunc(slices.Clone(r.Rows), func(b *benchRow) bool { return b.Error != "" || len(b.Runs) == 0 })
}

// markdown is the table, and below it what it says in words.
func (r *benchResults) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "## evq bench %s: %s\n\n", r.Kind, r.Input)
	events := ""
	if r.Events >= 0 {
		events = counted(r.Events, "event") + ", "
	}
	fmt.Fprintf(&b, "%s%s; %s in turn, each in a process of its own; compared with %s.\n", events, counted(r.Windows, "window"),
		counted(int64(r.Repeats), "run"), r.Reference)
	fmt.Fprintf(&b, "%s; evq %s; %s.\n\n", r.Machine, r.Version, r.When.Format("2006-01-02 15:04"))
	b.WriteString("| program | windows | min s | median s | max s | CPU s | peak MiB | output |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n")
	for _, row := range r.Rows {
		name := row.Name + ": " + row.Title
		if row.Error != "" {
			fmt.Fprintf(&b, "| %s | - | - | - | - | - | - | FAILED: %s |\n", name, strings.NewReplacer("|", "/", "\n", " ").Replace(row.Error))
			continue
		}
		w := row.wall()
		fmt.Fprintf(&b, "| %s | %s | %.2f | %.2f | %.2f | %.2f | %s | %s |\n", name, grouped(row.Windows), w.min, w.median, w.max,
			row.cpu().median, strings.TrimSuffix(mebibytes(int64(row.memory().max)), " MiB"), row.Check)
	}
	times := "Times are of the work without start-up"
	if r.Kind == "dataset" {
		times = "Times are of whole processes"
	}
	b.WriteString("\n" + times + "; CPU is the median, memory the largest peak.\n")
	if words := r.words(); len(words) > 0 {
		b.WriteString("\n* " + strings.Join(words, "\n* ") + "\n")
	}
	return b.String()
}

// words compare the first program of evq's with every other that did the same work.
func (r *benchResults) words() []string {
	var out []string
	bases := map[int64]*benchRow{}
	for _, row := range r.done() {
		if row.Own && bases[row.Windows] == nil {
			bases[row.Windows] = row
		}
	}
	for _, row := range r.done() {
		base := bases[row.Windows]
		if base == nil || base == row {
			continue
		}
		x, y := base.wall().median, row.wall().median
		text := fmt.Sprintf("%s is %s than %s (%.2f s and %.2f s, medians)", base.Name, ratio(x, y, "faster", "slower"), row.Name, x, y)
		if p, q := base.memory().max, row.memory().max; p > 0 && q > 0 {
			text += fmt.Sprintf(", with %s memory (%s and %s)", ratio(p, q, "less", "more"), mebibytes(int64(p)), mebibytes(int64(q)))
		}
		out = append(out, text)
	}
	return out
}

// ratio says how many times mine is below theirs, or above.
func ratio(mine, theirs float64, below, above string) string {
	switch {
	case mine <= 0 || theirs <= 0:
		return "beyond measure " + below
	case mine <= theirs:
		return fmt.Sprintf("%.2fx %s", theirs/mine, below)
	}
	return fmt.Sprintf("%.2fx %s", mine/theirs, above)
}

// mebibytes prints a peak of memory.
func mebibytes(n int64) string {
	if n <= 0 {
		return "-"
	}
	return grouped((n+1<<19)>>20) + " MiB"
}
