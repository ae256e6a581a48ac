package rvt

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/evq-project/evq/io/atomicfile"
	"github.com/evq-project/evq/io/event"
)

// ErrDiffers reports a sequence that was made from other inputs or with other options.
var ErrDiffers = errors.New("made otherwise before; --force makes it anew, another folder keeps both")

// ErrUnknownFiles reports files under the names of a sequence that no manifest knows.
var ErrUnknownFiles = errors.New("there already, and no manifest says that it is whole; --force overwrites it")

// ErrDamaged reports files that are not as they were written.
var ErrDamaged = errors.New("not as it was written; --force makes it anew")

// manifestFormat is the version of the manifest's own format.
const manifestFormat = 1

// A Manifest says what a sequence's folder holds. A set of frames is complete only if the manifest has it and
// its files are as the manifest says.
type Manifest struct {
	Format  int                `json:"format"`
	Outputs map[string]*Output `json:"outputs"` // by the file of the frames, relative to the sequence's folder
}

// An Output is one set of frames, how it was made, and all files that belong to it.
type Output struct {
	Version   string            `json:"evq"`
	Recording Input             `json:"recording"`
	Grid      *Input            `json:"grid,omitempty"` // the labels or the list of ends
	Options   map[string]string `json:"options"`        // all that decide about an element
	Ends      string            `json:"window_ends"`    // how many, and their sum
	Shape     []int             `json:"shape"`          // of all frames
	DType     string            `json:"dtype"`
	Empty     int64             `json:"empty_windows"`
	OffSensor int64             `json:"events_off_sensor"` // left out of frames, once for each window
	Report    *event.Report     `json:"report,omitempty"`  // what reading met
	Labels    *Tally            `json:"labels,omitempty"`
	Moments   int               `json:"label_times,omitempty"`
	Warnings  []string          `json:"warnings,omitempty"`
	Frames    File              `json:"frames"`
	Files     []File            `json:"files"`  // the others
	CRC32C    []uint32          `json:"crc32c"` // of each frame's elements
}

// An Input is a file as it was read. Two are the same where size and sample are: recordings are too large to be
// summed, and times change with every copy.
type Input struct {
	Path     string    `json:"path"`
	Size     int64     `json:"size"`
	Modified time.Time `json:"modified"`
	Sample   string    `json:"sha256_ends"` // of the first and last 64 KiB, of labels and grids 64 MiB
}

// A File is a file of the tree; the frames have checksums of their own.
type File struct {
	Path   string `json:"path"` // relative to the sequence's folder
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256,omitempty"`
}

// How much of each end of an input is summed: labels and grids are small.
const (
	recordingSample = 64 << 10
	gridSample      = 64 << 20
)

// readInput describes a file by up to most bytes from each end. Of a folder only the path is known.
func readInput(path string, most int64) (Input, error) {
	st, err := os.Stat(path)
	if err != nil {
		return Input{}, err
	}
	in := Input{Path: path, Modified: st.ModTime().UTC()}
	if st.IsDir() {
		return in, nil
	}
	in.Size = st.Size()
	f, err := os.Open(path)
	if err != nil {
		return Input{}, err
	}
	defer func() { _ = f.Close() }()
	h := sha256.New()
	tail := max(in.Size-most, most)
	for _, part := range []*io.SectionReader{io.NewSectionReader(f, 0, most), io.NewSectionReader(f, tail, most)} {
		if _, err := io.Copy(h, part); err != nil {
			return Input{}, err
		}
	}
	in.Sample = hex.EncodeToString(h.Sum(nil))
	return in, nil
}

func (a Input) same(b Input) bool { return a.Size == b.Size && a.Sample == b.Sample }

