package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/evq-project/evq/engine/rvt"
)

// A sequenceReport is what became of one sequence. The names of its JSON keys are stable.
type sequenceReport struct {
	Name       string       `json:"name,omitempty"`
	Recording  string       `json:"recording"`
	Output     string       `json:"output"`
	Status     rvt.Status   `json:"status"`
	Planned    bool         `json:"dry_run,omitempty"`
	Reason     string       `json:"reason,omitempty"` // why it was skipped or failed
	Frames     string       `json:"frames,omitempty"` // the file of the frames
	Shape      []int        `json:"shape,omitempty"`  // of all of them
	Windows    int64        `json:"windows"`          // -1 where only reading the recording tells
	Empty      int64        `json:"empty_windows"`
	Events     int64        `json:"events"`
	OffSensor  int64        `json:"events_off_sensor"`
	Labels     *tallyReport `json:"labels,omitempty"`
	LabelTimes int          `json:"label_times,omitempty"` // that have a frame
	Warnings   []string     `json:"warnings,omitempty"`
	Losses     []string     `json:"losses,omitempty"`
	Seconds    float64      `json:"seconds,omitempty"`
}

// A tallyReport counts labels by the rule that dropped them.
type tallyReport struct {
	Read       int `json:"read"`
	OtherClass int `json:"dropped_other_class"`
	OffSensor  int `json:"dropped_off_sensor"`
	TooSmall   int `json:"dropped_too_small"`
	TooWide    int `json:"dropped_too_wide"`
	Kept       int `json:"kept"`
}

func tallied(t *rvt.Tally) *tallyReport {
	if t == nil {
		return nil
	}
	return &tallyReport{t.Read, t.Class, t.Empty, t.Size, t.Wide, t.Kept}
}

// newSequenceReport names a sequence of a data set after its split.
func newSequenceReport(o rvt.Outcome, dryRun, keep bool) sequenceReport {
	s := sequenceReport{Name: o.Name, Recording: o.Recording, Output: o.Out, Status: o.Status, Planned: dryRun}
	if o.Split != nil {
		s.Name = o.Split.String() + "/" + o.Name
	}
	s.take(o.Result, o.Err, keep)
	return s
}

// take fills in what a run gave. Events off the sensor that were kept, as RVT keeps them, are no loss.
func (s *sequenceReport) take(r rvt.Result, err error, keep bool) {
	s.Frames, s.Shape, s.Windows, s.Empty, s.Events, s.OffSensor = r.Frames, r.Shape, r.Windows, r.Empty, r.Events, r.OffSensor
	s.Labels, s.LabelTimes, s.Warnings, s.Reason = tallied(r.Labels), r.Moments, r.Warnings, r.Skipped
	if err != nil {
		s.Reason = err.Error()
	}
	if r.Report != nil {
		s.Losses = r.Report.Losses()
	}
	switch {
	case r.OffSensor == 0:
	case keep:
		s.Warnings = append(slices.Clone(s.Warnings),
			fmt.Sprintf("%s lay off the sensor, counted for each window; they were kept for the windows' times, and have no pixel", counted(r.OffSensor, "event")))
	default:
		s.Losses = append(s.Losses, fmt.Sprintf("%d off the sensor when counting", r.OffSensor))
	}
}

// line sums a sequence up.
func (s *sequenceReport) line() string {
	who := s.Output
	if s.Name != "" {
		who = s.Name
	}
	switch {
	case s.Status == rvt.Failed, s.Status == rvt.Skipped:
		return fmt.Sprintf("%s: %s: %s", who, s.Status, strings.TrimPrefix(s.Reason, "rvt: "))
	case s.Status == rvt.NotRun:
		return who + ": not run"
	case s.Planned && s.Status == rvt.Made:
		n := "windows to the end of the recording"
		if s.Windows >= 0 {
			n = counted(s.Windows, "window")
		}
		return fmt.Sprintf("%s: would make %s, %s%s", who, s.Frames, n, s.labelText())
	}
	text := fmt.Sprintf("%s: %s of %v, %s empty, %s read%s", who, counted(s.Windows, "window"), s.blockShape(),
		grouped(s.Empty), counted(s.Events, "event"), s.labelText())
	if s.Status == rvt.Existing {
		return text + ", whole already"
	}
	if s.Seconds > 0 {
		text += ", " + secondsText(time.Duration(s.Seconds*float64(time.Second)))
	}
	return text
}

