package main

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"time"

	"github.com/evq-project/evq/accel"
	"github.com/evq-project/evq/accel/check"
)

// An accelReport is what accel check prints as JSON. The names of its keys are stable.
type accelReport struct {
	Device     string      `json:"device"`
	Skipped    string      `json:"skipped,omitempty"`
	Hardware   string      `json:"hardware,omitempty"`
	Capability string      `json:"capability,omitempty"`
	Memory     int64       `json:"memory_bytes,omitempty"`
	Bandwidth  float64     `json:"bytes_per_s,omitempty"`
	Equal      bool        `json:"equal"`
	Cases      []accelCase `json:"cases,omitempty"`
	Peers      []accelPeer `json:"peers,omitempty"`
}

type accelCase struct {
	Data       string             `json:"data"`
	Counts     string             `json:"counts"`
	Downsample int                `json:"downsample"`
	Events     int                `json:"events"`
	Windows    int                `json:"windows"`
	SHA256     string             `json:"sha256"`
	Equal      bool               `json:"equal"`
	Stages     map[string]float64 `json:"stages_ms"`
	Kernel     float64            `json:"kernel_ms"`
	Bytes      int64              `json:"least_bytes"`
	Floor      float64            `json:"floor_ms,omitempty"`
	EndToEnd   float64            `json:"end_to_end_ms"`
	Resident   float64            `json:"resident_ms,omitempty"`
	CPU        float64            `json:"cpu_ms"`
}

type accelPeer struct {
	Name    string  `json:"name"`
	Data    string  `json:"data"`
	Millis  float64 `json:"ms,omitempty"`
	SHA256  string  `json:"sha256,omitempty"`
	Equal   bool    `json:"equal"`
	Failure string  `json:"failure,omitempty"`
}

func newAccelReport(r check.Report) accelReport {
	h := r.Hardware
	out := accelReport{Device: r.Device, Hardware: h.Name, Capability: h.Capability, Memory: h.Memory, Bandwidth: h.Bandwidth, Equal: r.Equal()}
	for _, c := range r.Cases {
		stages := map[string]float64{}
		for _, s := range c.Stages {
			stages[s.Name] = millis(s.Took)
		}
		out.Cases = append(out.Cases, accelCase{c.Data, c.Kind, c.Downsample, c.Events, c.Windows, c.SHA256, c.Equal, stages,
			millis(c.Kernel), c.Bytes, millis(c.Floor), millis(c.EndToEnd), millis(c.Resident), millis(c.CPU)})
	}
	for _, p := range r.Peers {
		out.Peers = append(out.Peers, accelPeer(p))
	}
	return out
}

func millis(d time.Duration) float64 { return d.Seconds() * 1e3 }

// accelStages are the columns of the table, in the order of the work.
var accelStages = []string{"pack", "upload", "clear", "count", "clip", "download"}

// printAccelReport prints a table in Markdown, as docs/benchmarks.md has them.
func printAccelReport(w io.Writer, r check.Report) error {
	var b strings.Builder
	h := r.Hardware
	fmt.Fprintf(&b, "%s: %s, compute capability %s, %.0f GiB of memory that moves %.0f GB/s; evq %s, %s, %d processors\n\n",
		r.Device, orUnknown(h.Name), orUnknown(h.Capability), float64(h.Memory)/(1<<30), h.Bandwidth/1e9, readVersion().Version, runtime.GOARCH, runtime.NumCPU())
	b.WriteString("| events | counts | size | equal | pack | upload | clear | count | clip | download | kernel | floor | times | end to end | stays there | processor |\n")
	b.WriteString("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n")
	for _, c := range r.Cases {
		cells := []string{fmt.Sprintf("%s, %d in %d windows", c.Data, c.Events, c.Windows), c.Kind, fmt.Sprintf("1/%d", c.Downsample), yes(c.Equal)}
		for _, s := range accelStages {
			cells = append(cells, stageText(c.Stages, s))
		}
		times := "-"
		if c.Floor > 0 {
			times = fmt.Sprintf("%.1f", c.Kernel.Seconds()/c.Floor.Seconds())
		}
		cells = append(cells, millisText(c.Kernel), millisText(c.Floor), times, millisText(c.EndToEnd), millisText(c.Resident), millisText(c.CPU))
		b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
	}
	b.WriteString("\nMilliseconds. Kernel is clear, count and clip; floor is what the memory needs for the bytes that must move at least.\n")
	for _, p := range r.Peers {
		if p.Failure != "" {
			fmt.Fprintf(&b, "%s, %s: %s\n", p.Name, p.Data, p.Failure)
			continue
		}
		fmt.Fprintf(&b, "%s, %s, wrap, 1/2: %.1f ms, equal: %s\n", p.Name, p.Data, p.Millis, yes(p.Equal))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func stageText(stages []accel.Stage, name string) string {
	for _, s := range stages {
		if s.Name == name {
			return millisText(s.Took)
		}
	}
	return "-"
}

func millisText(d time.Duration) string {
	switch ms := millis(d); {
	case d == 0:
		return "-"
	case ms < 10:
		return fmt.Sprintf("%.2f", ms)
	default:
		return fmt.Sprintf("%.1f", ms)
	}
}

func orUnknown(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "NO"
}