// differs names the first thing in which two outputs were made differently, with both values; "" where they
// were made alike.
func (e *Output) differs(before *Output) string {
	if !e.Recording.same(before.Recording) {
		return fmt.Sprintf("from the recording %s (%d bytes), now %s (%d bytes)",
			before.Recording.Path, before.Recording.Size, e.Recording.Path, e.Recording.Size)
	}
	keys := slices.Collect(maps.Keys(e.Options))
	for k := range before.Options {
		if _, ok := e.Options[k]; !ok {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	for _, k := range keys {
		if was, is := before.Options[k], e.Options[k]; was != is {
			return fmt.Sprintf("with %s=%s, now %s", k, shown(was, is), shown(is, was))
		}
	}
	if e.Grid != nil && before.Grid != nil && !e.Grid.same(*before.Grid) {
		return fmt.Sprintf("with other contents of %s", before.Grid.Path)
	}
	if e.Ends != before.Ends {
		return fmt.Sprintf("with other ends of windows (%s, now %s)", before.Ends, e.Ends)
	}
	return ""
}

// shown is the value of an option beside another one. Settings leave out what is off.
func shown(value, beside string) string {
	switch {
	case value != "":
		return value
	case beside == "true":
		return "false"
	}
	return "none"
}

// settings are the options that decide about an element, by name.
func (o Options) settings() map[string]string {
	m := map[string]string{
		"dataset": o.Dataset.String(), "representation": o.Representation.String(), "compression": o.Compression,
		"on_unsorted": string(o.Decode.OnUnsorted), "on_offsensor": string(o.Decode.OnOffSensor),
		"on_unknown": string(o.Decode.OnUnknown), "polarity": o.Decode.Polarity, "format": o.Format,
		"size": o.Size.String(), "strict": strconv.FormatBool(o.Decode.Strict),
		"swap_xy": strconv.FormatBool(o.Decode.SwapXY), "zero": strconv.FormatBool(o.Decode.Zero),
		"window": o.Span.String(),
	}
	if o.Count > 0 {
		m["window"] = fmt.Sprintf("%d events", o.Count)
	}
	if o.Every > 0 {
		m["every"] = o.Every.String()
	}
	if o.Labels != "" {
		m["split"], m["grid"], m["step"], m["align"] = o.Split.String(), o.Grid.String(), o.Step.String(), o.Align.String()
		m["psee_filter"], m["faulty_filter"] = strconv.FormatBool(*o.Psee), strconv.FormatBool(*o.Faulty)
	}
	maps.DeleteFunc(m, func(_, v string) bool { return v == "" || v == "false" })
	return m
}

// ReadManifest reads the manifest of a sequence's folder. Where there is none it has no outputs.
func ReadManifest(out string) (*Manifest, error) {
	m := &Manifest{Format: manifestFormat, Outputs: map[string]*Output{}}
	path := tree{out: out}.path(manifestFile)
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return m, nil
	}
	if err != nil {
		return nil, fmt.Errorf("rvt: %w", err)
	}
	if err := json.Unmarshal(b, m); err != nil {
		return nil, fmt.Errorf("rvt: %s: %w: %w", path, ErrDamaged, err)
	}
	if m.Format != manifestFormat {
		return nil, fmt.Errorf("rvt: %s: its format is %d and this evq knows %d; --force makes it anew", path, m.Format, manifestFormat)
	}
	maps.DeleteFunc(m.Outputs, func(_ string, o *Output) bool { return o == nil })
	return m, nil
}

// write gives the manifest its name at once, or removes it where it has no outputs.
func (m *Manifest) write(out string) error {
	path := tree{out: out}.path(manifestFile)
	if len(m.Outputs) == 0 {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("rvt: %w", err)
		}
		return nil
	}
	b, err := json.MarshalIndent(m, "", " ")
	if err != nil {
		return fmt.Errorf("rvt: manifest: %w", err)
	}
	f, err := atomicfile.Create(path, true)
	if err != nil {
		return fmt.Errorf("rvt: manifest: %w", err)
	}
	if _, err := f.Write(append(b, '\n')); err != nil {
		return errors.Join(fmt.Errorf("rvt: manifest: %w", err), f.Abort())
	}
	return f.Commit()
}

// holders are the outputs that a file belongs to.
func (m *Manifest) holders(file string) []string {
	var out []string
	for name, o := range m.Outputs {
		if name == file || slices.ContainsFunc(o.Files, func(f File) bool { return f.Path == file }) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// whole reports what is missing or changed of an output's files. The frames' elements are Verify's to compare.
func (e *Output) whole(out string) error {
	at := tree{out: out}
	for _, f := range append([]File{e.Frames}, e.Files...) {
		st, err := os.Stat(at.path(f.Path))
		if err != nil {
			return fmt.Errorf("rvt: %w: %w", ErrDamaged, err)
		}
		if st.Size() != f.Size {
			return fmt.Errorf("rvt: %s: %w: it has %d bytes instead of %d", at.path(f.Path), ErrDamaged, st.Size(), f.Size)
		}
		if f.SHA256 == "" {
			continue
		}
		now, err := readFile(at.path(f.Path), f.Path)
		if err != nil {
			return err
		}
		if now.SHA256 != f.SHA256 {
			return fmt.Errorf("rvt: %s: %w", at.path(f.Path), ErrDamaged)
		}
	}
	return nil
}

// readFile describes a small file of the tree.
func readFile(path, relative string) (File, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return File{}, fmt.Errorf("rvt: %w", err)
	}
	sum := sha256.Sum256(b)
	return File{relative, int64(len(b)), hex.EncodeToString(sum[:])}, nil
}