func (s *sequenceReport) labelText() string {
	if s.Labels == nil {
		return ""
	}
	return fmt.Sprintf(", %s (%d of %d labels kept)", counted(int64(s.LabelTimes), "frame"), s.Labels.Kept, s.Labels.Read)
}

func (s *sequenceReport) blockShape() string {
	var parts []string
	for _, n := range s.Shape[min(1, len(s.Shape)):] {
		parts = append(parts, fmt.Sprint(n))
	}
	return strings.Join(parts, "x")
}

// attrs are the same for logs.
func (s *sequenceReport) attrs() []any {
	return []any{"output", s.Output, "status", string(s.Status), "frames", s.Frames, "windows", s.Windows, "empty", s.Empty,
		"events", s.Events, "offsensor", s.OffSensor, "seconds", s.Seconds}
}

// A datasetReport is what became of a data set.
type datasetReport struct {
	Sequences []sequenceReport   `json:"sequences"`
	Count     map[rvt.Status]int `json:"count"`
	Labels    *tallyReport       `json:"labels,omitempty"`
	Windows   int64              `json:"windows"`
	Empty     int64              `json:"empty_windows"`
	Events    int64              `json:"events"`
	OffSensor int64              `json:"events_off_sensor"`
	Seconds   float64            `json:"seconds"`
	tally     rvt.Tally
	dryRun    bool
}

func newDatasetReport(s rvt.Summary, dryRun, keep bool, elapsed time.Duration) datasetReport {
	d := datasetReport{Count: s.Count, Windows: s.Windows, Empty: s.Empty, Events: s.Events, OffSensor: s.OffSensor,
		Seconds: elapsed.Seconds(), tally: s.Labels, dryRun: dryRun}
	if s.Labels.Read > 0 {
		d.Labels = tallied(&s.Labels)
	}
	for _, o := range s.Sequences {
		d.Sequences = append(d.Sequences, newSequenceReport(o, dryRun, keep))
	}
	return d
}

// line sums the data set up.
func (d *datasetReport) line() string {
	var parts []string
	for _, s := range []rvt.Status{rvt.Made, rvt.Existing, rvt.Skipped, rvt.Failed, rvt.NotRun} {
		if n := d.Count[s]; n > 0 {
			word := string(s)
			if s == rvt.Existing {
				word = "whole already"
			} else if s == rvt.Made && d.dryRun {
				word = "to be made"
			}
			parts = append(parts, fmt.Sprintf("%d %s", n, word))
		}
	}
	text := fmt.Sprintf("%s: %s; %s", counted(int64(len(d.Sequences)), "sequence"), strings.Join(parts, ", "), counted(d.Windows, "window"))
	if !d.dryRun {
		text += fmt.Sprintf(", %s empty, %s", grouped(d.Empty), counted(d.Events, "event"))
	}
	if d.tally.Read > 0 {
		text += "; " + d.tally.String()
	}
	return text + "; " + secondsText(time.Duration(d.Seconds*float64(time.Second)))
}

// failed lists what failed and why, one a line.
func (d *datasetReport) failed() string {
	width, rows := 0, []sequenceReport{}
	for _, s := range d.Sequences {
		if s.Status == rvt.Failed {
			width, rows = max(width, len(s.Name)), append(rows, s)
		}
	}
	if len(rows) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "failed: %s", counted(int64(len(rows)), "sequence"))
	for _, s := range rows {
		fmt.Fprintf(&b, "\n  %-*s  %s", width, s.Name, strings.ReplaceAll(strings.TrimPrefix(s.Reason, "rvt: "), "\n", "; "))
	}
	return b.String()
}

var errAllFailed = errors.New("no sequence could be made")

// end is how the run ends.
func (d *datasetReport) end() error {
	lost := d.Count[rvt.Failed] > 0
	if lost && d.Count[rvt.Made]+d.Count[rvt.Existing] == 0 {
		return errAllFailed
	}
	for _, s := range d.Sequences {
		lost = lost || len(s.Losses) > 0
	}
	if lost {
		return errLosses
	}
	return nil
}
